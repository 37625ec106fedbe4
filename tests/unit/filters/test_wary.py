"""The wary belief: what it knows, what it does not, and how it widens what is told."""

import numpy as np
import pytest

from hubbub.filters import Links, adaptive
from hubbub.filters.belief import Belief
from hubbub.filters.habits import Habits
from hubbub.filters.noises import GaussianNoise, LaplaceNoise
from hubbub.filters.wary import Wary, correct

HABITS = Habits()
B = 20.0


def settled(noise, truth=100.0, ticks=400, seed=1):
    rng = np.random.default_rng(seed)
    wary, told = Wary(np.array([truth]), np.array([1e6])), None
    level = np.array([truth])
    for _ in range(ticks):
        wary = wary.moved(np.zeros(1), B, HABITS)
        z = truth + rng.laplace(0, B, 1)
        wary, told = correct(wary, z, noise, Belief.gaussian(level, np.array([1.0])), level, HABITS)
    return wary, told


@pytest.mark.parametrize("noise", [LaplaceNoise(B), GaussianNoise(2 * B**2)])
def test_its_doubt_settles_where_what_is_seen_balances_what_may_have_changed(noise):
    wary, told = settled(noise)
    assert 0.3 * B < np.sqrt(wary.variance[0]) < 0.7 * B
    assert told.upper[0] - told.lower[0] < 2 * B
    assert told.lower[0] < 100 < told.upper[0]


def test_the_interval_holds_both_beliefs_and_the_error_grows_with_it():
    belief = Belief.gaussian(np.array([50.0, 50.0]), np.array([1.0, 400.0]))
    wary = Wary(np.array([60.0, 50.0]), np.array([25.0, 1.0]))
    told = wary.widened(belief, *wary.ends())
    assert told.lower.tolist() == belief.lower.tolist()
    assert told.upper[0] > 68 > belief.upper[0]
    assert told.upper[1] == belief.upper[1]
    assert told.errors.tolist() == pytest.approx([np.sqrt(125.0), 20.0])
    assert told.values.tolist() == [50.0, 50.0]


def test_it_stays_on_its_leash():
    wary = Wary(np.array([1000.0]), np.array([10.0]))
    level = np.array([100.0])
    belief = Belief.gaussian(level, np.array([1.0]))
    after, told = correct(wary, np.array([100.0]), LaplaceNoise(B), belief, level, HABITS)
    assert after.level[0] == 100 + HABITS.leash * B
    assert told.upper[0] < 100 + (HABITS.leash + 1) * B


def test_another_keys_measurement_does_not_move_it():
    links = Links.of(np.array([[0.5, 0.4], [0.1, 0.5]]))
    start = np.array([100.0, 100.0])
    found = []
    for other in (100.0, 100_000.0):
        state = adaptive.begin(start, start, np.ones(2), 0.0, HABITS)
        state = adaptive.predict(state, links, np.array([30.0, 30.0]), B, HABITS)
        state, _ = adaptive.correct(state, np.array([100.0, other]), LaplaceNoise(B), HABITS)
        found.append(state.wary.level[0])
    assert found[0] == found[1]


def test_whoever_believes_the_model_gets_the_models_interval():
    still = Habits(adaptive=False)
    start = np.array([100.0])
    state = adaptive.begin(start, start, np.zeros(1), 0.0, still)
    state = adaptive.predict(state, Links.of(np.array([[0.5]])), np.array([50.0]), B, still)
    told = adaptive.expect(state, still)
    assert told.upper[0] - told.lower[0] == pytest.approx(2 * 1.96 * np.sqrt(state.variance[0]), rel=1e-3)
    assert adaptive.expect(state, HABITS).upper[0] > told.upper[0]
