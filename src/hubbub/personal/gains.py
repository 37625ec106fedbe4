"""The greedy choice, evaluated lazily."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub.personal.screen import ROUNDING, Look, Screen

Floats = NDArray[np.float64]

_ROWS = 64
"""Rows that are reckoned at a time: they stay in the processor's cache."""
_FIRST = 16
"""How many of the most promising rows are looked at first."""
_MANY = 512
"""From here on rows are screened before they are reckoned."""


class Gains:
    """Rows of worths, of which a few are chosen so that the sum over columns of the largest is large.

    What a row would add, given the largest so far, never rises as more rows are chosen, not even by rounding:
    subtracting, cutting at 0 and adding in a fixed order are monotone in floating point too. So an old gain is a bound
    for the new one, and rows whose bound is below the best found are not touched. Where all bounds are old (rows that
    are much alike), a copy in bytes is a sharper bound (`screen.py`).
    """

    def __init__(self, worth: Floats) -> None:
        self.worth = worth
        self._sums = np.add.reduce(worth, axis=1)
        self._tops = worth.max(axis=0)
        self._screen = Screen(worth)

    def everything(self, banned: Sequence[int] = ()) -> float:
        """The value of all rows together, without these."""
        tops = self._tops
        if banned:
            lost = np.flatnonzero((self.worth[list(banned)] == tops).any(axis=0))
            others = np.ones(len(self.worth), dtype=bool)
            others[list(banned)] = False
            tops = tops.copy()
            tops[lost] = self.worth[np.ix_(others, lost)].max(axis=0, initial=0.0)
        return float(np.add.reduce(tops))

    def replace(self, place: int, worth: Floats) -> None:
        """Another row in place of one: the rest is kept."""
        held = self.worth[place] == self._tops
        self.worth[place] = worth
        self._sums[place] = np.add.reduce(worth)
        lost = np.flatnonzero(held & (worth < self._tops))
        self._tops = np.maximum(self._tops, worth)
        if lost.size:
            self._tops[lost] = self.worth[:, lost].max(axis=0)
        if self._screen.fits(worth):
            self._screen.replace(place, worth)
        else:
            self._screen = Screen(self.worth)

    def greedy(self, k: int, cost: float, banned: Sequence[int]) -> tuple[list[int], list[float], float]:
        """At most k rows, what each added when it was chosen, and a bound on any k rows less their cost.

        The bound is of Nemhauser, Wolsey and Fisher 1978: with any set of rows at hand, k more add at most the k
        largest gains together. Old gains bound new ones, so no row is reckoned for it.
        """
        bounds = self._sums.copy()
        bounds[list(banned)] = 0.0
        best = np.zeros(self.worth.shape[1])
        chosen: list[int] = []
        gains: list[float] = []
        bound = float("inf")
        look = self._screen.look()
        while len(chosen) < k:
            place, gain = self._next(bounds, best, look) if chosen else (int(bounds.argmax()), float(bounds.max()))
            bound = min(bound, _most(best, bounds, k, cost))  # here no bound is above the best gain
            if gain <= cost or gain <= 0:
                break
            chosen.append(place)
            gains.append(gain)
            bounds[place] = 0.0
            np.maximum(best, self.worth[place], out=best)
        bound = min(bound, _most(best, bounds, k, cost))
        return chosen, gains, bound

    def _next(self, bounds: Floats, best: Floats, look: Look) -> tuple[int, float]:
        """The first of the rows that add most; `bounds` become sharper on the way."""
        known = np.zeros(len(bounds), dtype=bool)
        top, batch, screened = 0.0, _FIRST, False
        while True:
            # Equal ones too: the first of several that add the same is taken.
            open_ = np.flatnonzero(~known & (bounds >= top) & (bounds > 0))
            if not open_.size:
                break
            if open_.size > _MANY and known.any() and not screened:
                np.minimum(bounds, look.bounds(best), out=bounds)
                screened = True
                continue
            rows = open_
            if open_.size > batch:
                rows = open_[np.argpartition(bounds[open_], open_.size - batch)[-batch:]]
            bounds[rows] = self._exact(rows, best)
            known[rows] = True
            top, batch = float(bounds[known].max()), 2 * batch
        if top <= 0:
            return -1, 0.0
        return int(np.flatnonzero(known & (bounds == top))[0]), top

    def _exact(self, rows: NDArray[np.intp], best: Floats) -> Floats:
        found = np.empty(len(rows))
        for first in range(0, len(rows), _ROWS):
            more = self.worth[rows[first : first + _ROWS]]
            np.subtract(more, best, out=more)
            np.maximum(more, 0.0, out=more)
            np.add.reduce(more, axis=1, out=found[first : first + _ROWS])
        return found


def _most(best: Floats, bounds: Floats, k: int, cost: float) -> float:
    """What k rows could be worth at most, some of them chosen."""
    more = np.partition(bounds, len(bounds) - k)[len(bounds) - k :] if k < len(bounds) else bounds
    return (float(np.add.reduce(best)) + float(np.maximum(more - cost, 0.0).sum())) * (1 + ROUNDING)
