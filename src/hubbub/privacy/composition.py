"""How what single ticks cost adds up for the unit that is hit worst."""

from __future__ import annotations

import bisect
from collections import deque
from fractions import Fraction
from typing import Any, Protocol


class Composition(Protocol):
    """The largest total that any one unit can have been charged, after each tick's amount.

    `total_with` answers without changing anything, so that a refused charge leaves no trace.
    """

    @property
    def total(self) -> Fraction: ...

    def total_with(self, tick: int, amount: Fraction) -> Fraction: ...

    def add(self, tick: int, amount: Fraction) -> None: ...

    def state(self) -> dict[str, Any]: ...

    def restore(self, state: dict[str, Any]) -> None: ...


class LargestSum:
    """A unit is present in any `most` ticks of the stream: the worst total is the sum of the `most` largest amounts.

    Adding each tick's amount `e/most` therefore never exceeds `e`, however long the stream runs.

    >>> worst = LargestSum(2)
    >>> for tick in range(1000): worst.add(tick, Fraction(1, 2))
    >>> worst.total
    Fraction(1, 1)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._largest: list[Fraction] = []  # ascending, at most `most` of them
        self._total = Fraction(0)

    @property
    def total(self) -> Fraction:
        return self._total

    def total_with(self, tick: int, amount: Fraction) -> Fraction:  # noqa: ARG002 - any placement is the same here
        pushed_out = self._largest[0] if len(self._largest) == self._most else Fraction(0)
        return self._total + max(amount - pushed_out, Fraction(0))

    def add(self, tick: int, amount: Fraction) -> None:
        if not amount:
            return
        self._total = self.total_with(tick, amount)
        if len(self._largest) == self._most:
            if amount <= self._largest[0]:
                return
            self._largest.pop(0)
        bisect.insort(self._largest, amount)

    def state(self) -> dict[str, Any]:
        return {"largest": _runs(self._largest)}

    def restore(self, state: dict[str, Any]) -> None:
        self._largest = [Fraction(amount) for amount, times in state["largest"] for _ in range(times)]
        self._total = sum(self._largest, Fraction(0))


class SlidingSum:
    """A unit is present in any `width` consecutive ticks: the worst total is the largest sum inside such a window.

    >>> worst = SlidingSum(2)
    >>> for tick in (0, 1, 5): worst.add(tick, Fraction(1, 2))
    >>> worst.total, worst.total_with(6, Fraction(1))
    (Fraction(1, 1), Fraction(3, 2))
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._recent: deque[tuple[int, Fraction]] = deque()
        self._sum = Fraction(0)
        self._worst = Fraction(0)

    @property
    def total(self) -> Fraction:
        return self._worst

    def total_with(self, tick: int, amount: Fraction) -> Fraction:
        inside = self._sum - sum((a for t, a in self._recent if t <= tick - self._width), Fraction(0))
        return max(self._worst, inside + amount)

    def add(self, tick: int, amount: Fraction) -> None:
        self._worst = self.total_with(tick, amount)
        while self._recent and self._recent[0][0] <= tick - self._width:
            self._sum -= self._recent.popleft()[1]
        if amount:
            self._recent.append((tick, amount))
            self._sum += amount

    def state(self) -> dict[str, Any]:
        return {"recent": [[t, str(a)] for t, a in self._recent], "worst": str(self._worst)}

    def restore(self, state: dict[str, Any]) -> None:
        self._recent = deque((t, Fraction(a)) for t, a in state["recent"])
        self._sum = sum((a for _, a in self._recent), Fraction(0))
        self._worst = Fraction(state["worst"])


def _runs(amounts: list[Fraction]) -> list[list[Any]]:
    """[[amount, how often], …]: nearly always one run, however large `max_ticks` is."""
    runs: list[list[Any]] = []
    for amount in amounts:
        if runs and runs[-1][0] == str(amount):
            runs[-1][1] += 1
        else:
            runs.append([str(amount), 1])
    return runs
