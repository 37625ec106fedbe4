"""Noise drawn ahead, so that a single draw costs little."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FIRST, LAST = 64, 4096
"""A distribution that is used once draws few in vain; one that is used often draws many at a time."""


class _Stock:
    """Values that may be handed out under one mark only."""

    __slots__ = ("mark", "values")

    def __init__(self, mark: object) -> None:
        self.mark = mark
        self.values: list[int] = []


class Buffer:
    """Each value leaves it once.

    Taking a value off a list is one step that no other thread can divide, so there is no lock, and no lock that a
    fork could leave closed. A forked child finds another mark and starts with an empty stock.
    """

    def __init__(self, draw: Callable[[int], NDArray[np.int64]], mark: Callable[[], object]) -> None:
        self._draw = draw
        self._mark = mark
        self._stock = _Stock(None)
        self._size = FIRST

    def one(self) -> int:
        """The next value."""
        values = self._current().values
        while True:
            try:
                return values.pop()
            except IndexError:
                self._refill(values)

    def many(self, count: int) -> list[int]:
        """The next few values."""
        values = self._current().values
        taken: list[int] = []
        while len(taken) < count:
            try:
                taken.append(values.pop())
            except IndexError:
                self._refill(values)
        return taken

    def _refill(self, values: list[int]) -> None:
        values.extend(self._draw(self._size).tolist())
        self._size = min(4 * self._size, LAST)

    def _current(self) -> _Stock:
        mark = self._mark()
        stock = self._stock
        if stock.mark != mark:
            stock = self._stock = _Stock(mark)
        return stock
