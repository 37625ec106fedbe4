"""Plans for noise: what they promise, what they refuse, and that the bounds they rest on hold."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import InvalidParameter
from hubbub.gather.noise import (
    GaussianShares,
    LaplaceShares,
    ServersGaussian,
    ServersLaplace,
    _step,
    gaussian_blur,
    honest_shares,
)
from hubbub.gather.opened import Opened
from hubbub.noise import DiscreteGaussian, DiscreteLaplace

ALL = [
    ServersLaplace.of("1/2", 2),
    ServersGaussian.of("1/8", 4),
    LaplaceShares.of(1, 3, minimum=50, lying=10),
    GaussianShares.of(3, 4, length=5, minimum=50, lying=10),
]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ServersLaplace.of(0, 1), "epsilon"),
        (lambda: ServersLaplace.of(1, 0), "sensitivity"),
        (lambda: ServersLaplace.of(10**6, 1), "scale"),
        (lambda: ServersGaussian.of(-1, 1), "rho"),
        (lambda: ServersGaussian.of(10**9, 1), "variance"),
        (lambda: LaplaceShares.of(1, 1, minimum=2), "no noise is left"),
        (lambda: LaplaceShares.of(1, 1, minimum=10, lying=9), "no noise is left"),
        (lambda: LaplaceShares.of(1, 1, minimum=10, lying=0), "lying"),
        (lambda: LaplaceShares.of(1, 5000, minimum=10), "scale"),
        (lambda: GaussianShares.of("1/5", 1, 1, minimum=10), "at least 1/4"),
        (lambda: GaussianShares.of(1, 1, 1, minimum=10).epsilon(0), "delta"),
        (lambda: honest_shares(0, 1), "minimum"),
    ],
)
def test_plans_that_are_refused(make, words):
    with pytest.raises(InvalidParameter, match=words):
        make()


@pytest.mark.parametrize("plan", ALL, ids=lambda plan: plan.kind)
def test_what_every_plan_tells(plan):
    assert plan.draw(7).shape == (7,)
    assert "factor e^" in plan.promise
    assert 0 < plan.strength < 10
    assert plan.parameters["kind"] == plan.kind
    assert plan.reach(100) ** 2 > plan.variance(100) > 0
    assert (plan.variance(200) > plan.variance(100)) == plan.from_clients


def test_the_person_and_whoever_looks_are_taken_off():
    assert honest_shares(100, 1) == 98
    plan = LaplaceShares.of(1, 1, minimum=100, lying=40)
    assert plan.parts == 59
    assert plan.share.total.scale == 1
    # Exactly the worst case allowed: noise of 59 honest others.
    assert plan.variance(59) == pytest.approx(DiscreteLaplace(1).variance)


# ── sums of discrete Gaussians ───────────────────────────────────────────────────────────────────────────────────────


def chances(variance: float, reach: int) -> np.ndarray:
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    return weights / weights.sum()


@pytest.mark.parametrize("variance", [0.25, 0.3, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("parts", [2, 3, 5, 9])
def test_the_blur_bounds_how_far_a_sum_is_from_gaussian(variance, parts):
    """Probabilities by plain convolution, as far out as a double carries them."""
    reach = math.ceil(9 * math.sqrt(variance * parts)) + 3
    total = one = chances(variance, reach)
    for _ in range(parts - 1):
        total = np.convolve(total, one)
    middle = len(total) // 2
    whole = chances(variance * parts, reach)
    inside = slice(middle - reach, middle + reach + 1)
    seen = whole > 1e-12
    off = np.abs(np.log(total[inside][seen] / whole[seen]))
    assert off.max() <= gaussian_blur(variance, parts) + 1e-9
    if variance <= 0.5:
        assert off.max() > gaussian_blur(variance, parts) / 30  # the bound is not idle


def test_the_blur_of_many_parts_is_summed_to_the_safe_side():
    exactly = sum(_step(0.5 * k / (k + 1)) for k in range(1, 3000))
    assert exactly <= gaussian_blur(0.5, 3000) <= exactly * 1.01
    assert gaussian_blur(1.0, 1) == 0
    assert gaussian_blur(4.0, 10**6) < 1e-9


@pytest.mark.parametrize(("variance", "parts", "change"), [(0.5, 8, 1), (1.0, 12, 2), (2.0, 20, 1)])
def test_the_privacy_loss_of_a_sum_exceeds_epsilon_as_rarely_as_said(variance, parts, change):
    """In one number, from the convolution: P[loss > epsilon(delta)] <= delta."""
    plan = GaussianShares.of(variance, change**2, length=1, minimum=parts + 2)
    assert plan.parts == parts
    reach = math.ceil(12 * math.sqrt(variance * parts))
    total = one = chances(variance, reach)
    for _ in range(parts - 1):
        total = np.convolve(total, one)
    moved = np.roll(total, change)
    seen = (total > 1e-290) & (moved > 1e-290)
    loss = np.log(total[seen] / moved[seen])
    for delta in (1e-2, 1e-4, 1e-6):
        assert total[seen][loss > plan.epsilon(delta)].sum() <= delta
        # Control: half of that epsilon is exceeded more often.
        assert total[seen][loss > plan.epsilon(delta) / 2].sum() > delta


# ── intervals ────────────────────────────────────────────────────────────────────────────────────────────────────────


def transform_of_laplace(scale: float, size: int) -> np.ndarray:
    q = math.exp(-1 / scale)
    return np.abs((1 - q) / (1 - q * np.exp(-2j * np.pi * np.arange(size) / size))) ** 2


@pytest.mark.parametrize("times", [1.0, 1.5, 2.0, 4.0])
def test_intervals_cover_19_of_20_at_every_scale(times):
    """Noise of both servers (2), or of shares: as many as needed (1), and more. Small scales are the hard ones: noise
    is lumpy there."""
    for scale in [*np.linspace(0.05, 3, 120), 5, 10, 50, 300]:
        size = 1 << 14
        spread = np.fft.ifft(transform_of_laplace(scale, size) ** times).real
        places = np.minimum(np.arange(size), size - np.arange(size))
        variance = times * DiscreteLaplace(Fraction(float(scale)).limit_denominator(10**6)).variance
        (value,) = Opened("", [0], 1, 1, variance, "").values
        assert spread[places <= value.upper].sum() >= 0.95


def test_intervals_of_gaussian_noise():
    for variance in (0.25, 0.5, 1.0, 3.0, 100.0):
        whole = chances(variance, 200)
        (value,) = Opened("", [0], 1, 1, DiscreteGaussian(Fraction(variance)).variance, "").values
        assert whole[np.abs(np.arange(-200, 201)) <= value.upper].sum() >= 0.95
