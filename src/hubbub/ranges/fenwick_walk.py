"""The error of a Fenwick tree's prefixes, tick by tick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.noise import IntegerNoise
from hubbub.ranges.walk import CHUNK, MOST, NoiseWalk

if TYPE_CHECKING:
    from hubbub.ranges.fenwick import Fenwick


class FenwickWalk(NoiseWalk):
    """N(p) is the sum of one noise for each set bit of p; when a bit is set by a carry, those below it are gone.

    A finished node carries the whole sum of what lies under it, not only of its last child (Wu 2019, Alg. 1, step 3,
    loses the rest for grandparents). Holds one noise per level and a block of at most 64 rows.
    """

    def __init__(self, strategy: Fenwick, noises: Sequence[IntegerNoise], keys: int) -> None:
        super().__init__(noises, keys)
        self._top = strategy.height - 1
        self._position = 0
        self._held = np.zeros((strategy.height, keys), dtype=np.int64)  # the noise of each set bit of the position

    def _next_block(self) -> NDArray[np.int64]:
        if self._top == 0:
            return self._draw(0, CHUNK)
        size = 1 << self._top
        return self._trees(CHUNK // size) if size < CHUNK else self._rows(CHUNK)

    def _next_blocks(self, rows: int) -> NDArray[np.int64]:
        """In parts as large as their place in the tree allows: the same law, with fewer turns."""
        if self._top == 0:
            return self._draw(0, rows)
        size, most = 1 << self._top, max(CHUNK, MOST // self._keys)
        parts, have = [], 0
        while have < rows:
            trees = min(rows - have, most) // size
            if not self._position and trees > 1:
                parts.append(self._trees(trees))
                have += len(parts[-1])
                continue
            aligned = self._position & -self._position or size
            wanted = 1 << (min(rows - have, most).bit_length() - 1)
            parts.append(self._rows(max(min(aligned, wanted), min(CHUNK, size))))
            have += len(parts[-1])
        return np.concatenate(parts)

    def _rows(self, count: int) -> NDArray[np.int64]:
        """Increments for `count` (a power of two) positions after the present one, which is a multiple of it."""
        low = count.bit_length() - 1
        errors = np.zeros((count + 1, self._keys), dtype=np.int64)  # N less its value at the start of the block
        place = np.arange(count)
        for j in range(low):
            fresh = self._draw(j, count >> (j + 1))
            holds = place >> j & 1 == 1
            errors[:count][holds] += np.repeat(fresh, 1 << j, axis=0)
        # The last position carries: its node covers the block and every set bit it swallows.
        after = self._position + count
        level = min((after & -after).bit_length() - 1, self._top)
        node = self._draw(level, 1)[0]
        errors[count] = node - self._held[low:level].sum(axis=0)
        self._held[low:level] = 0
        self._held[level] = node if level < self._top else 0
        self._position = after & ((1 << self._top) - 1)
        return np.diff(errors, axis=0)

    def _trees(self, count: int) -> NDArray[np.int64]:
        """Increments for so many whole trees, where none is open."""
        size = 1 << self._top
        errors = np.zeros((count, size + 1, self._keys), dtype=np.int64)  # N less its value at the start of each tree
        place = np.arange(size)
        for j in range(self._top):
            fresh = self._draw(j, count * (size >> (j + 1))).reshape(count, -1, self._keys)
            errors[:, :size][:, place >> j & 1 == 1] += np.repeat(fresh, 1 << j, axis=1)
        errors[:, size] = self._draw(self._top, count)
        return np.diff(errors, axis=1).reshape(-1, self._keys)

    def memory(self) -> int:
        return super().memory() + len(self._held)
