"""Recent releases as curves: what the small charts are drawn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Release
from hubbub.server.sums import total_of

Point: TypeAlias = tuple[int, float | None, float | None, float | None, int]
"""`(tick, value, lower, upper, predicted)`; None where unknown, 1 where the tick was only predicted."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of one curve with its band, and the largest number that must fit into a drawing of it."""

    points: list[Point]
    top: float

    @classmethod
    def of(cls, points: list[Point]) -> Curve:
        return cls(points, max((n for p in points for n in (p[1], p[3]) if n is not None), default=0.0))


def thin(releases: Sequence[Release], most: int) -> tuple[list[Release], int]:
    """Every n-th release, the newest always among them, and n. Each point stays a real release."""
    step = max(1, math.ceil(len(releases) / most))
    return list(releases[::-1][::step][::-1]), step


def of_keys(releases: Sequence[Release], positions: Sequence[int]) -> list[Curve]:
    """One curve for each of these keys."""
    at = list(positions)
    values, lower, upper, errors = (
        np.array([getattr(release, field)[at] for release in releases])
        for field in ("values", "lower", "upper", "standard_errors")
    )
    return _curves(releases, values, lower, upper, errors)


def of_total(releases: Sequence[Release]) -> Curve:
    """The curve of the sum over all keys."""
    totals = [total_of(release) for release in releases]
    columns = (
        np.array([[getattr(q, field)] for q in totals]) for field in ("value", "lower", "upper", "standard_error")
    )
    return _curves(releases, *columns)[0]


def _curves(
    releases: Sequence[Release],
    values: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> list[Curve]:
    """Without an error there is no number to draw: a curve has no points without a band."""
    known = np.isfinite(values) & np.isfinite(errors)
    rounded = []
    for numbers in (values, lower, upper):
        shown = np.round(numbers, 1).astype(object)
        shown[~(known & np.isfinite(numbers))] = None
        rounded.append(shown.T.tolist())
    ticks = [(release.tick.index, int(release.is_predicted)) for release in releases]
    return [
        Curve.of([(tick, v, low, up, p) for (tick, p), v, low, up in zip(ticks, *columns, strict=True)])
        for columns in zip(*rounded, strict=True)
    ]
