"""Days pooled against a month: the score by numerical means, the statistic by hand, alerts in words."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from hubbub.detectors import PooledAlert, PooledDetector, PooledSettings, pooled_statistics
from hubbub.detectors.limits import HIGHEST, LOWEST, RATE, STEP, Limits
from hubbub.detectors.scores import information, score
from hubbub.errors import InvalidParameter, UnknownKey
from hubbub.released import Cost, Keys, Release, Tick

KEYS = Keys(["flu", "cold"])
PLAIN = PooledSettings(knows_weekdays=False)


def density(r, s, b):
    """The convolution of a Gaussian and a Laplace variable, by brute force."""
    value, _ = integrate.quad(
        lambda u: stats.laplace.pdf(r - u, scale=b) * stats.norm.pdf(u, scale=s), -12 * s, 12 * s, points=[r], limit=400
    )
    return value


@pytest.mark.parametrize(("s", "b"), [(1.0, 1.0), (3.0, 0.5), (0.4, 2.0), (5.0, 20.0)])
@pytest.mark.parametrize("r", [-3.1, -0.2, 0.0, 0.7, 4.0])
def test_the_score_is_the_derivative_of_the_log_density(s, b, r):
    step = 1e-3 * b
    slope = (np.log(density(r + step, s, b)) - np.log(density(r - step, s, b))) / (2 * step)
    found = score(np.array([r]), np.array([s]), np.array([b]))[0]
    assert found == pytest.approx(-slope, abs=2e-3 / b)


@pytest.mark.parametrize(("s", "b"), [(1.0, 1.0), (3.0, 0.5), (0.4, 2.0), (100.0, 1.0), (2.0, 0.0)])
def test_information_is_the_variance_of_the_score(s, b):
    rng = np.random.default_rng(1)
    r = rng.normal(0, s, 400_000) + (rng.laplace(0, b, 400_000) if b else 0)
    drawn = (score(r, np.full(r.shape, s), np.full(r.shape, b)) ** 2).mean()
    assert information(np.array([s]), np.array([b]))[0] == pytest.approx(drawn, rel=0.02)


def test_without_noise_the_statistic_is_that_of_means():
    """Poisson scatter about a level of 100 in the baseline; the last five days are 20 higher."""
    rng = np.random.default_rng(2)
    values = rng.poisson(100, (60, 1)).astype(float)
    values[-5:] = 120.0
    found = pooled_statistics(values, PLAIN)
    level = values[-5 - 2 - 28 + 1 : -5 - 2 + 1].mean()
    wanted = 5 * (120 - level) / np.sqrt(5 * max(level, values[26:54].var(ddof=1)) * (1 + 5 / 28))
    assert found.span[-1, 0] in (5, 7)
    assert found.statistic[-1, 0] == pytest.approx(wanted, rel=0.1)


def test_no_baseline_no_statistic():
    assert np.isnan(pooled_statistics(np.ones((29, 1)), PLAIN).statistic).all()
    found = pooled_statistics(np.full((60, 1), 20.0), PLAIN).statistic[:, 0]
    assert np.flatnonzero(~np.isnan(found))[0] == 30  # 28 days, and two of guard


def test_zeros_are_no_outbreak_and_a_single_case_is_none():
    values = np.zeros((50, 1))
    values[-1] = 1
    found = pooled_statistics(values, PLAIN).statistic
    assert np.nanmax(found[:-1]) == 0
    assert found[-1, 0] < 4


def test_one_huge_day_counts_no_more_than_a_large_one():
    values = np.full((60, 2), 50.0)
    values[-1] = 100, 10_000
    found = pooled_statistics(values, PLAIN).statistic[-1]
    assert found[1] == pytest.approx(found[0])


def test_closed_days_do_not_water_an_outbreak_down():
    """Five open days a week: a rise shows as well as where those are all the days there are."""
    rng = np.random.default_rng(6)
    days = rng.poisson(60, (26, 5, 200)).astype(float)
    days[-2:] += 20
    closed = np.concatenate([days, np.zeros((26, 2, 200))], axis=1).reshape(-1, 200)
    quiet = pooled_statistics(closed[: -2 * 7], PooledSettings())
    risen = pooled_statistics(closed, PooledSettings())
    limit = np.quantile(quiet.statistic[-7:], 0.95)
    assert (risen.statistic[-3] > limit).mean() > 0.9  # the last open day
    assert np.abs(quiet.statistic[-7:]).max() < 20


WEEK = np.array([1.3, 1.2, 1.1, 1.1, 1.2, 0.1, 0.0])


@pytest.mark.parametrize("scale", [0, 2, 20])
@pytest.mark.parametrize(("level", "spread", "week"), [(1, 0, False), (20, 0, True), (500, 0.1, True)])
def test_about_as_many_quiet_days_alarm_as_should_at_every_size_and_noise(level, spread, week, scale):
    """A fixed limit of 3 alarms on far fewer, or far more: the control."""
    rng = np.random.default_rng(7)
    usual = level * (WEEK if week else np.ones(7))[np.arange(424) % 7][:, None] * np.ones(20)
    values = rng.poisson(usual * (rng.gamma(1 / spread, spread, usual.shape) if spread else 1.0)).astype(float)
    if scale:
        values += rng.laplace(0, scale, values.shape)
    found = pooled_statistics(values, PooledSettings(), 2.0 * scale**2)
    specificity = 1 - (found.statistic > found.limit)[84:].mean()
    assert 0.94 <= specificity <= 0.98


def test_a_fixed_threshold_stays():
    found = pooled_statistics(np.random.default_rng(8).poisson(9, (90, 3)), PooledSettings(threshold=2.0))
    assert (found.limit == 2.0).all()


def test_the_share_of_alarms_is_what_was_asked_for_whatever_the_series_does():
    rng = np.random.default_rng(9)
    wild = np.where(rng.random((2_000, 3)) < 0.3, 6.0, 0.0) + np.linspace(0, 3, 2_000)[:, None]
    limits, alarms = Limits(3), np.zeros(3)
    for row in wild:
        alarms += row > limits.now
        limits.learn(row)
    assert alarms / 2_000 == pytest.approx(np.full(3, RATE), abs=(HIGHEST - LOWEST) / (STEP * 2_000))
    before = limits.now
    limits.learn(np.full(3, np.nan))
    assert limits.now.tolist() == before.tolist()


def test_pooling_finds_what_a_day_cannot_show():
    """Sixteen cases a day for two weeks under Laplace noise of scale 20: no single day, but all together."""
    rng = np.random.default_rng(3)
    values = rng.poisson(8, (80, 400)) + rng.laplace(0, 20, (80, 400))
    values[-14:] += 16
    pooled = pooled_statistics(values, PLAIN, 800.0).statistic[-1]
    alone = pooled_statistics(values, PooledSettings(longest=1, knows_weekdays=False), 800.0).statistic[-1]
    quiet = pooled_statistics(values[:66], PLAIN, 800.0).statistic[-1]
    assert (pooled > np.quantile(quiet, 0.95)).mean() > 0.3
    assert (alone > np.quantile(quiet, 0.95)).mean() < 0.2


def test_gaussian_noise_has_its_own_score():
    rng = np.random.default_rng(4)
    values = rng.poisson(8, (50, 3)) + rng.normal(0, 28, (50, 3))
    gaussian = pooled_statistics(values, PLAIN, 800.0, laplace=False).statistic[-1]
    assert gaussian != pytest.approx(pooled_statistics(values, PLAIN, 800.0).statistic[-1])


def test_weekdays_are_taken_out():
    week = np.array([100.0, 100, 100, 100, 100, 20, 20])
    values = np.tile(week, 14)[:, None]
    assert np.nanmax(pooled_statistics(values, PooledSettings()).statistic[75:]) < 1


@pytest.mark.parametrize("wrong", [{"longest": 0}, {"longest": 29}, {"longest": True}, {"threshold": float("nan")}])
def test_settings_are_checked(wrong):
    with pytest.raises(InvalidParameter):
        PooledSettings(**wrong)


def release(tick, values, measured=True, keys=KEYS, cost=None):
    numbers = np.array(values, dtype=float)
    whole = numbers.astype(np.int64) if measured else None
    variance = 8.0 if measured else None
    cost = cost or Cost(epsilon=Fraction(1, 2))
    return Release(Tick(tick), keys, numbers, numbers * 0 + 3, numbers, numbers, whole, variance, cost)


@pytest.mark.parametrize("cost", [Cost(epsilon=Fraction(1, 2)), Cost(rho=Fraction(1, 2))])
def test_day_by_day_as_all_at_once(cost):
    settings = PooledSettings(longest=3, threshold=-1e9)
    values = np.random.default_rng(2).poisson((20, 90), (165, 2))
    detector = PooledDetector(KEYS, settings)
    wanted = pooled_statistics(values, settings, 8.0, laplace=not cost.rho).statistic
    for day, row in enumerate(values):
        alerts = detector.see(release(day, row, cost=cost))
        if day in (40, 90, 130, 150, 164):
            assert [a.statistic for a in alerts] == pytest.approx(wanted[day])


def test_an_alert_says_why_and_a_predicted_day_never_alarms():
    detector = PooledDetector(KEYS)
    for day in range(50):
        assert detector.see(release(day, (20 + day % 3, 50))) == []
    assert detector.see(release(50, (500, 50), measured=False)) == []
    detector = PooledDetector(KEYS, PooledSettings(threshold=2.5))
    for day in range(50):
        detector.see(release(day, (20 + day % 3, 50)))
    (alert,) = detector.see(release(50, (70, 50)))
    assert str(alert).startswith("flu, tick 50: 49 more than usual were measured in this tick")
    with pytest.raises(UnknownKey):
        detector.see(release(51, (1, 1), keys=Keys(["a", "b"])))


def test_ticks_that_are_no_days_are_not_called_so():
    bare, day = Tick(3), Tick(3, datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=1))
    assert "in the last 3 ticks together" in PooledAlert("flu", bare, 3, 20.0, 31.0, 4.2, 4.0).reason
    assert "about 20 a tick were usual in the 28 before" in PooledAlert("flu", bare, 3, 20.0, 31.0, 4.2, 4.0).reason
    assert "in the last 3 days together" in PooledAlert("flu", day, 3, 20.0, 31.0, 4.2, 4.0).reason
    assert "about 20 a day were usual in the month before" in PooledAlert("flu", day, 3, 20.0, 31.0, 4.2, 4.0).reason
    week = Tick(3, datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=7))
    assert "in the last 3 ticks together" in PooledAlert("flu", week, 3, 20.0, 31.0, 4.2, 4.0).reason
    assert "were usual in the 28 before" in PooledAlert("flu", week, 1, 20.0, 31.0, 4.2, 4.0).reason
