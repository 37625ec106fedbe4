"""Perturb, group, smooth: a private test says which ticks belong together, and their noisy counts are averaged."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.mechanism import Estimate, Measurement, Option, Traits
from hubbub.mechanism.kinds import ExactNumber, Whole, Word
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.lpa import as_measured, held
from hubbub.release.releaser import Releaser
from hubbub.released import Cost, Domain, Tick

PERTURBER = Fraction(4, 5)
"""The share of the budget that the noisy counts get; the rest tests who belongs together (Chen et al. 2017: 0.8)."""

APART = "apart"
"""In a measurement: for which keys the test says that a new group begins."""


class Pegasus(Releaser):
    """PeGaSus of Chen, Machanavajjhala, Hay & Miklau 2017, with a grouper that keeps no confidential state.

    The perturber adds noise to every count. The grouper, which looks at the confidential count with a budget of its
    own, tests whether it lies near the group's value so far: then it joins, otherwise a new group begins. The smoother
    releases the median (or average) of the group's noisy counts. The interval is that of the tick's own noisy count,
    widened to hold the value: how much a group gains is promised by nobody.

    The paper's grouper tests the summed deviation of all true counts of an open group. They would have to be kept in
    memory or stored; here the test compares one true count with released values, so that a snapshot stays public.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: of a tick's cost epsilon / max_ticks, four fifths pay for the counts and one for the test, a whole
        number that one unit changes by at most one; both add discrete Laplace noise of scale max_items / cost (or
        Gaussian noise of variance max_items / (2 cost) in rho).
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Chen et al. 2017, section 4 (with another grouper); Dwork & Roth 2014, Prop. 2.1 and Thm 3.16.
        Proof: docs/proofs/pegasus.md (proved).

    >>> from hubbub.privacy import Event
    >>> from hubbub.released import Keys
    >>> stream = Pegasus(Keys(["wifi"]), Guarantee.pure(Event(), 1))
    >>> print(stream.guarantee)
    Each event's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    >>> from hubbub.released import Tick
    >>> stream.cost(Tick(0))
    Cost(epsilon=1)
    """

    name: ClassVar[str] = "pegasus"

    traits: ClassVar[Traits] = Traits(plain=False)

    threshold: Option[Fraction] = Option(
        ExactNumber(),
        Fraction(2),
        "How many scales of the test's noise a count may lie off and still belong to the group.",
    )
    smoother: Option[str] = Option(Word("median", "average"), "median", "What is released of a group.")
    longest: Option[int] = Option(
        Whole(most=10_000),  # as many counts of every key are kept
        20,
        "A group longer than this forgets its oldest counts: state stays bounded, and more would gain little.",
    )

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        even = self._even_cost
        self._count_cost, self._test_cost = _part(even, PERTURBER), _part(even, 1 - PERTURBER)
        test = self._perturbation.noise(self._test_cost)
        # The scale of Laplace noise is its standard deviation over the root of two; Gaussian noise is judged alike.
        self._limit = float(self.threshold) * math.sqrt(test.variance / 2)
        # One row a remembered tick, in a ring; NaN where a key's group does not reach. Noisy counts only.
        self._group = np.full((self.longest, len(keys)), np.nan)
        self._at = 0
        self._last = np.zeros(len(keys))

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        """The test, drawn beside the noisy counts; its outcome, key by key, is part of what was measured."""
        # Whole numbers on both sides: then discrete noise of this scale hides a change of one exactly.
        so_far = np.rint(self._smoothed()).astype(np.int64)
        off = np.abs(counts.values.reveal() - so_far) + self._perturbation.noise(self._test_cost).sample(len(self.keys))
        values = self._perturbation.measure(counts, self._count_cost)
        variance = self._perturbation.variance(self._count_cost)
        apart = {APART: off >= self._limit}
        return Measurement(counts.tick, self.keys, values, variance, cost, self._noise, extra=apart)

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:  # noqa: ARG002
        if measurement is None or measurement.values is None:
            return held(self._last)  # the group stays: the next test decides
        self._group[:, measurement.extra[APART]] = np.nan
        self._group[self._at] = measurement.values
        self._at = (self._at + 1) % len(self._group)
        self._last = np.maximum(self._smoothed(), 0.0)
        raw = as_measured(measurement)
        low, high = np.minimum(raw.lower, self._last), np.maximum(raw.upper, self._last)
        return Estimate(self._last.copy(), raw.standard_errors, low, high)

    def _smoothed(self) -> NDArray[np.float64]:
        """The median or average of each key's group; 0 for a group that nobody is in yet."""
        many = (~np.isnan(self._group)).sum(axis=0)
        if self.smoother == "average":
            average: NDArray[np.float64] = np.nansum(self._group, axis=0) / np.maximum(many, 1)
            return average
        ordered = np.sort(self._group, axis=0)  # NaN goes last
        columns = np.arange(len(self.keys))
        middle = (ordered[np.maximum(many - 1, 0) // 2, columns] + ordered[many // 2 % len(ordered), columns]) / 2
        return np.where(many > 0, middle, 0.0)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"at": self._at}, {"group": self._group.copy(), "last": self._last}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._at, self._group, self._last = facts["at"], arrays["group"], arrays["last"]


def _part(cost: Cost, share: Fraction) -> Cost:
    return Cost(cost.epsilon * share, cost.rho * share)
