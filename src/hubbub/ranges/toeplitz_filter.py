"""Measures a stream through the Toeplitz matrix R and turns what was measured back into prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.noise import IntegerNoise
from hubbub.ranges.toeplitz_column import ToeplitzColumn
from hubbub.ranges.walk import CHUNK, Walk

if TYPE_CHECKING:
    from hubbub.ranges.toeplitz import Toeplitz

FEW = 4
"""So many keys are faster one by one, in plain numbers, than as arrays."""


class ToeplitzFilter(Walk):
    """y = round(R x) + z in whole multiples of 2^-bits, then the prefixes A R^-1 y by post-processing in floats.

    The other way round, S + L z with z drawn on a grid, would not be private: R x lies on no grid, and which values L z
    can take would tell x. So R is applied to the counts, with whole numbers whose rounding is part of the sensitivity.

    A segment of several trees begins anew at each border: noise and variances are those of R over `size` ticks, and a
    filter that remembered further back would show more of a count than the noise hides.

    Its state holds weighted sums of the open tree's counts. They are confidential, live in memory alone and die with
    the tree. Holds two numbers a term, O(log n), and a block of at most 64 noises drawn ahead.
    """

    def __init__(self, strategy: Toeplitz, noises: Sequence[IntegerNoise], keys: int) -> None:
        super().__init__(noises, keys)
        self._terms = len(strategy.amounts)
        self._size = self._left = strategy.size  # ticks of a tree, and those that the open one still has
        self._ahead: list[NDArray[np.int64]] = []  # last one first
        self._columns = [ToeplitzColumn(strategy) for _ in range(keys)] if keys <= FEW else []
        self._unit = 1 << strategy.fraction_bits
        self._amounts = strategy.amounts[:, None]
        self._decays = strategy.decays[:, None]
        self._sums = np.zeros((self._terms, keys), dtype=np.int64)  # confidential
        # Post-processing: R u = y is solved tick by tick; u adds up to the prefix.
        self._past_weights = strategy.amounts * (1 - strategy.decays)
        self._kept = 1 - self._decays
        self._diagonal = float(strategy.amounts.sum())
        self._solved = np.zeros((self._terms, keys))
        self._prefix = np.zeros(keys)
        self._published = np.zeros(keys, dtype=np.int64)

    def _begin_tree(self) -> None:
        """See `ToeplitzColumn.begin_tree`."""
        self._left = self._size
        for column in self._columns:
            column.begin_tree()
        self._sums[:] = 0
        self._solved[:] = 0.0
        self._prefix -= self._published
        self._published[:] = 0

    def measure(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self._left:
            self._begin_tree()
        self._left -= 1
        if not self._ahead:
            self._ahead = list(self._draw(0, CHUNK)[::-1])
        noise = self._ahead.pop()
        if self._keys == 1:
            return np.array([self._columns[0].measure(counts.item(), noise.item())])
        if self._columns:
            each = zip(self._columns, counts.tolist(), noise.tolist(), strict=True)
            return np.array([column.measure(count, one) for column, count, one in each])
        return self._solve(self._weigh(counts) + noise)

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
        ahead = np.array(self._ahead[::-1], dtype=np.int64).reshape(-1, self._keys)
        noises = np.concatenate([ahead, self._draw(0, max(0, len(counts) - len(ahead)))])
        self._ahead = list(noises[len(counts) :][::-1])
        released = np.empty(counts.shape, dtype=np.int64)
        done = 0
        while done < len(counts):
            if not self._left:
                self._begin_tree()
            part = slice(done, min(done + self._left, len(counts)))
            released[part] = self._measure_part(counts[part], noises[part])
            self._left -= part.stop - done
            done = part.stop
        return released

    def _measure_part(self, counts: NDArray[np.int64], noises: NDArray[np.int64]) -> NDArray[np.int64]:
        """Ticks of one tree."""
        if self._columns:
            each = zip(self._columns, counts.T.tolist(), noises.T.tolist(), strict=True)
            rows = [column.measure_many(own, noise) for column, own, noise in each]
            return np.array(rows, dtype=np.int64).T
        steps = [self._solve(self._weigh(row) + noise) for row, noise in zip(counts, noises, strict=True)]
        return np.array(steps, dtype=np.int64)

    def memory(self) -> int:
        return 2 * self._terms + 2 + len(self._ahead)
