"""Mechanisms that need the whole series before they release anything."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import final

from hubbub.confidential import Counts
from hubbub.errors import TickOutOfOrder
from hubbub.mechanism.estimate import Estimate
from hubbub.mechanism.measurement import Measurement
from hubbub.mechanism.mechanism import Mechanism
from hubbub.privacy import Guarantee
from hubbub.released import Cost, Release, Tick


class OfflineMechanism(Mechanism):
    """A yardstick for the online mechanisms: it sees all ticks of a horizon at once, and spends the whole budget once.

    The same two halves: the budget is charged, then `_measure` sees the counts and draws, then `_estimate` sees what
    was measured. A second series is refused by the account, since nothing is left.
    """

    @property
    def cost(self) -> Cost:
        """What the whole series costs; it is written to its first tick."""
        budget = self.guarantee.budget
        return Cost(epsilon=budget) if self.guarantee.kind == "pure" else Cost(rho=budget)

    @property
    def ticks(self) -> int:
        """How many ticks the series must have."""
        return _horizon(self.guarantee)

    @final
    def release_series(self, series: Iterable[Counts]) -> list[Release]:
        """Every tick's release."""
        given = list(series)
        if self._next:
            raise TickOutOfOrder(
                "The series was released already.", "A second draw would cost twice; make a new grant for it."
            )
        if [counts.tick.index for counts in given] != list(range(self.ticks)):
            raise TickOutOfOrder(
                f"`{self.name}` needs the counts of all {self.ticks:,} ticks, in order; got {len(given):,}.",
                "Give 0 where nothing was counted; for a live stream use an online method.",
            )
        for counts in given:
            self._check_keys(counts.keys)
        self._account.charge(0, self.cost)
        self._next = self.ticks
        ticks = [counts.tick for counts in given]
        estimates = self._estimate(ticks, self._measure(given, self.cost))
        free = Cost.nothing()
        return [
            Release(tick, self.keys, *estimate[:4], cost=free if i else self.cost, joint=estimate.joint)
            for i, (tick, estimate) in enumerate(zip(ticks, estimates, strict=True))
        ]

    @abstractmethod
    def _measure(self, series: Sequence[Counts], cost: Cost) -> Measurement:
        """The measuring half: looks at the counts and draws; `cost` is charged."""

    @abstractmethod
    def _estimate(self, ticks: Sequence[Tick], measurement: Measurement) -> list[Estimate]:
        """The estimating half, one estimate per tick. Sees noisy values only."""


def _horizon(guarantee: Guarantee) -> int:
    horizon = guarantee.unit.horizon
    assert horizon is not None  # the traits ask for one
    return horizon
