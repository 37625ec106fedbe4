"""What BD and BA have in common: a private look at how much changed, then publish or repeat (Kellaris et al. 2014)."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.mechanism import Estimate, Measurement, Traits
from hubbub.noise import ByteSource, DiscreteGaussian, DiscreteLaplace, IntegerNoise
from hubbub.privacy import Guarantee, Window
from hubbub.release.lpa import as_measured, held
from hubbub.release.releaser import Releaser
from hubbub.released import Cost, Domain, Tick


class WindowBudget(Releaser):
    """Half of the budget asks at every tick how far the last publication is off, half pays for publications.

    The question is the sum of absolute differences between the counts and the last published values: one unit in a
    tick changes it by at most `max_items`, so it gets discrete Laplace noise of scale max_items / (epsilon/2w), or
    Gaussian noise of variance max_items^2 / (2 rho/2w). If the answer, per key, exceeds the scale of the noise that a
    publication would have, the tick is published; otherwise the last publication is repeated, and its price is saved.

    What is saved can be spent later only where the unit is a `Window`. Any other unit may be present in the dear ticks
    alone, so that a publication never costs more than its own tick's share: with them these methods have no use.

    `cost` is the most a tick may take; a release says what it took.
    """

    name: ClassVar[str] = "window"
    traits: ClassVar[Traits] = Traits(even_cost=False, plain=False)

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        unit = guarantee.unit
        self.window = unit.max_ticks
        self._saves = isinstance(unit, Window)
        self._question = guarantee.budget / (2 * self.window)
        self._dissimilarity = self._noise_of_the_question(source)
        self._published = np.zeros(len(keys), dtype=np.int64)

    def cost(self, tick: Tick) -> Cost:
        """The question, and a publication if there is money for one."""
        return self._as_cost(self._question + self._most(tick.index))

    def _as_cost(self, amount: Fraction) -> Cost:
        return Cost(epsilon=amount) if self.guarantee.kind == "pure" else Cost(rho=amount)

    def _noise_of_the_question(self, source: ByteSource | None) -> IntegerNoise:
        items = self.guarantee.unit.max_items
        if self.guarantee.kind == "pure":
            return DiscreteLaplace(items / self._question, source=source)
        return DiscreteGaussian(Fraction(items**2) / (2 * self._question), source=source)

    def _most(self, tick: int) -> Fraction:
        price = self._price(tick)
        return price if self._saves else min(price, self._question)

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:  # noqa: ARG002 - the most; a quiet tick takes less
        """Ask; measure if it is worth it."""
        price = self._most(counts.tick.index)
        off = int(np.abs(counts.values.reveal() - self._published).sum()) + self._dissimilarity.sample_one()
        if price <= 0 or off <= len(self.keys) * self._scale(price):
            return Measurement(counts.tick, self.keys, None, math.inf, self._as_cost(self._question), self._noise)
        paid = self._as_cost(price)
        values, variance = self._perturbation.measure(counts, paid), self._perturbation.variance(paid)
        taken = self._as_cost(self._question + price)
        return Measurement(counts.tick, self.keys, values, variance, taken, self._noise)

    def _scale(self, price: Fraction) -> float:
        """The error that a publication would have: its noise's scale, or standard deviation if Gaussian."""
        items = self.guarantee.unit.max_items
        return float(items / price) if self.guarantee.kind == "pure" else math.sqrt(items / (2 * float(price)))

    def _lose(self, tick: Tick, cost: Cost) -> None:
        """What a crash lost counts as a publication that nobody saw."""
        self._pay(tick, cost)

    def _pay(self, tick: Tick, cost: Cost) -> None:
        price = self._account.amount(cost) - self._question
        if price > 0:
            self._paid(tick.index, price)

    @abstractmethod
    def _price(self, tick: int) -> Fraction:
        """What a publication at `tick` may cost; 0 if none is allowed."""

    @abstractmethod
    def _paid(self, tick: int, price: Fraction) -> None:
        """Remember a publication."""

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:
        if measurement is None or measurement.values is None:
            # The last one again. It was "not far off" on average over keys; no single key is promised anything.
            return held(np.maximum(self._published.astype(np.float64), 0.0))
        self._pay(tick, measurement.cost)
        self._published = measurement.values
        return as_measured(measurement)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, {"published": self._published}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._published = arrays["published"]
