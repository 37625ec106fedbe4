"""The bank of filters against independent oracles: fine integrals, sorted samples, the Kalman filter."""

import numpy as np
import pytest

from hubbub.filters import bank, particle
from hubbub.filters.mixture import LogMixture
from hubbub.filters.noise_shape import NoiseShape
from hubbub.models.shapes import Shapes


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize(
    ("mean", "deviation", "measured", "scale"),
    [
        (5.0, 0.5, 200.0, 20.0),
        (5.0, 2.0, -300.0, 150.0),
        (8.0, 0.05, 3500.0, 400.0),
        (3.0, 1.0, 25.0, 1.0),
        (6, 1, 403, 0.5),
    ],
)
def test_a_measurement_moves_a_belief_as_the_integral_says(mean, deviation, measured, scale, gaussian):
    noise = NoiseShape(np.array([scale]), gaussian)
    after, left, evidence = bank._integrate(np.array([[mean]]), np.array([[deviation**2]]), np.array([measured]), noise)
    y = np.linspace(mean - 9 * deviation, mean + 9 * deviation, 4_000_001)
    log = -0.5 * ((y - mean) / deviation) ** 2 - np.log(deviation * np.sqrt(2 * np.pi))
    away = measured - np.exp(y)
    log += -0.5 * (away / scale) ** 2 - np.log(scale * np.sqrt(2 * np.pi)) if gaussian else (
        -np.abs(away) / scale - np.log(2 * scale)
    )  # fmt: skip
    mass = np.exp(log - log.max())
    step = y[1] - y[0]
    wanted = (mass * y).sum() / mass.sum()
    spread = (mass * (y - wanted) ** 2).sum() / mass.sum()
    assert after[0, 0] == pytest.approx(wanted, abs=0.02 * np.sqrt(spread))
    assert left[0, 0] == pytest.approx(spread, rel=0.05)
    assert evidence[0, 0] == pytest.approx(np.log(mass.sum() * step) + log.max(), abs=0.02)


def test_many_exact_looks_make_the_right_model_win():
    rng = np.random.default_rng(4)
    shapes = Shapes.usual()
    state = bank.start(shapes, 1, np.log(1000))
    for tick in range(80):
        value = 1000 * np.exp(rng.normal(0, 0.12))
        state = bank.predict(state, shapes)
        noise = NoiseShape(np.array([1.0]))
        state, belief = bank.correct(state, shapes, tick, np.array([np.rint(value)]), noise, 1.0)
    weights = np.exp(state.log_weights[0])
    assert weights.sum() == pytest.approx(1)
    white = (weights * shapes.white).sum()
    assert white == pytest.approx(0.12, abs=0.03)
    assert belief.quantiles(np.array([0.5]), np.zeros(1))[0, 0] == pytest.approx(value, rel=0.02)


def test_a_season_is_learned_from_looks():
    shapes = Shapes.usual([7])
    state = bank.start(shapes, 1, np.log(500))
    week = 500 * np.exp(0.4 * np.sin(2 * np.pi * np.arange(7) / 7))
    for tick in range(56):
        state = bank.predict(state, shapes)
        noise = NoiseShape(np.array([5.0]))
        state, _ = bank.correct(state, shapes, tick, np.array([np.rint(week[tick % 7])]), noise, 1.0)
    for tick in range(56, 63):
        state = bank.predict(state, shapes)
        middle = bank.believe(state, shapes, tick).quantiles(np.array([0.5]), np.zeros(1))[0, 0]
        assert middle == pytest.approx(week[tick % 7], rel=0.08)


@pytest.mark.parametrize("rows", [1, 20])
def test_quantiles_against_a_sample(rows):
    rng = np.random.default_rng(5)
    mean, variance = rng.normal(6, 0.5, (rows, 4)), rng.uniform(0.01, 0.3, (rows, 4))
    weights = rng.dirichlet(np.ones(4), rows)
    shares, lean = np.array([0.025, 0.5, 0.975]), np.array([0.0, 0.0, 0.0])
    found = LogMixture(mean, variance, np.log(weights)).quantiles(shares, lean)
    for row in range(rows):
        model = rng.choice(4, 200_000, p=weights[row])
        sample = np.exp(rng.normal(mean[row, model], np.sqrt(variance[row, model])))
        assert found[:, row] == pytest.approx(np.quantile(sample, shares), rel=0.02)


def test_leaning_fully_gives_the_least_relative_error():
    rng = np.random.default_rng(6)
    mixture = LogMixture(np.array([[5.0, 7.0]]), np.array([[0.3, 0.2]]), np.log([[0.4, 0.6]]))
    point = mixture.quantiles(np.array([0.5]), np.ones(1))[0, 0]
    model = rng.choice(2, 400_000, p=[0.4, 0.6])
    sample = np.exp(rng.normal(np.array([5.0, 7.0])[model], np.sqrt(np.array([0.3, 0.2])[model])))
    grid = np.geomspace(20, 3000, 300)
    errors = [np.mean(np.abs(r - sample) / sample) for r in grid]
    assert np.mean(np.abs(point - sample) / sample) <= min(errors) * 1.001


def test_particles_follow_the_integral():
    """A uniform start, one step of a walk and one Laplace measurement, against sums on a fine grid."""
    randomness = np.random.default_rng(7)
    half, walk, measured, scale = 35.0, 10.0, 130.0, 20.0
    cloud = particle.scatter(np.array([100.0]), half, 200_000, randomness)
    cloud = particle.predict(cloud, walk**2, randomness)
    weights = particle.weigh(cloud, np.array([measured]), NoiseShape(np.array([scale])))
    x = np.linspace(0, 200, 2001)
    start = x[np.abs(x - 100) <= half]
    prior = np.exp(-0.5 * ((x[:, None] - start) / walk) ** 2).sum(axis=1)
    after = prior * np.exp(-np.abs(measured - x) / scale)
    mean = (weights * cloud).sum()
    assert mean == pytest.approx((x * after).sum() / after.sum(), abs=0.3)  # five standard errors of 200,000 particles
    assert particle.resample(cloud, weights, 0.5).mean() == pytest.approx(mean, abs=0.05)


def test_a_lean_may_differ_from_series_to_series():
    mixture = LogMixture(np.array([[5.0], [5.0]]), np.array([[0.4], [0.4]]), np.zeros((2, 1)))
    found = mixture.quantiles(np.array([0.5]), np.array([[0.0, 1.0]]))
    assert found[0] == pytest.approx(np.exp([5.0, 4.6]), rel=1e-3)


def test_the_spread_is_within_models_and_between_them():
    mixture = LogMixture(np.array([[4.0, 6.0]]), np.array([[0.1, 0.3]]), np.log([[0.5, 0.5]]))
    assert mixture.spread() == pytest.approx(0.2 + 1.0)


def test_low_shapes_reach_from_the_others_down_to_one():
    shapes = Shapes.usual(centre=7.0)
    state = bank.start(shapes, 1, 7.0)
    assert sorted(set(state.mean[0, :, 0].round(6))) == [0.0, 2.0, 4.0, 7.0]
    assert np.exp(shapes.log_prior[shapes.offset < 0]).sum() == pytest.approx(0.25)
    assert set(Shapes.usual(centre=1.0).offset) == {0.0, -3.0}


@pytest.mark.parametrize("value", [1.0, 20.0, 400.0])
def test_the_expected_relative_error_against_a_sample(value):
    rng = np.random.default_rng(8)
    mixture = LogMixture(np.array([[0.5, 5.0]]), np.array([[4.0, 0.2]]), np.log([[0.4, 0.6]]))
    model = rng.choice(2, 400_000, p=[0.4, 0.6])
    sample = np.exp(rng.normal(np.array([0.5, 5.0])[model], np.sqrt(np.array([4.0, 0.2])[model])))
    wanted = np.mean(np.abs(value - sample) / np.maximum(sample, 1))
    assert mixture.relative_error(np.array([value]))[0] == pytest.approx(wanted, rel=0.02)


def test_a_jump_leaves_a_season_as_it_was():
    shapes = Shapes.usual([7])
    state = bank.start(shapes, 1, np.log(500))
    noise = NoiseShape(np.array([5.0]))
    week = np.exp(0.4 * np.sin(2 * np.pi * np.arange(7) / 7))
    for tick in range(70):
        level = 500 if tick < 63 else 50_000
        state, belief = bank.correct(
            bank.predict(state, shapes), shapes, tick, np.array([np.rint(level * week[tick % 7])]), noise, 1.0
        )
        if tick == 63:
            assert belief.quantiles(np.array([0.5]), np.zeros(1))[0, 0] == pytest.approx(50_000, rel=0.01)
            after = bank.believe(bank.predict(state, shapes), shapes, 64).quantiles(np.array([0.5]), np.zeros(1))[0, 0]
            assert after == pytest.approx(50_000 * week[1], rel=0.1)
    assert np.linalg.eigvalsh(state.covariance[0]).min() > -1e-9
