"""Thresholds of the discrete noise, held against the exact distribution."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hubbub.itemlogs.thresholds import UNIT, gaussian_threshold, indistinguishable, probabilistic, tail
from hubbub.itemlogs.zealous import Zealous
from hubbub.noise import DiscreteGaussian, DiscreteLaplace


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(10), Fraction(2000)])
@pytest.mark.parametrize("margin", [0, 1, 7, 400])
def test_the_tail_is_never_too_small_and_tight(scale, margin):
    exactly = DiscreteLaplace(scale).cdf(-margin - 1)
    assert exactly * (1 - 1e-12) <= float(tail(scale, margin)) <= exactly * (1 + 1e-9)


@pytest.mark.parametrize("m", [1, 3, 10])
@pytest.mark.parametrize("delta", [Fraction(1, 1000), Fraction(1, 10**9), Fraction(1, 10**250)])
def test_the_margin_is_the_smallest_that_keeps_delta(m, delta):
    found = indistinguishable(Fraction(1), delta, m)
    assert m * tail(found.scale, found.margin) <= delta < m * tail(found.scale, found.margin - 1)
    assert indistinguishable(Fraction(1), delta, m, keep=5).publish == found.publish + 4


def test_the_probabilistic_thresholds_keep_both_conditions():
    found = probabilistic(Fraction(1), Fraction(1, 10**6), 10, 100_000)
    slips = tail(found.scale, found.margin)
    assert 10 * 100_000 // found.keep * slips <= Fraction(1, 10**6)
    assert float(slips) <= -math.expm1(-0.1)


def test_few_users_leave_the_other_condition():
    """One user and a tau above m: no item can have a count of tau, but its absence must not tell more than a count."""
    found = probabilistic(Fraction(1, 2), Fraction(1, 100), 2, 1, keep=3)
    assert float(tail(found.scale, found.margin)) <= -math.expm1(-0.25)


@pytest.mark.parametrize(
    ("count", "keep", "users"), [(1, 1, None), (3, 3, None), (2, 2, 50), (5, 2, 50), (12, 1, None)]
)
def test_the_exact_divergence_of_neighbouring_logs_is_within_delta(count, keep, users):
    """m = 1, so a log is one item's count for all that matters: the whole distribution of the output, both ways."""
    epsilon, delta = Fraction(1), Fraction(1, 100)
    method = Zealous(epsilon, delta, 1, keep=keep, users=users, allow_weak=True)
    reach = np.arange(method.thresholds.publish + 1, method.thresholds.publish + 400)

    def distribution(c):
        if c < keep:
            return np.append(np.zeros(len(reach)), 1.0)
        shown = np.exp([method._noise.log_probability(int(y - c)) for y in reach])
        return np.append(shown, method.miss_probability(c))

    one, other = distribution(count), distribution(count - 1)
    for p, q in ((one, other), (other, one)):
        assert np.sum(np.maximum(0, p - math.exp(epsilon) * q)) <= float(delta) * (1 + 1e-9)
        if users is not None:  # outputs outside of a set of probability delta under p keep the ratio both ways
            bad = (p > math.exp(epsilon) * q * (1 + 1e-9)) | (q > math.exp(epsilon) * p * (1 + 1e-9))
            assert np.sum(p[bad]) <= float(delta) / (50 // keep) * (1 + 1e-9)


@pytest.mark.parametrize("sigma", [2, 5, 300])
@pytest.mark.parametrize("m", [1, 4, 100])
def test_the_gaussian_threshold_holds_for_the_discrete_noise(sigma, m):
    variance = Fraction(UNIT * sigma) ** 2
    delta = Fraction(1, 10**6)
    threshold = gaussian_threshold(variance, delta, m)
    noise = DiscreteGaussian(variance)
    worst = max(t * noise.cdf(-(threshold + 1 - math.isqrt(UNIT**2 // t))) for t in range(1, m + 1))
    assert 0.999 * float(delta) < worst <= float(delta)
