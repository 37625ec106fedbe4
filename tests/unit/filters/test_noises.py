"""The belief under Laplace noise, against integration on a grid."""

import numpy as np
import pytest

from hubbub.filters import observe_laplace
from hubbub.filters.noises import GaussianNoise, LaplaceNoise

CASES = [(0, 400, 30), (0, 1, 500), (100, 1e4, -50), (0, 1e-3, 10), (5, 40, 5), (0, (45 * 20.0) ** 2, 300)]


def grid(mean, variance, measured, scale):
    reach = 12 * np.sqrt(variance)
    points = np.linspace(min(mean - reach, measured - 40 * scale), max(mean + reach, measured + 40 * scale), 2_000_001)
    if reach < 40 * scale:
        points = np.linspace(mean - reach - variance / scale, mean + reach + variance / scale, 2_000_001)
    log = -((points - mean) ** 2) / (2 * variance) - abs(points - measured) / scale
    weights = np.exp(log - log.max())
    area = np.exp(log.max()) * weights.sum() * (points[1] - points[0]) / (np.sqrt(2 * np.pi * variance) * 2 * scale)
    return points, weights / weights.sum(), np.log(area)


@pytest.mark.parametrize(("mean", "variance", "measured"), CASES)
def test_laplace_moments_density_and_quantiles(mean, variance, measured):
    noise = LaplaceNoise(20.0)
    m, v, z = (np.array([float(value)]) for value in (mean, variance, measured))
    points, weights, log_area = grid(mean, variance, measured, 20.0)
    centre = float((points * weights).sum())
    seen = noise.observe(m, v, z)
    deviation = np.sqrt(variance)
    assert float((m + v * seen.pull)[0]) == pytest.approx(centre, abs=1e-5 * deviation)
    spread = float(((points - centre) ** 2 * weights).sum())
    assert float((v - v * v * seen.grip)[0]) == pytest.approx(spread, rel=1e-4)
    assert float(seen.log_density[0]) == pytest.approx(log_area, abs=1e-4)
    below = np.cumsum(weights)
    for chance in (0.025, 0.5, 0.975):
        (point,) = noise.quantiles(m, v, z, [chance])
        assert float(point[0]) == pytest.approx(points[np.searchsorted(below, chance)], abs=1e-3 * deviation)


def test_a_flat_prior_leaves_the_measurement():
    seen = observe_laplace(np.array([0.0]), np.array([1e12]), np.array([5e3]), 20.0)
    assert 1e12 * seen.pull[0] == pytest.approx(5e3, rel=1e-6)
    assert 1e12 - 1e24 * seen.grip[0] == pytest.approx(800.0, rel=1e-2)


def test_gaussian_noise_agrees_with_itself():
    noise = GaussianNoise(9.0)
    m, v, z = np.array([2.0]), np.array([4.0]), np.array([10.0])
    low, middle, high = noise.quantiles(m, v, z, [0.025, 0.5, 0.975])
    assert middle[0] == pytest.approx(2 + 8 * 4 / 13)
    assert high[0] - low[0] == pytest.approx(2 * 1.96 * np.sqrt(36 / 13), rel=1e-4)
    assert noise.scale**2 * 2 == pytest.approx(9.0)
    assert LaplaceNoise(3.0).variance == 18.0


def test_laplace_measurements_are_worth_two_gaussian_ones():
    """Fisher information at low gain: 1/b^2 against 1/(2 b^2). Mean of 200,000 draws: an error of 1.5 %."""
    rng = np.random.default_rng(1)
    z = rng.laplace(0, 20.0, 200_000)
    seen = observe_laplace(np.zeros(len(z)), np.full(len(z), 0.1), z, 20.0)
    assert (seen.pull**2).mean() == pytest.approx(1 / 20.0**2, rel=0.02)
    assert seen.grip.mean() == pytest.approx(1 / 20.0**2, rel=0.08)


@pytest.mark.parametrize("noise", [LaplaceNoise(20.0), GaussianNoise(800.0)])
def test_quantiles_of_a_mixture(noise):
    mean, variance = np.array([[100.0], [400.0]]), np.array([[200.0], [900.0]])
    weights, z = np.array([[0.7], [0.3]]), np.array([300.0])
    draws = np.random.default_rng(2).uniform(size=400_000)
    # A draw from each part by its own quantile function; the mixture's quantiles must match those of the pile.
    parts = [
        np.interp(draws[:200_000], grid, [float(p[0]) for p in noise.quantiles(mean[i], variance[i], z, grid)])
        for i, grid in enumerate([np.linspace(1e-4, 1 - 1e-4, 400)] * 2)
    ]
    pile = np.where(draws[200_000:] < 0.7, parts[0], parts[1])
    for chance, (point,) in zip(
        (0.025, 0.5, 0.975), noise.mixed_quantiles(weights, mean, variance, z, (0.025, 0.5, 0.975)), strict=True
    ):
        # The share below the point has a standard error of at most 0.11 %.
        assert np.mean(pile <= point) == pytest.approx(chance, abs=0.006)
