"""The lengths that were asked for of late, and what they say about those to come."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import whole

STEPS = 4
"""Grid points an octave; between them a length counts for its two neighbours in proportion."""


class QueryHistory:
    """The last `size` lengths, with three forecasts, each kept up to date in constant time a query.

    - `mean`: the moving average (Wu 2019, Eq. 8 and 9).
    - `weighted`: weights p^i, newest first. Eq. 11 as printed forgets that the oldest length has the weight p^(n-1) and
      never multiplies back by the sum of weights; the recursion here keeps the weighted sum: subtract p^(n-1) q(M-n+1),
      multiply by p, add q(M+1), and divide by the sum of weights when asked.
    - `shares`: the whole histogram. A mean of short and long lengths is a length that nobody asks for.

    >>> history = QueryHistory(window=64, size=3, decay=0.5)
    >>> for length in (8, 8, 2, 4): history.record(length)
    >>> history.mean, history.weighted  # of 8, 2, 4: (4 + 2/2 + 8/4) / (1 + 1/2 + 1/4)
    (4.666666666666667, 4.0)
    """

    def __init__(self, window: int, size: int = 256, decay: float = 0.98) -> None:
        self.window = whole(window, "window")
        self.size = whole(size, "size", "Remember at least one query.")
        if not 0 < decay < 1:
            raise InvalidParameter(
                f"`decay` must lie between 0 and 1; got {decay}.", "0.98 forgets half in 35 queries."
            )
        self._decay = decay
        self._oldest_weight = decay ** (self.size - 1)
        self._recent: deque[int] = deque()
        self._sum = 0
        self._weighted_sum = 0.0
        self.grid = length_grid(self.window)
        self._points: list[int] = self.grid.tolist()
        self._histogram = [0.0] * len(self._points)

    def __len__(self) -> int:
        return len(self._recent)

    def record(self, length: int) -> None:
        """Someone asked for a range of `length` ticks."""
        if isinstance(length, bool) or not isinstance(length, int) or not 1 <= length <= self.window:
            raise InvalidParameter(
                f"A query's length must lie between 1 and the window's {self.window:,} ticks; got {length!r}."
            )
        if len(self._recent) == self.size:
            oldest = self._recent.popleft()
            self._sum -= oldest
            self._weighted_sum -= self._oldest_weight * oldest
            self._count(oldest, -1.0)
        self._recent.append(length)
        self._sum += length
        self._weighted_sum = self._weighted_sum * self._decay + length
        self._count(length, 1.0)

    def _count(self, length: int, amount: float) -> None:
        at = bisect_left(self._points, length)
        if self._points[at] == length:
            self._histogram[at] += amount
        else:
            low, high = self._points[at - 1], self._points[at]
            upper = (length - low) / (high - low)
            self._histogram[at - 1] += amount * (1 - upper)
            self._histogram[at] += amount * upper

    @property
    def mean(self) -> float:
        """The moving average; the window's length before the first query."""
        return self._sum / len(self._recent) if self._recent else float(self.window)

    @property
    def weighted(self) -> float:
        """The average with weights p^i."""
        if not self._recent:
            return float(self.window)
        return self._weighted_sum / ((1 - self._decay ** len(self._recent)) / (1 - self._decay))

    @property
    def shares(self) -> NDArray[np.float64]:
        """Shares of the grid's lengths; all alike before the first query."""
        if not self._recent:
            return np.full(len(self.grid), 1 / len(self.grid))
        counted = np.maximum(self._histogram, 0.0)
        shares: NDArray[np.float64] = counted / counted.sum()
        return shares

    @property
    def lengths(self) -> list[int]:
        """The lengths remembered, oldest first: public, since readers sent them."""
        return list(self._recent)

    def restore(self, lengths: Iterable[int]) -> None:
        """Forget, and take these in."""
        self._recent.clear()
        self._sum, self._weighted_sum = 0, 0.0
        self._histogram = [0.0] * len(self._points)
        for length in lengths:
            self.record(length)


def length_grid(window: int) -> NDArray[np.int64]:
    """Lengths from 1 to the window, all up to 8 and then four an octave.

    >>> length_grid(32).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16, 19, 23, 27, 32]
    """
    octaves = max(0, int(np.ceil(np.log2(max(window, 8) / 8))))
    steps = np.rint(8 * 2 ** (np.arange(1, octaves * STEPS + 1) / STEPS)).astype(np.int64)
    grid: NDArray[np.int64] = np.unique(np.concatenate([np.arange(1, 9), steps, [window]]))
    return grid[grid <= window]
