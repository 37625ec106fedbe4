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

from hubbub.lab.experiment_result import Table

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


TABLE_63: dict[str, dict[str, dict[int, int]]] = {
    "A": {
        "keywords": {1: 6667, 4: 6043, 8: 5372, 20: 4062, 40: 2964},
        "queries": {1: 3334, 4: 2087, 8: 1440, 20: 751, 40: 408},
        "clicks": {1: 2813, 4: 1576, 8: 1001, 20: 486, 40: 246},
        "query pairs": {1: 331, 4: 169, 8: 100, 20: 40, 40: 13},
    },
    "B": {
        "keywords": {1: 329, 4: 1157, 8: 1894, 20: 3106, 40: 3871},
        "queries": {1: 147, 4: 314, 8: 402, 20: 464, 40: 439},
        "clicks": {1: 118, 4: 234, 8: 286, 20: 317, 40: 290},
        "query pairs": {1: 8, 4: 14, 8: 15, 20: 12, 40: 7},
    },
}
"""Items (A) and thousands of counts (B) that ZEALOUS published from the paper's log, by m."""

TABLE_64 = {"keywords": 56, "queries": 20, "clicks": 14, "query pairs": 7}
"""Items of a user on average in the paper's log."""


def table_61() -> Table:
    """As printed, and by the formulas that it was printed by."""
    cells = [
        [f"lambda {scale:g}, tau' {publish}", f"{delta_probabilistic(500_000, 5, 1, publish, scale):.2e} [{first}]",
         f"{delta_indistinguishable(5, publish, scale):.2e} [{second}]"]
        for scale, publish, first, second in TABLE_61
    ]  # fmt: skip
    return Table("Table 6.1: U = 500,000, m = 5", ["noise and threshold", "delta", "delta'"], cells)


def table_62() -> Table:
    """For delta = 0.001: the caption's 0.01 gives other numbers."""
    cells = [[str(keep), f"{publish_above(500_000, 2, keep, 0.001, 4):.1f} [{printed}]"] for keep, printed in TABLE_62]
    return Table("Table 6.2: tau' by tau, m = 2, epsilon 1, delta 0.001", ["tau", "tau'"], cells)
