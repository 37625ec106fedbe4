"""When a release says almost nothing, and what would help: decided from the promise and from released values alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub.privacy import Unit
from hubbub.released import Release

FEWEST = 100
"""With less than one measured tick in so many (or two at most, of twenty and more) a series is a level, not a curve."""
_SHORT = 20
SMALL = 5.0
"""Who knows a count within so many knows something, even of a count of nothing."""


def is_sparse(measured: float, ticks: int) -> bool:
    """Whether hardly any of the ticks were measured.

    >>> is_sparse(2, 2_000), is_sparse(40, 2_000), is_sparse(2, 10)
    (True, False, False)
    """
    return ticks >= _SHORT and measured <= max(2, ticks / FEWEST)


def remedy(unit: Unit) -> str:
    """What whoever publishes can do about it, beginning with what costs nobody any privacy."""
    ways = ["coarser ticks (more are counted in each)"]
    if unit.max_ticks > 1:
        ways = ["coarser ticks (more are counted in each, and fewer to pay for)"]
        ways.append("a bound on the ticks in which one may count (max_ticks)")
    if unit.horizon is not None:
        ways.append("a smaller unit (a session or an event in place of a person)")
    return f"What helps: {', '.join(ways)}, or a larger budget."


def warning(releases: Sequence[Release], unit: Unit) -> str:
    """What to know before reading on, with the remedy; empty where a release says what it seems to say."""
    measured, found = sum(not release.is_predicted for release in releases), []
    if is_sparse(measured, len(releases)):
        found.append(f"only {measured:,} of {len(releases):,} ticks were measured, and what lies between is a guess")
    values = np.array([release.values for release in releases])
    largest = int(values.mean(axis=0).argmax())
    errors = np.array([release.standard_errors[largest] for release in releases])
    vague = int((~(errors <= np.maximum(values[:, largest], SMALL))).sum())
    if 2 * vague > len(releases):
        whose = "" if values.shape[1] == 1 else " even of the largest key"
        found.append(f"in {vague:,} of {len(releases):,} ticks the expected error{whose} is larger than the number")
    return f"This release says almost nothing: {'; '.join(found)}. {remedy(unit)}" if found else ""
