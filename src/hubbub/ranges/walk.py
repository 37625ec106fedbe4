"""From a tick's counts to its noisy increment: what each strategy does with noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import ConfidentialLeak
from hubbub.noise import IntegerNoise

CHUNK = 64
"""Rows of noise made at once where the tree does not say; a power of two."""

MOST = 2**18
"""Numbers made at once in batch mode."""


class Walk(ABC):
    """One segment's mechanism for all keys at once.

    It publishes increments: the noisy prefix at a position less the one before. Their sum over any range is the noisy
    sum of that range. What it holds is *secret*: whoever sees the noise sees the counts. It lives in memory, is never
    written, and dies with its segment.
    """

    def __init__(self, noises: Sequence[IntegerNoise], keys: int) -> None:
        self._noises = noises
        self._keys = keys

    def _draw(self, level: int, rows: int) -> NDArray[np.int64]:
        return self._noises[level].sample(rows * self._keys).reshape(rows, self._keys)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise ConfidentialLeak(
            "The noise of an open segment was about to be pickled: with what was published it gives the counts.",
            "Store `snapshot()`, which holds no noise.",
        )

    @abstractmethod
    def measure(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The published increment of the next tick."""

    @abstractmethod
    def measure_many(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same for many ticks, one per row."""

    @abstractmethod
    def memory(self) -> int:
        """How many numbers per key it holds: the size of the state."""


class NoiseWalk(Walk):
    """A strategy whose noise does not depend on counts at all: made ahead in blocks, added to a tick when it comes.

    So there is nothing confidential in its state but the noise itself.
    """

    def __init__(self, noises: Sequence[IntegerNoise], keys: int) -> None:
        super().__init__(noises, keys)
        self._block = np.empty((0, keys), dtype=np.int64)
        self._used = 0

    @abstractmethod
    def _next_block(self) -> NDArray[np.int64]:
        """Increments of the error for some more positions, one per row."""

    def _next_blocks(self, rows: int) -> NDArray[np.int64]:
        """At least `rows` rows, where that can be done faster than block by block."""
        parts, have = [], 0
        while have < rows:
            parts.append(self._next_block())
            have += len(parts[-1])
        return np.concatenate(parts)

    def measure(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._used == len(self._block):
            self._block = self._next_block()
            self._used = 0
        row = self._block[self._used]
        self._used += 1
        increment: NDArray[np.int64] = row + counts
        return increment

    def measure_many(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = self._block[self._used :]
        if len(rows) < len(counts):
            rows = np.concatenate([rows, self._next_blocks(len(counts) - len(rows))])
        self._block, self._used = rows[len(counts) :].copy(), 0
        return rows[: len(counts)] + counts

    def memory(self) -> int:
        return len(self._block)
