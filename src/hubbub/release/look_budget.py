"""How a budget may be cut into looks, in exact numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from hubbub.privacy import Guarantee

FIRST_SHARE = Fraction(1, 10)
"""Of the budget, for the first look: enough to find the level, little enough to keep the rest for later."""

CRUMB = 20
"""What is less than a 20th of an even share buys nothing worth a look."""

_STEPS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 21, 24, 28, 30, 32)


class LookBudget:
    """The budget of a stream that may look at some ticks only; amounts are in epsilon, or in rho.

    A unit present in l ticks is charged for its l most expensive ones. So there are two ways to stay within the
    budget: few looks whose costs add up to it (as long as there are at most l), or any number of looks that cost
    at most an l-th each. Both are sound; the account of the stream checks them once more.

    >>> from hubbub.privacy import User
    >>> looks = LookBudget(Guarantee.pure(User(horizon=100), 1))
    >>> looks.spend(looks.first)
    >>> looks.left, looks.piece(9)
    (Fraction(9, 10), Fraction(1, 10))
    """

    def __init__(self, guarantee: Guarantee) -> None:
        self.budget = guarantee.budget
        self._most = guarantee.unit.max_ticks
        self._spent = Fraction(0)
        self._looks = 0
        self._largest = Fraction(0)

    @property
    def even(self) -> Fraction:
        """What every tick may cost if all cost the same."""
        return self.budget / self._most

    @property
    def first(self) -> Fraction:
        """The cost of the first look."""
        return max(self.budget * FIRST_SHARE, self.even)

    @property
    def left(self) -> Fraction:
        """What looks within the bound on their number may still cost together."""
        left = self.budget - self._spent if self._looks < self._most else Fraction(0)
        return left if left * CRUMB >= self.even else Fraction(0)

    @property
    def may_look_always(self) -> bool:
        """Whether every coming tick may be looked at for an even share."""
        return self._largest <= self.even

    @property
    def looks_left(self) -> int:
        """How many looks of any size there may still be."""
        return max(self._most - self._looks, 0)

    def piece(self, looks: int) -> Fraction:
        """The cost of one of `looks` equal looks, rounded down to few sizes: each has its own noise table."""
        if looks > self.looks_left:
            return self.even if self.may_look_always else Fraction(0)
        return self.left if looks == 1 else self.nice(self.left / looks)

    def nice(self, amount: Fraction) -> Fraction:
        """The largest budget/q within `amount`, for a q with no prime factor above 7: sums of such keep few digits."""
        if amount <= 0:
            return Fraction(0)
        parts = max(math.ceil(self.budget / amount), 1)
        power = 1
        while parts > _STEPS[-1] * power:
            power *= 2
        return self.budget / next(step * power for step in _STEPS if step * power >= parts)

    def spend(self, amount: Fraction) -> None:
        if amount:
            self._spent += amount
            self._looks += 1
            self._largest = max(self._largest, amount)

    def state(self) -> dict[str, Any]:
        return {"spent": str(self._spent), "looks": self._looks, "largest": str(self._largest)}

    def restore(self, state: dict[str, Any]) -> None:
        self._spent, self._looks = Fraction(state["spent"]), state["looks"]
        self._largest = Fraction(state["largest"])
