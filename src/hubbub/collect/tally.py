"""Counts of ticks that are not final yet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Sealed


class Tally(Sealed):
    """Adds up cells (`tick * keys + key`) sparsely: memory grows with what was counted, not with ticks times keys.

    >>> tally = Tally(keys=2)
    >>> tally.add(np.array([5, 5, 4]))  # tick 2: key 1 twice, key 0 once
    >>> [column.tolist() for column in tally.take(2)]
    [[0, 1], [1, 2]]
    """

    def __init__(self, keys: int) -> None:
        self._keys = keys
        self._cells = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)

    def add(self, cells: NDArray[np.int64]) -> None:
        if not len(cells):
            return
        new, counts = np.unique(cells, return_counts=True)
        if len(self._cells):
            both = np.concatenate([self._cells, new])
            weights = np.concatenate([self._counts, counts])
            order = np.argsort(both, kind="stable")
            both, weights = both[order], weights[order]
            first = np.flatnonzero(np.append(True, both[1:] != both[:-1]))
            new, counts = both[first], np.add.reduceat(weights, first)
        self._cells, self._counts = new, counts

    def take(self, tick: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The keys that were counted in `tick`, and how often each; it and all before it are forgotten."""
        start, end = np.searchsorted(self._cells, [tick * self._keys, (tick + 1) * self._keys])
        taken = self._cells[start:end] - tick * self._keys, self._counts[start:end]
        self._cells, self._counts = self._cells[end:], self._counts[end:]
        return taken

    @property
    def keys(self) -> NDArray[np.int64]:
        """Those that are still to be taken."""
        return np.unique(self._cells % self._keys)
