"""The grouper's test, drawn many times on two counts that differ by one: it tells no more than its budget.

Joining is one binary event a key, and keys are independent. With Clopper-Pearson bounds at 5e-7 on either side, the
log-ratio of the two chances is above its lower bound except in one run of a million. 60,000 draws let the bound come
within 0.2 of the true ratio, so that noise at 70 % of its scale (true ratio 1.43 where 1 is promised) is found out.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from hubbub.confidential import Counts
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee
from hubbub.release import Pegasus
from hubbub.released import Keys, Snapshot, Tick

MANY = Keys([f"key {i}" for i in range(2000)])
ROUNDS = 30
RATE = 5e-7
GUARANTEE = Guarantee.pure(Event(), 5)  # a fifth of it, 1, pays for the test


class Loud(Pegasus):
    """Tests with 70 % of the noise it should have."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self._test_cost = type(self._test_cost)(epsilon=self._test_cost.epsilon * Fraction(10, 7))


def joined(kind, count, seed):
    """How many of all keys join a group that stands at 100."""
    hits = 0
    with simulation(seed) as source:
        for _ in range(ROUNDS):
            pegasus = kind(MANY, GUARANTEE, source=source)
            state = pegasus.snapshot()
            full = {**state.arrays, "group": np.full_like(state.arrays["group"], 100.0)}
            pegasus.restore(Snapshot(state.kind, state.version, state.facts, full))
            pegasus.release(Counts.of(MANY, Tick(0), np.full(len(MANY), count)))
            hits += int((~np.isnan(pegasus.snapshot().arrays["group"])).all(axis=0).sum())
    return hits


def bound(kind):
    """A lower bound on how much likelier a count of 103 joins than one of 104."""
    draws = ROUNDS * len(MANY)
    one, two = joined(kind, 103, 1), joined(kind, 104, 2)
    low = stats.beta.ppf(RATE, one, draws - one + 1)
    high = stats.beta.ppf(1 - RATE, two + 1, draws - two)
    return math.log(low / high)


def test_the_test_tells_no_more_than_its_budget():
    found = bound(Pegasus)
    assert found <= 1.0
    assert found > 0.8, "the bound is too weak to have found anything"


def test_too_little_noise_is_found_out():
    assert bound(Loud) > 1.0


@pytest.mark.parametrize("away", [97, 103])
def test_counts_on_either_side_are_treated_alike(away):
    draws = ROUNDS * len(MANY)
    chance = joined(Pegasus, away, away) / draws
    noise = Pegasus(Keys(["x"]), GUARANTEE)._perturbation.noise
    pegasus = Pegasus(Keys(["x"]), GUARANTEE)
    wanted = noise(pegasus._test_cost).cdf(math.ceil(pegasus._limit) - 1 - 3)
    assert abs(chance - wanted) < 5.1 * math.sqrt(wanted * (1 - wanted) / draws)  # two sides, together below 1e-6
