"""Recent releases as curves: what the small charts are drawn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Domain, Release
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


def of_keys(releases: Sequence[Release], keys: Domain, positions: Sequence[int]) -> list[Curve]:
    """One curve for each of these keys of `keys`. It has no points where a release counted by others."""
    at = np.array(positions, dtype=np.intp)
    columns = [np.full((len(releases), len(at)), np.nan) for _ in range(4)]
    before: Domain | None = None
    for row, release in enumerate(releases):
        if release.keys is not before:
            before = release.keys
            there, where = np.arange(len(at)), at
            if before is not keys and before != keys:
                there, where = _by_name(keys, at, before)
        for column, field in zip(columns, ("values", "lower", "upper", "standard_errors"), strict=True):
            column[row, there] = getattr(release, field)[where]
    return _curves(releases, *columns)


def _by_name(keys: Domain, at: NDArray[np.intp], other: Domain) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of these keys the other domain has, and where."""
    found = [(i, other.position(name)) for i, name in enumerate(keys.names[place] for place in at) if name in other]
    return (np.array([i for i, _ in found], np.intp), np.array([place for _, place in found], np.intp))


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
