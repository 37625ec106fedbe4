"""A copy of worths in bytes, rounded upwards: a bound on what rows add, for an eighth of the memory's traffic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVELS = 255
ROUNDING = 2.0**-40
_COLUMNS = 64
"""Columns that are added at a time: their sum fits two bytes, and they the processor's cache."""


class Screen:
    """Bytes lie column by column, since a chosen row raises the largest in some columns only: what changed is read,
    and nothing else."""

    def __init__(self, worth: Floats) -> None:
        self.step = float(worth.max()) / LEVELS
        self.bytes = np.zeros(worth.shape[::-1], dtype=np.uint8)
        for first in range(0, len(worth), _COLUMNS):
            self.bytes[:, first : first + _COLUMNS] = self._rounded(worth[first : first + _COLUMNS]).T
        self.sums = np.zeros(len(worth), dtype=np.int64)
        for first in range(0, len(self.bytes), _COLUMNS):
            self.sums += np.add.reduce(self.bytes[first : first + _COLUMNS], axis=0, dtype=np.uint16)
        # What dividing by the step may have rounded away, in all columns together.
        self.slack = worth.shape[1] * LEVELS * self.step * ROUNDING

    def _rounded(self, worth: Floats) -> Floats:
        return np.minimum(np.ceil(worth / self.step), LEVELS) if self.step > 0 else np.zeros_like(worth)

    def fits(self, worth: Floats) -> bool:
        return float(worth.max()) <= self.step * LEVELS

    def replace(self, place: int, worth: Floats) -> None:
        self.bytes[:, place] = self._rounded(worth)
        self.sums[place] = self.bytes[:, place].sum(dtype=np.int64)

    def look(self) -> Look:
        return Look(self)


class Look:
    """What all rows add at most, as the largest of each column rises."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._totals = screen.sums.copy()
        self._held = np.zeros(len(screen.bytes), dtype=np.uint8)
        self._space, self._limit = (np.empty((_COLUMNS, len(self._totals)), dtype=np.uint8) for _ in range(2))

    def bounds(self, best: Floats) -> Floats:
        screen = self._screen
        if screen.step <= 0:
            return np.zeros(len(self._totals))
        floor = np.floor(best / screen.step * (1 - ROUNDING)).astype(np.uint8)
        changed = np.flatnonzero(floor != self._held)
        # For each row the sum over columns of the larger of its byte and the floor; where the floor rose from one
        # number to another, a byte below it rises to it.
        for first in range(0, len(changed), _COLUMNS):
            some = changed[first : first + _COLUMNS]
            between, limit = self._space[: len(some)], self._limit[: len(some)]
            np.take(screen.bytes, some, axis=0, out=between, mode="clip")
            if self._held.any():
                limit[:] = self._held[some, None]  # written out: NumPy is six times slower where it repeats a number
                np.maximum(between, limit, out=between)
            limit[:] = floor[some, None]
            np.minimum(between, limit, out=between)
            self._totals -= np.add.reduce(between, axis=0, dtype=np.uint16)
            self._totals += int(floor[some].sum(dtype=np.int64))
        self._held = floor
        return np.asarray((self._totals - int(floor.sum(dtype=np.int64))) * screen.step + screen.slack)
