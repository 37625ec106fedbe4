"""The distributions as their users see them."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import InvalidParameter
from hubbub.noise import DiscreteGaussian, DiscreteLaplace, SystemSource, distribution, simulation
from hubbub.noise.buffer import Buffer
from hubbub.noise.distribution import MOST_DRAWS

SCALES = [Fraction(1, 1000), Fraction(1, 3), 1, 20, 64, 65, 100, 2000, 10**6, 2**40]


def both(scale):
    return DiscreteLaplace(scale), DiscreteGaussian(Fraction(scale) ** 2)


@pytest.mark.parametrize("scale", SCALES)
def test_draws_are_whole_numbers_of_the_right_shape(scale):
    for noise in both(scale):
        for n in (0, 1, 64, 65, 1000, np.int32(7)):
            draws = noise.sample(n)
            assert draws.dtype == np.int64
            assert draws.shape == (n,)
        assert type(noise.sample_one()) is int


@pytest.mark.parametrize("n", [-1, MOST_DRAWS + 1, 10**30, True, np.True_, 1.0, "3", None])
def test_a_wrong_number_of_draws_is_refused(n):
    for noise in both(1):
        with pytest.raises(InvalidParameter):
            noise.sample(n)


@pytest.mark.parametrize("scale", [0, -1, Fraction(1, 1001), 2**40 + 1, float("nan"), float("inf"), "one", None, True])
def test_a_wrong_scale_is_refused(scale):
    with pytest.raises(InvalidParameter):
        DiscreteLaplace(scale)


@pytest.mark.parametrize("variance", [0, -1, Fraction(1, 1_000_001), 2**80 + 1, float("nan"), "x", None, False])
def test_a_wrong_variance_is_refused(variance):
    with pytest.raises(InvalidParameter):
        DiscreteGaussian(variance)


def test_parameters_are_the_decimals_that_they_are_written_as():
    assert DiscreteLaplace(0.1).scale == Fraction(1, 10) != Fraction.from_float(0.1)
    assert DiscreteLaplace("0.1").scale == DiscreteLaplace(Decimal("0.1")).scale == Fraction(1, 10)
    assert DiscreteGaussian("1/3").variance_parameter == Fraction(1, 3)
    assert repr(DiscreteLaplace("1/3")) == "DiscreteLaplace(scale=1/3)"
    assert repr(DiscreteGaussian(400)) == "DiscreteGaussian(variance=400)"


@pytest.mark.parametrize("scale", [Fraction(1, 3), 1, Fraction(7, 2), 20, 99, 101, 300])
def test_what_is_said_about_it_agrees_with_plain_sums(scale):
    for noise in both(scale):
        reach = int(60 * scale) + 60
        k = range(-reach, reach + 1)
        chances = np.exp([noise.log_probability(each) for each in k])
        assert math.fsum(chances) == pytest.approx(1, rel=1e-12)
        assert math.fsum(chances * np.array(k, dtype=float) ** 2) == pytest.approx(noise.variance, rel=1e-9)
        sums = np.cumsum(chances)
        for at in (-3, -1, 0, 1, 5, int(scale), -int(2 * scale)):
            assert noise.cdf(at) == pytest.approx(sums[at + reach], rel=1e-9)
        for p in (1e-6, 0.01, 0.3, 0.5, 0.5001, 0.9, 0.999999):
            assert noise.quantile(p) == k[int(np.searchsorted(sums, p))]


@pytest.mark.parametrize("scale", SCALES)
def test_quantiles_are_where_the_distribution_function_passes(scale):
    for noise in both(scale):
        for p in (1e-300, 1e-30, 0.001, 0.25, 0.5):
            k = noise.quantile(p)
            assert noise.cdf(k - 1) < p <= noise.cdf(k)
        for p in (0.75, 0.999, 1 - 1e-12):
            # -k - 1 is the largest number with at most 1 - p at or below it.
            k, left = noise.quantile(p), float(1 - Fraction(repr(p)))
            assert noise.cdf(-k - 1) <= left < noise.cdf(-k)
        assert noise.quantile(0.5) == 0


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.1, Fraction(1, 10**301), float("nan"), "x", True])
def test_a_wrong_share_is_refused(p):
    for noise in both(1):
        with pytest.raises(InvalidParameter):
            noise.quantile(p)


def test_large_scales_have_the_variance_of_their_continuous_twins():
    assert DiscreteLaplace(2**40).variance == pytest.approx(2.0**81, rel=1e-12)
    assert DiscreteGaussian(2**80).variance == 2.0**80
    assert DiscreteLaplace(Fraction(1, 1000)).variance == 0.0  # 2 exp(-1000), which no float can hold


# ── the buffer ───────────────────────────────────────────────────────────────────────────────────────────────────────


def counting_buffer():
    lock, start = threading.Lock(), [0]

    def draw(count):
        with lock:
            first, start[0] = start[0], start[0] + count
        return np.arange(first, first + count, dtype=np.int64)

    return Buffer(draw, lambda: 0)


def test_threads_never_get_the_same_value():
    buffer = counting_buffer()
    taken: list[int] = []
    ready = threading.Barrier(8)

    def work():
        ready.wait()
        mine = []
        for _ in range(300):
            mine.append(buffer.one())
            mine.extend(buffer.many(20))
        taken.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 8 * 300 * 21


def test_a_buffer_with_another_mark_is_thrown_away():
    mark = [0]
    buffer = Buffer(counting_buffer()._draw, lambda: mark[0])
    first = buffer.many(10)
    mark[0] = 1
    assert min(buffer.many(10)) > max(first)
    assert len(buffer._stock.values) < 256


def test_a_copy_of_a_distribution_has_an_empty_buffer():
    source = SystemSource()
    for noise in (*both(2**40), DiscreteLaplace(2**40, source), DiscreteGaussian(2**80, source)):
        noise.sample_one()
        for twin in (copy.copy(noise), copy.deepcopy(noise), pickle.loads(pickle.dumps(noise))):
            assert repr(twin) == repr(noise)
            assert not twin._buffer._stock.values
            assert [twin.sample_one() for _ in range(5)] != [noise.sample_one() for _ in range(5)]


def test_without_a_mark_nothing_is_drawn_ahead(script):
    source = script(then=0x33)
    noise = DiscreteLaplace(20, source)
    assert noise._buffer is None
    assert noise.sample_one() == noise.sample(1)[0]
    assert source.given < 100


def test_a_seeded_source_may_draw_ahead():
    with simulation(1) as source:
        assert DiscreteLaplace(20, source)._buffer is not None


def test_the_largest_number_of_draws_is_a_bound_on_memory():
    assert distribution.MOST_DRAWS * 8 == 2**31
