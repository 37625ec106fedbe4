"""Real thresholds, known through 64-bit bounds, and where random words fall between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WORD = 64
UNDECIDED = -1


class Ladder:
    """Rising thresholds c_0 <= c_1 <= ... in [0, 1], each with low <= c 2^64 <= high.

    A word u stands for a uniform number in [u, u+1) / 2^64. That number is certainly below c when u < low, and
    certainly not below c when u >= high. For all other words - about one for each threshold - the answer depends on
    digits that were not drawn yet.
    """

    def __init__(self, lows: Sequence[int], highs: Sequence[int]) -> None:
        self._lows = np.array(lows, dtype=np.uint64)
        # u >= high is written u > high - 1, since high may be 2^64 itself. Nothing stands before the first threshold.
        self._doubts = np.array([0, *(min(high, 1 << WORD) - 1 for high in highs)], dtype=np.uint64)

    def __len__(self) -> int:
        return len(self._lows)

    def place(self, words: NDArray[np.uint64]) -> NDArray[np.intp]:
        """How many thresholds lie at or below each word's number; `UNDECIDED` where 64 digits do not tell."""
        places = np.searchsorted(self._lows, words, side="right")
        places[(words <= self._doubts.take(places)) & (places > 0)] = UNDECIDED
        return places

    def passed(self, digits: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """For each beginning w of so many digits: the thresholds that may lie at or below a number which begins with
        w, and those that lie below all such numbers. Where both are the same, w alone tells."""
        size = 1 << digits
        drop = np.uint64(WORD - digits)
        begun = np.cumsum(np.bincount((self._lows >> drop).astype(np.intp), minlength=size))
        through = np.cumsum(np.bincount((self._doubts[1:] >> drop).astype(np.intp), minlength=size))
        return begun, np.concatenate([np.zeros(1, dtype=np.intp), through[:-1]])
