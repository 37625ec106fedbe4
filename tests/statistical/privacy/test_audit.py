"""The audit accepts honest mechanisms and catches dishonest ones.

Error rate: each audit below states a confidence of 1 - 1e-7, so an honest mechanism is refused with a chance of at most
1e-7; ten of them stay below 1e-6. Runs: an event with chances p and q is proved to within about
z (sqrt((1 - p)/(p n)) + sqrt((1 - q)/(q n))) of its epsilon, z = 5.3, n half the runs. For noise at 70 % of the scale
(p = 1/2, q = e^(-1/0.7)/2, true epsilon 1.43) n = 6,000 make that 0.26: the bound 1.17 lies 4.5 standard deviations
above the promised 1; the bytes are seeded, so that it stays there. The other cheats gain more and need fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.errors import BudgetExceeded
from hubbub.mechanism import Estimate, Measurement
from hubbub.noise import ByteSource, DiscreteLaplace, simulation
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.privacy.audit import Finding, audit, neighbours
from hubbub.release import Lpa
from hubbub.released import Cost, Keys, Tick

CONFIDENCE = 1 - 1e-7
RUNS = 6000
KEYS = Keys(["front", "news"])
PURE = Guarantee.pure(Session(max_ticks=2), 1)


class TooLittleNoise(Lpa):
    """Noise at 70 % of the scale."""

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        return _louder(self, counts, cost, Fraction(10, 7))


class ReusedNoise(Lpa):
    """One draw for all ticks."""

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        if not hasattr(self, "_drawn"):
            self._drawn = self._perturbation.noise(cost).sample(len(self.keys))
        return _measured(self, counts, cost, self._drawn)


class SharedNoise(Lpa):
    """One draw a tick for all keys."""

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        noise = self._perturbation.noise(cost).sample(1)
        return _measured(self, counts, cost, np.repeat(noise, len(self.keys)))


class SkipsWhatDidNotChange(Lpa):
    """Honest noise, but a tick is measured only if its true counts changed."""

    _before = None

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        now = counts.values.reveal()
        same, self._before = self._before is not None and bool((now == self._before).all()), now
        return Measurement(counts.tick, self.keys, None, 1.0, cost) if same else super()._measure(counts, cost)

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:
        nothing = measurement is None or measurement.values is None
        return super()._estimate(tick, None if nothing else measurement)


class RefusesSome(Lpa):
    """Honest noise, but an error that depends on the true count."""

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        if counts.values.reveal()[0] > 100:
            raise BudgetExceeded("Too much.")
        return super()._measure(counts, cost)


def _louder(lpa: Lpa, counts: Counts, cost: Cost, factor: Fraction) -> Measurement:
    more = Cost(epsilon=cost.epsilon * factor, rho=cost.rho * factor**2)
    return _measured(lpa, counts, cost, lpa._perturbation.noise(more).sample(len(lpa.keys)))


def _measured(lpa: Lpa, counts: Counts, cost: Cost, noise: np.ndarray) -> Measurement:
    return Measurement(counts.tick, lpa.keys, counts.values.reveal() + noise, 1.0, cost)


def run(
    kind: Callable[..., Lpa], guarantee: Guarantee = PURE, ticks: int = 3, runs: int = RUNS, **pair: object
) -> Finding:
    streams = neighbours(guarantee.unit, KEYS, ticks, **pair)

    def make(source: ByteSource) -> Lpa:
        return kind(KEYS, guarantee, source=source)

    with simulation(20260101) as source:
        return audit(lambda: make(source), streams.with_unit, streams.without, runs=runs, confidence=CONFIDENCE)


@pytest.mark.parametrize(
    "guarantee",
    [
        PURE,
        Guarantee.pure(Event(), 1),
        Guarantee.pure(Window(2), "1/2"),
        Guarantee.pure(User(max_ticks=1, horizon=3), 2),
        Guarantee.pure(Session(max_ticks=1, max_items=2), 1),
        Guarantee.zcdp(Session(max_ticks=2), "1/2"),
        Guarantee.approximate(Session(max_ticks=2), 2, "1e-2", allow_weak=True),
    ],
    ids=lambda g: f"{g.kind}-{type(g.unit).__name__}",
)
def test_honest_mechanisms_are_accepted(guarantee: Guarantee) -> None:
    finding = run(Lpa, guarantee, runs=3000)
    assert finding.accepted, finding.verdict


def test_the_bound_is_not_far_below_the_truth() -> None:
    # Otherwise accepting would mean nothing: one tick, all of epsilon in it.
    finding = run(Lpa, Guarantee.pure(Event(), 1), ticks=2)
    assert 0.7 < finding.bound <= 1
    finding = run(Lpa, PURE, runs=10_000)
    assert 0.5 < finding.bound <= 1


def test_caught_noise_at_seventy_percent() -> None:
    finding = run(TooLittleNoise, Guarantee.pure(Event(), 1), ticks=2, runs=12_000)
    assert not finding.accepted, finding.verdict
    finding = run(TooLittleNoise, runs=14_000)
    assert not finding.accepted, finding.verdict


def test_caught_gaussian_noise_at_seventy_percent() -> None:
    finding = run(TooLittleNoise, Guarantee.zcdp(Event(), 2), ticks=2, runs=4000)
    assert not finding.accepted, finding.verdict


def test_caught_noise_reused_between_ticks() -> None:
    finding = run(ReusedNoise, runs=1000)
    assert finding.bound > 3
    assert "change" in finding.event


def test_caught_noise_shared_between_keys() -> None:
    finding = run(SharedNoise, runs=1000)
    assert finding.bound > 3
    assert "minus" in finding.event


def test_caught_a_bound_that_is_not_enforced() -> None:
    # A person in twice as many ticks, or twice as many keys, as the guarantee says.
    finding = run(Lpa, Guarantee.pure(Session(max_ticks=1), 1), present=[1, 2])
    assert not finding.accepted, finding.verdict
    finding = run(Lpa, Guarantee.pure(Session(max_ticks=1), 1), ticks=2, items=2)
    assert not finding.accepted, finding.verdict


def test_caught_a_data_dependent_skip() -> None:
    finding = run(SkipsWhatDidNotChange, runs=1000)
    assert finding.bound > 3
    assert "tick" in finding.event


def test_caught_a_data_dependent_refusal() -> None:
    finding = run(RefusesSome, runs=1000)
    assert finding.bound > 3


def test_one_cheat_that_is_no_cheat() -> None:
    # More noise than promised is accepted, and found to be better than promised.
    class Louder(Lpa):
        def _measure(self, counts: Counts, cost: Cost) -> Measurement:
            return _louder(self, counts, cost, Fraction(1, 2))

    finding = run(Louder, Guarantee.pure(Event(), 1), ticks=2)
    assert finding.accepted
    assert finding.bound <= 0.5


def test_what_the_scale_means() -> None:
    # The cheat of `TooLittleNoise` is what it says.
    assert Lpa(KEYS, PURE)._perturbation.noise(Cost(epsilon=Fraction(5, 7))).variance == pytest.approx(
        DiscreteLaplace(Fraction(14, 10)).variance
    )
