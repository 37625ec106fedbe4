"""Measures a stream through the Toeplitz matrix R and turns what was measured back into prefixes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub.noise import IntegerNoise
from hubbub.ranges.toeplitz import Toeplitz
from hubbub.ranges.walk import CHUNK, Walk


class ToeplitzFilter(Walk):
    """y = round(R x) + z in whole multiples of 2^-bits, then the prefixes A R^-1 y by post-processing in floats.

    The other way round, S + L z with z drawn on a grid, would not be private: R x lies on no grid, and which values L z
    can take would tell x. So R is applied to the counts, with whole numbers whose rounding is part of the sensitivity.

    Its state holds weighted sums of the segment's counts. They are confidential, live in memory alone and die with
    the segment. Holds two numbers a term: O(log n).
    """

    def __init__(self, strategy: Toeplitz, noises: Sequence[IntegerNoise], keys: int) -> None:
        super().__init__(noises, keys)
        self._unit = 1 << strategy.fraction_bits
        self._amounts = strategy.amounts[:, None]
        self._decays = strategy.decays[:, None]
        self._sums = np.zeros((len(strategy.amounts), keys), dtype=np.int64)  # confidential
        # Post-processing: R u = y is solved tick by tick; u adds up to the prefix.
        self._past_weights = strategy.amounts * (1 - strategy.decays)
        self._kept = 1 - self._decays
        self._diagonal = float(strategy.amounts.sum())
        self._solved = np.zeros((len(strategy.amounts), keys))
        self._prefix = np.zeros(keys)
        self._published = np.zeros(keys, dtype=np.int64)
        self._ahead = np.empty((0, keys), dtype=np.int64)
        self._used = 0

    def measure(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._used == len(self._ahead):
            self._ahead, self._used = self._draw(0, CHUNK), 0
        measured = self._weigh(counts) + self._ahead[self._used]
        self._used += 1
        return self._solve(measured)

    def _weigh(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The next row of round(R x), in units."""
        sums = self._sums
        sums -= np.rint(sums * self._decays).astype(np.int64)
        sums += counts * self._unit
        # Not a matrix product, whose order of summation, and so its rounding, may vary.
        weighed: NDArray[np.int64] = np.rint((self._amounts * sums).sum(axis=0)).astype(np.int64)
        return weighed

    def _solve(self, measured: NDArray[np.int64]) -> NDArray[np.int64]:
        """Post-processing: from what could be published itself to the increment of the rounded prefix."""
        solved = (measured / self._unit - self._past_weights @ self._solved) / self._diagonal
        self._solved *= self._kept
        self._solved += solved
        self._prefix += solved
        before, self._published = self._published, np.floor(self._prefix + 0.5).astype(np.int64)
        increment: NDArray[np.int64] = self._published - before
        return increment

    def measure_many(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([self.measure(row) for row in counts]).reshape(counts.shape)

    def memory(self) -> int:
        return 2 * len(self._sums) + 2 + len(self._ahead)
