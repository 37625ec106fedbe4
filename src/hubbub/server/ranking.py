"""A ranking that does not claim more than the noise allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Release

MOST_NAMED = 20_000
"""Names that are made to put keys of one place in order; a grid would have to make a million."""


@dataclass(frozen=True, slots=True)
class Rank:
    """The places that a key may have: all from `highest` to `lowest`. A key that differs from all others has just one.

    `group` numbers the groups of keys that are tied with each other, directly or through others: keys of different
    groups can always be told apart.

    >>> str(Rank(2, 4, 1)), str(Rank(1, 1, 0))
    ('2-4', '1')
    """

    highest: int
    lowest: int
    group: int

    @property
    def is_tied(self) -> bool:
        return self.highest != self.lowest

    def __str__(self) -> str:
        return f"{self.highest}-{self.lowest}" if self.is_tied else str(self.highest)


class Ranking:
    """The places of all keys of a release.

    Two keys can be told apart where their 95 % intervals do not overlap. A key's places begin after all keys that are
    surely larger and end before all that are surely smaller. So keys that cannot be told apart from each other share
    their bracket, and any two that overlap have a place in common. Keys without a number have no place.

    >>> ranking = Ranking(np.array([850.0, 460, 480, 500]), np.array([950.0, 500, 520, 540]))
    >>> [str(ranking.of(i)) for i in range(4)]
    ['1', '2-4', '2-4', '2-4']
    """

    def __init__(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        known = np.flatnonzero(np.isfinite(lower) & np.isfinite(upper))
        self._places = np.zeros((3, len(lower)), dtype=np.int64)
        if not len(known):
            return
        low, up = lower[known], upper[known]
        down = np.argsort(-up, kind="stable")
        # Walking down by upper end, a gap opens where everything so far lies above the next upper end.
        gaps = up[down][1:] < np.minimum.accumulate(low[down])[:-1]
        self._places[0, known] = 1 + len(known) - np.searchsorted(np.sort(low), up, side="right")
        self._places[1, known] = len(known) - np.searchsorted(np.sort(up), low, side="left")
        self._places[2, known[down]] = np.concatenate([[0], np.cumsum(gaps)])

    @classmethod
    def of_release(cls, release: Release) -> Ranking:
        known = np.isfinite(release.values) & np.isfinite(release.standard_errors)
        return cls(np.where(known, release.lower, np.nan), np.where(known, release.upper, np.nan))

    def of(self, position: int) -> Rank | None:
        """The place of the key at `position`; None where it has no number."""
        highest, lowest, group = (int(place) for place in self._places[:, position])
        return Rank(highest, lowest, group) if highest else None

    def order(self, names: Sequence[str], most: int) -> list[int]:
        """The positions of the first `most` keys by their middle place; by name where that is the same, since then
        nothing is known of their order."""
        middle = self._places[0] + self._places[1]
        ranked = np.flatnonzero(middle > 0)
        if len(ranked) > most:
            # Everyone who could come before the cut; sorting all names of a large stream would be in vain.
            ranked = ranked[middle[ranked] <= np.partition(middle[ranked], most - 1)[most - 1]]
        if len(ranked) > MOST_NAMED:  # so many share the last place: the first of them will do
            return [int(i) for i in ranked[np.argsort(middle[ranked], kind="stable")][:most]]
        return sorted((int(i) for i in ranked), key=lambda i: (middle[i], names[i]))[:most]
