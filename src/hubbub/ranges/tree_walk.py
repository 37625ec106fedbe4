"""The error of a tree's prefixes, with every node's noise drawn when its parent begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.noise import IntegerNoise
from hubbub.ranges.walk import MOST, NoiseWalk

if TYPE_CHECKING:
    from hubbub.ranges.tree import Tree

LARGEST_BLOCK = 256
"""Rows of noise that are made at once for two small levels together."""


class TreeWalk(NoiseWalk):
    """Walks down the tree one lowest parent at a time; errors are whole multiples of 1/denominator, so all is exact.

    Holds, for each level, the errors of the children of one open node: at most 64 numbers per level and key.
    Published is S + round(N), which is round(S + N), a function of L (R x + z) alone.
    """

    def __init__(self, strategy: Tree, noises: Sequence[IntegerNoise], keys: int) -> None:
        super().__init__(noises, keys)
        self._unit = strategy.denominator
        self._arity = strategy.arity
        self._weights = strategy.whole_weights
        self._open: list[NDArray[np.int64]] = [np.empty((0, keys), dtype=np.int64) for _ in strategy.arity]
        self._rest = np.zeros(keys, dtype=np.int64)  # what rounding has left over, in units

    def _next_block(self) -> NDArray[np.int64]:
        last = len(self._arity) - 1
        if last and self._arity[-1] * self._arity[-2] <= LARGEST_BLOCK and not len(self._open[last]):
            return self._rounded(self._expanded(self._children(last - 1), last))
        return self._rounded(self._children(last))

    def _rounded(self, errors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Increments of floor(N + 1/2), which moves with every whole shift of N."""
        path = np.cumsum(errors, axis=0) + self._rest
        whole = (path + self._unit // 2) // self._unit
        self._rest = path[-1] - whole[-1] * self._unit
        return np.diff(whole, axis=0, prepend=0)

    def _children(self, level: int) -> NDArray[np.int64]:
        """The errors of all children of the next node of `level`."""
        return self._expanded(self._next_error(level)[None, :], level)

    def _next_error(self, level: int) -> NDArray[np.int64]:
        """The error of the next node of `level` over its whole span."""
        if level == 0:
            return (self._draw(0, 1) * self._unit).reshape(-1)
        if not len(self._open[level]):
            self._open[level] = self._children(level - 1)
        first, self._open[level] = self._open[level][:1], self._open[level][1:]
        return first.reshape(-1)

    def _next_blocks(self, rows: int) -> NDArray[np.int64]:
        """Whole trees at once where nothing is open: the same law, with fewer turns."""
        size = math.prod(self._arity)
        parts, have = [], 0
        while have < rows:
            trees = min((rows - have) // size, max(1, MOST // (size * self._keys)))
            idle = not any(len(held) for held in self._open)
            parts.append(self._trees(trees) if trees and idle else self._next_block())
            have += len(parts[-1])
        return np.concatenate(parts)

    def _trees(self, count: int) -> NDArray[np.int64]:
        errors = self._draw(0, count) * self._unit
        for level in range(len(self._arity)):
            errors = self._expanded(errors, level)
        return self._rounded(errors)

    def _expanded(self, errors: NDArray[np.int64], level: int) -> NDArray[np.int64]:
        """The errors of all children of nodes of `level`, given those of the nodes."""
        common, changes = self._weights[level]
        k = self._arity[level]
        own = self._draw(level + 1, len(errors) * k).reshape(len(errors), k, self._keys) * self._unit
        gap = (errors - own.sum(axis=1)) // common
        below: NDArray[np.int64] = own + changes * gap[:, None, :]
        return below.reshape(-1, self._keys)

    def memory(self) -> int:
        return super().memory() + sum(len(held) for held in self._open) + 1
