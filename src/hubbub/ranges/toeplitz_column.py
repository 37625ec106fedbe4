"""One key's Toeplitz filter in plain numbers."""

from __future__ import annotations

from math import floor
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hubbub.ranges.toeplitz import Toeplitz


SMALL = 2**15
"""While a segment's counts stay up to this, its sums stay up to 2^53: floats hold them exactly, and add them faster."""

_TO_WHOLE = 1.5 * 2.0**52
"""Added and taken away again, it rounds a float below 2^51 to a whole number, halves to even, as `rint` does."""


class ToeplitzColumn:
    """What `ToeplitzFilter` does, for one key: a handful of numbers is weighed faster one by one than as arrays.

    The same whole numbers, products and roundings; only floats are added up in another order, which the sensitivity
    allows for (docs/proofs/ranges.md, "Toeplitz"). The first term, theta = 0, remembers nothing and needs no number.
    Whoever holds it calls `begin_tree` after each `size` ticks.
    """

    def __init__(self, strategy: Toeplitz) -> None:
        self._unit = 1 << strategy.fraction_bits
        self._newest = float(strategy.amounts[0])
        self._amounts: list[float] = strategy.amounts[1:].tolist()
        self._decays: list[float] = strategy.decays[1:].tolist()
        self._sums: list[float] = [0.0] * len(self._amounts)  # confidential; whole numbers always
        self._large = False
        # Post-processing: R u = y is solved tick by tick; u adds up to the prefix.
        self._kept: list[float] = (1 - strategy.decays[1:]).tolist()
        self._past_weights: list[float] = (strategy.amounts[1:] * (1 - strategy.decays[1:])).tolist()
        self._diagonal = float(strategy.amounts.sum())
        self._solved = [0.0] * len(self._amounts)
        self._prefix = 0.0
        self._published = 0

    def begin_tree(self) -> None:
        """Forget the counts and noises of the tree that is complete: noise is calibrated for `size` ticks of memory.

        What rounding has left over stays, so that a prefix across trees is rounded once.
        """
        self._sums = [0.0] * len(self._amounts)
        self._large = False
        self._solved = [0.0] * len(self._amounts)
        self._prefix -= self._published
        self._published = 0

    def measure(self, count: int, noise: int) -> int:
        """The published increment of the next tick."""
        return self.solve(self.weigh(count) + noise)

    def measure_many(self, counts: list[int], noises: list[int]) -> list[int]:
        """The same for many ticks."""
        return [self.solve(self.weigh(count) + noise) for count, noise in zip(counts, noises, strict=True)]

    def weigh(self, count: int) -> int:
        """The next row of round(R x), in units."""
        fresh = count * self._unit
        if count > SMALL:
            self._large = True
            self._sums = list(map(int, self._sums))
        each = zip(self._sums, self._decays)  # noqa: B905 - alike by construction, and this runs at every tick
        if self._large:
            self._sums = [s - round(s * decay) + fresh for s, decay in each]
        else:
            more = float(fresh)
            self._sums = [s - ((s * decay + _TO_WHOLE) - _TO_WHOLE) + more for s, decay in each]
        return round(sum(map(mul, self._amounts, self._sums), self._newest * fresh))

    def solve(self, measured: int) -> int:
        """Post-processing: from what could be published itself to the increment of the rounded prefix."""
        solved = (measured / self._unit - sum(map(mul, self._past_weights, self._solved))) / self._diagonal
        self._solved = [s * kept + solved for s, kept in zip(self._solved, self._kept)]  # noqa: B905
        self._prefix += solved
        before, self._published = self._published, floor(self._prefix + 0.5)
        return self._published - before
