"""How what single ticks cost adds up for the unit that is hit worst."""

from __future__ import annotations

import bisect
from collections import deque
from fractions import Fraction
from itertools import takewhile
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
        # The largest amounts, ascending, as runs: nearly always a single one, however large `most` is.
        self._amounts: list[Fraction] = []
        self._times: list[int] = []
        self._kept = 0
        self._total = Fraction(0)

    @property
    def total(self) -> Fraction:
        return self._total

    def total_with(self, tick: int, amount: Fraction) -> Fraction:  # noqa: ARG002 - any placement is the same here
        if self._kept == self._most and (amount is self._amounts[0] or amount <= self._amounts[0]):
            return self._total  # the usual case of a stream that runs on at one cost, without any arithmetic
        pushed_out = self._amounts[0] if self._kept == self._most else Fraction(0)
        return self._total + max(amount - pushed_out, Fraction(0))

    def add(self, tick: int, amount: Fraction) -> None:
        if self._kept == self._most and (amount is self._amounts[0] or amount <= self._amounts[0]):
            return
        if not amount:
            return
        self._total = self.total_with(tick, amount)
        if self._kept == self._most:
            self._times[0] -= 1
            self._kept -= 1
            if not self._times[0]:
                del self._amounts[0], self._times[0]
        at = bisect.bisect_left(self._amounts, amount)
        if at == len(self._amounts) or self._amounts[at] != amount:
            self._amounts.insert(at, amount)
            self._times.insert(at, 0)
        self._times[at] += 1
        self._kept += 1

    def state(self) -> dict[str, Any]:
        return {"largest": [[str(a), times] for a, times in zip(self._amounts, self._times, strict=True)]}

    def restore(self, state: dict[str, Any]) -> None:
        self._amounts = [Fraction(amount) for amount, _ in state["largest"]]
        self._times = [times for _, times in state["largest"]]
        self._kept = sum(self._times)
        self._total = sum((a * times for a, times in zip(self._amounts, self._times, strict=True)), Fraction(0))


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
        gone = takewhile(lambda entry: entry[0] <= tick - self._width, self._recent)
        inside = self._sum - sum((a for _, a in gone), Fraction(0))
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
