"""Large maps in few bits: no number is told more surely than before, and none is moved far."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.released import Grid, Keys, Release, Tick
from hubbub.released.few_bits import MANY, in_few_bits
from hubbub.store.packing import PackedRelease

MAP = Grid(MANY + 1, 1)


def release(values, errors, keys=MAP, variance=None):
    reach = 1.96 * errors
    measured = None if variance is None else np.rint(values).astype(np.int64)
    return Release(Tick(0), keys, values, errors, values - reach, values + reach, measured, variance)


def drawn(seed, spread):
    draw = np.random.default_rng(seed)
    values = draw.normal(0, spread, len(MAP))
    return release(values, draw.uniform(0.5, 5, len(MAP)), variance=draw.uniform(1, 9, len(MAP)))


@pytest.mark.parametrize("spread", [0.01, 1, 1e3, 1e7, 1e12])
def test_nothing_is_told_more_surely_and_no_number_moves_far(spread):
    before = drawn(1, spread)
    after = in_few_bits(before)
    moved = np.abs(after.values - before.values)
    assert (moved <= before.standard_errors / 16).all()
    assert (after.lower <= before.lower).all()
    assert (after.upper >= before.upper).all()
    assert (after.standard_errors >= before.standard_errors).all()
    assert (after.noise_variance >= before.noise_variance).all()
    assert (after.standard_errors <= before.standard_errors * 1.01).all()
    assert (after.measurements == before.measurements).all()
    assert abs(after.values.sum() - before.values.sum()) <= 4 * np.sqrt((moved**2).sum()) + 1e-9


def test_it_takes_far_fewer_bytes_and_comes_back_bit_for_bit():
    before = drawn(2, 30)
    after = in_few_bits(before)
    large, small = (PackedRelease.of(one) for one in (before, after))
    vectors = ("estimates", "standard_errors", "lower", "upper", "noise_variances")
    assert sum(len(getattr(small, name)) for name in vectors) < 0.4 * sum(len(getattr(large, name)) for name in vectors)
    again = small.unpack(after.tick, MAP, after.cost)
    for name in ("values", "standard_errors", "lower", "upper", "measurements", "noise_variance"):
        assert getattr(again, name).tobytes() == getattr(after, name).tobytes()


def test_done_twice_nothing_happens_the_second_time():
    once = in_few_bits(drawn(3, 100))
    twice = in_few_bits(once)
    for name in ("standard_errors", "lower", "upper", "noise_variance"):
        assert (getattr(twice, name) == getattr(once, name)).all()


def test_a_few_keys_stay_as_they_are():
    one = release(np.array([1 / 3]), np.array([1 / 7]), Keys(["front"]))
    assert in_few_bits(one) is one


def test_what_is_not_known_and_what_is_known_without_an_error():
    endless = np.full(len(MAP), np.inf)
    predicted = Release(Tick(0), MAP, np.zeros(len(MAP)), endless, np.zeros(len(MAP)), endless.copy())
    again = in_few_bits(predicted)
    assert np.isinf(again.upper).all()
    assert np.isinf(again.standard_errors).all()
    exact = release(np.full(len(MAP), 1 / 3), np.zeros(len(MAP)))
    assert (in_few_bits(exact).values == 1 / 3).all()


@given(st.floats(allow_nan=False, width=64), st.floats(1e-300, 1e300))
def test_any_number(value, error):
    values, errors = np.full(len(MAP), value), np.full(len(MAP), error)
    with np.errstate(over="ignore", invalid="ignore"):
        lower, upper = values - errors, values + errors
    one = in_few_bits(Release(Tick(0), MAP, values, errors, lower, upper))
    assert one.lower[0] <= lower[0]
    assert one.upper[0] >= upper[0]
    assert one.standard_errors[0] >= error
