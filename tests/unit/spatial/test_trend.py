"""The total of a map: followed through a morning, and no surer than its measurements."""

import numpy as np
import pytest

from hubbub.spatial.trend import Trend


def covered(truth, error, seed=1, runs=20):
    """How often, tick by tick, two standard errors hold the truth; measured with Laplace noise."""
    draw, hits = np.random.default_rng(seed), np.zeros(len(truth))
    for _ in range(runs):
        trend = None
        for tick, true in enumerate(truth):
            seen = true + draw.laplace(0, error / np.sqrt(2))
            trend = Trend.begin(seen, error**2) if trend is None else trend.later().with_total(seen, error**2)
            hits[tick] += abs(trend.mean[0] - true) <= 1.96 * np.sqrt(trend.covariance[0, 0])
    return hits / runs


T = np.arange(120)
MORNING = 20000 * (0.2 + 0.8 / (1 + np.exp(-(T - 60) / 12)))


@pytest.mark.parametrize("error", [150, 1500])
def test_a_morning_is_followed(error):
    """One filter alone, which believed in calm, covered 9 to 85 of 100 of these ticks."""
    assert covered(MORNING, error)[40:81].mean() > 0.8
    assert covered(np.full(120, 20000.0), error).mean() > 0.93


def test_a_sudden_change_is_seen_at_the_next_tick():
    truth = np.where(T < 60, 8000.0, 14000.0)
    assert covered(truth, 200)[60:66].mean() > 0.85


def test_an_empty_map_is_not_called_busy():
    """Cut at zero in every tick, its total drifted upwards: one answer in four was surely above none."""
    draw, above = np.random.default_rng(2), 0
    for _ in range(10):
        trend = Trend.begin(draw.laplace(0, 100), 2e4)
        for _ in range(80):
            trend = trend.later().with_total(draw.laplace(0, 100), 2e4)
            above += trend.mean[0] - 1.96 * np.sqrt(trend.covariance[0, 0]) > 0
    assert above / 800 < 0.05


def test_what_was_kept_goes_on_also_from_an_earlier_version():
    trend = Trend.begin(500.0, 100.0).later().with_total(520.0, 100.0)
    again = Trend.from_arrays(trend.to_arrays())
    assert (again.mean == trend.mean).all()
    assert (again.later().covariance == trend.later().covariance).all()
    old = Trend.from_arrays({"trend": trend.mean, "trend_covariance": trend.covariance})
    assert old.level == pytest.approx(trend.level)
    assert old.covariance == pytest.approx(trend.covariance)


def test_a_gap_widens_what_is_known():
    trend = Trend.begin(500.0, 100.0)
    errors = [trend.later(ticks).covariance[0, 0] for ticks in (1, 10, 499, 500, 501, 5000)]
    assert sorted(errors) == errors
    assert np.isfinite(errors).all()
