"""A ranking that does not claim more than the noise allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Release


@dataclass(frozen=True, slots=True)
class Rank:
    """The places `first` to `last` that a group of keys shares; a group of one has a place of its own.

    `highest` to `lowest` are the places that this one key may have by its own interval: never more than the bracket.

    >>> str(Rank(2, 4, 2, 3)), str(Rank(1, 1, 1, 1))
    ('2-4', '1')
    """

    first: int
    last: int
    highest: int
    lowest: int

    @property
    def is_tied(self) -> bool:
        return self.first != self.last

    def __str__(self) -> str:
        return f"{self.first}-{self.last}" if self.is_tied else str(self.first)


class Ranking:
    """The places of all keys of a release.

    Two keys can be told apart where their 95 % intervals do not overlap. A bracket is as small as it can be so that
    keys of different brackets can always be told apart. Keys without a number have no place.

    >>> ranking = Ranking(np.array([850.0, 460, 480, 500]), np.array([950.0, 500, 520, 540]))
    >>> [str(ranking.of(i)) for i in range(4)]
    ['1', '2-4', '2-4', '2-4']
    """

    def __init__(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        known = np.flatnonzero(np.isfinite(lower) & np.isfinite(upper))
        self._places = np.zeros((4, len(lower)), dtype=np.int64)
        if not len(known):
            return
        low, up = lower[known], upper[known]
        down = np.argsort(-up, kind="stable")
        # Walking down by upper end, a gap opens where everything so far lies above the next upper end.
        gaps = up[down][1:] < np.minimum.accumulate(low[down])[:-1]
        starts = np.concatenate([[0], np.flatnonzero(gaps) + 1])
        group = np.concatenate([[0], np.cumsum(gaps)])
        ends = np.concatenate([starts[1:], [len(known)]])
        at = known[down]
        self._places[0, at] = starts[group] + 1
        self._places[1, at] = ends[group]
        self._places[2, known] = 1 + len(known) - np.searchsorted(np.sort(low), up, side="right")
        self._places[3, known] = len(known) - np.searchsorted(np.sort(up), low, side="left")

    @classmethod
    def of_release(cls, release: Release) -> Ranking:
        known = np.isfinite(release.values) & np.isfinite(release.standard_errors)
        return cls(np.where(known, release.lower, np.nan), np.where(known, release.upper, np.nan))

    def of(self, position: int) -> Rank | None:
        """The place of the key at `position`; None where it has no number."""
        first, last, highest, lowest = (int(place) for place in self._places[:, position])
        return Rank(first, last, highest, lowest) if first else None

    def order(self, names: Sequence[str], most: int) -> list[int]:
        """The positions of the first `most` keys, bracket after bracket; inside one by name, as no more is known."""
        first = self._places[0]
        ranked = np.flatnonzero(first > 0)
        if len(ranked) > most:
            # Everyone who could come before the cut; sorting all names of a large stream would be in vain.
            ranked = ranked[first[ranked] <= np.partition(first[ranked], most - 1)[most - 1]]
        return sorted((int(i) for i in ranked), key=lambda i: (first[i], names[i]))[:most]
