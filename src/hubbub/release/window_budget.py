"""What BD and BA have in common: a private look at how much changed, then publish or repeat (Kellaris et al. 2014)."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.noise import ByteSource, DiscreteGaussian, DiscreteLaplace, IntegerNoise
from hubbub.privacy import Guarantee, Window
from hubbub.release.lpa import CONFIDENCE
from hubbub.release.releaser import Estimate, Releaser
from hubbub.released import Cost, Keys, Release, Tick


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

    def __init__(self, keys: Keys, guarantee: Guarantee, *, source: ByteSource | None = None) -> None:
        super().__init__(keys, guarantee, source=source)
        unit = guarantee.unit
        self.window = unit.max_ticks
        self._saves = isinstance(unit, Window)
        self._question = guarantee.budget / (2 * self.window)
        self._dissimilarity = self._noise_of_the_question(source)
        self._published = np.zeros(len(keys), dtype=np.int64)
        self._error = np.inf
        self._reach = np.inf

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

    def release(self, counts: Counts) -> Release:
        """Ask; publish if it is worth it. The maximum is checked before anything is drawn."""
        cost = self.check(counts)
        self._skip_to(counts.tick)
        spent = cost  # if anything goes wrong once drawing has begun, the whole maximum counts as spent
        try:
            price = self._most(counts.tick.index)
            off = int(np.abs(counts.values.reveal() - self._published).sum()) + self._dissimilarity.sample_one()
            worth = price > 0 and off > len(self.keys) * self._scale(price)
            measured = self._perturbation.measure(counts, self._as_cost(price)) if worth else None
            spent = self._as_cost(self._question + (price if worth else 0))
        finally:
            self._account.charge(counts.tick.index, spent)
            self._next = counts.tick.index + 1
        if measured is None:
            return self._publish(counts.tick, self._repeat(), None, None, spent)
        self._paid(counts.tick.index, price)
        variance = self._perturbation.noise(self._as_cost(price)).variance
        return self._publish(counts.tick, self._correct(measured, self._as_cost(price)), measured, variance, spent)

    def _scale(self, price: Fraction) -> float:
        """The error that a publication would have: its noise's scale, or standard deviation if Gaussian."""
        items = self.guarantee.unit.max_items
        return float(items / price) if self.guarantee.kind == "pure" else math.sqrt(items / (2 * float(price)))

    def predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        """As every releaser; what a crash lost counts as a publication that nobody saw."""
        release = super().predict(tick, lost)
        if lost is not None and (amount := self._account.amount(lost)) > self._question:
            self._paid(tick.index, amount - self._question)
        return release

    @abstractmethod
    def _price(self, tick: int) -> Fraction:
        """What a publication at `tick` may cost; 0 if none is allowed."""

    @abstractmethod
    def _paid(self, tick: int, price: Fraction) -> None:
        """Remember a publication."""

    def _correct(self, measurements: NDArray[np.int64], cost: Cost) -> Estimate:
        noise = self._perturbation.noise(cost)
        self._published = measurements
        self._error = math.sqrt(noise.variance)
        self._reach = float(noise.quantile(Fraction(1 + Fraction(str(CONFIDENCE)), 2)))
        raw = measurements.astype(np.float64)
        error = np.full(len(self.keys), self._error)
        low, high = np.maximum(raw - self._reach, 0.0), np.maximum(raw + self._reach, 0.0)
        return Estimate(np.maximum(raw, 0.0), error, low, high)

    def _repeat(self) -> Estimate:
        """The last publication. It was found "not far off" on average over keys; no single key is promised anything."""
        nothing = np.full(len(self.keys), np.inf)
        values = np.maximum(self._published.astype(np.float64), 0.0)
        return Estimate(values, nothing, np.zeros(len(self.keys)), nothing.copy())

    def _predict(self) -> Estimate:
        return self._repeat()

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"error": str(self._error), "reach": str(self._reach)}, {"published": self._published}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._error, self._reach = float(facts["error"]), float(facts["reach"])
        self._published = arrays["published"]
