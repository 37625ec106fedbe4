"""Recent releases as curves: what the small charts are drawn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hubbub.released import Release
from hubbub.server.quantity import Quantity, finite
from hubbub.server.sums import total_of


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one curve with its band. A point is `(tick, value, lower, upper, predicted)`; None where unknown."""

    points: tuple[tuple[int, float | None, float | None, float | None, bool], ...]

    @property
    def top(self) -> float:
        """The largest number that must fit into the drawing."""
        return max((n for p in self.points for n in (p[1], p[3]) if n is not None), default=0.0)

    def to_list(self) -> list[list[Any]]:
        return [[*point[:4], int(point[4])] for point in self.points]


def thin(releases: Sequence[Release], most: int) -> tuple[list[Release], int]:
    """Every so-manieth release, the newest always among them, and that step. Each point stays a real release."""
    step = max(1, math.ceil(len(releases) / most))
    return list(releases[::-1][::step][::-1]), step


def of_keys(releases: Sequence[Release], positions: Sequence[int]) -> list[Series]:
    """One series for each of these keys."""
    at = list(positions)
    columns = [
        (r.tick.index, r.values[at], r.lower[at], r.upper[at], r.standard_errors[at], r.is_predicted) for r in releases
    ]
    return [
        Series(tuple(_point(t, v[k], low[k], up[k], e[k], p) for t, v, low, up, e, p in columns))
        for k in range(len(at))
    ]


def of_total(releases: Sequence[Release]) -> Series:
    found = []
    for release in releases:
        q: Quantity = total_of(release)
        found.append(_point(release.tick.index, q.value, q.lower, q.upper, q.error, release.is_predicted))
    return Series(tuple(found))


def _point(
    tick: int, value: float, lower: float, upper: float, error: float, predicted: bool
) -> tuple[int, float | None, float | None, float | None, bool]:
    """Without an error there is no number to draw: a curve has no points without a band."""
    if not math.isfinite(error) or not math.isfinite(value):
        return (tick, None, None, None, predicted)
    return (tick, _short(value), _short(lower), _short(upper), predicted)


def _short(number: float) -> float | None:
    shown = finite(number)
    return None if shown is None else round(shown, 1)
