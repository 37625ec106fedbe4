"""Goetz 2012, chapter 6, as printed and where needed corrected: real-valued noise, neighbours that replace a user.

| symbol | name here | meaning |
|---|---|---|
| U, m | `users`, `max_items` | users in the log, items of one user |
| lambda | `scale` | of the Laplace noise: 2m/epsilon |
| tau, tau' | `keep`, `publish` | the two thresholds |

For the tables alone: what Hubbub publishes by is in `hubbub.itemlogs.thresholds`.
"""

from __future__ import annotations

import math

TABLE_61 = (
    (1.0, 100, "1.3e-37", "1.4e-41"),
    (1.0, 200, "4.7e-81", "5.2e-85"),
    (5.0, 100, "3.2e-03", "1.4e-08"),
    (5.0, 200, "6.5e-12", "2.9e-17"),
)
"""lambda, tau', delta, delta' for U = 500,000 and m = 5; tau = 1. Printed rounded up, as suits a delta."""

TABLE_62 = ((1, "81.1"), (3, "78.7"), (4, "78.6"), (5, "78.7"), (7, "79.3"), (9, "80.3"))
"""tau and tau' for m = 2, epsilon = 1, U = 500,000, and delta = 0.001 (the caption says 0.01)."""


def delta_probabilistic(users: int, max_items: int, keep: int, publish: float, scale: float) -> float:
    """(6.8): what (6.5) turns around.

    >>> f"{delta_probabilistic(500_000, 5, 1, 100, 1.0):.1e}"
    '1.3e-37'
    """
    return users * max_items / (2 * keep) * math.exp(-(publish - keep) / scale)


def delta_indistinguishable(max_items: int, publish: float, scale: float) -> float:
    """The column delta' of Table 6.1: from tau' = m + lambda ln(m/(2 delta')), not from (6.3) as printed."""
    return max_items / 2 * math.exp(-(publish - max_items) / scale)


def publish_above(users: int, max_items: int, keep: int, delta: float, scale: float) -> float:
    """tau' by (6.5)."""
    absent = -scale * math.log(2 - 2 * math.exp(-1 / scale))
    return keep + max(absent, -scale * math.log(2 * delta * keep / (users * max_items)))
