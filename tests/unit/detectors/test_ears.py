"""EARS: the statistics by hand, what they do without a baseline or a deviation, and alerts in words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hubbub.detectors import EarsDetector, EarsSettings, ears_statistics
from hubbub.errors import InvalidParameter, UnknownKey
from hubbub.released import Keys, Release, Tick

PLAIN = {"knows_noise": False, "knows_weekdays": False}
KEYS = Keys(["flu", "cold"])


def by_hand(values, kind):
    """The definition, one day at a time."""
    gap = 0 if kind == "C1" else 2
    c = np.full(len(values), np.nan)
    for k in range(7 + gap, len(values)):
        base = values[k - 7 - gap : k - gap]
        c[k] = (values[k] - np.mean(base)) / max(np.std(base, ddof=1), 0.5)
    if kind != "C3":
        return c
    return np.array([np.nan] * 2 + [sum(max(0.0, c[j] - 1) for j in (k, k - 1, k - 2)) for k in range(2, len(c))])


@pytest.mark.parametrize("kind", ["C1", "C2", "C3"])
def test_the_statistics_are_those_of_the_definition(kind):
    values = np.random.default_rng(1).poisson(20, 40).astype(float)
    found = ears_statistics(values[:, None], EarsSettings(kind, **PLAIN))[:, 0]
    wanted = by_hand(values, kind)
    defined = ~np.isnan(found)
    assert found[defined] == pytest.approx(wanted[defined])
    assert np.flatnonzero(defined)[0] == {"C1": 7, "C2": 9, "C3": 11}[kind]


@pytest.mark.parametrize("days", [1, 2, 7, 9])
def test_too_few_days_have_no_statistic(days):
    for kind in ("C2", "C3"):
        assert np.isnan(ears_statistics(np.ones((days, 1)), EarsSettings(kind))).all()


def test_no_deviation_is_not_infinite():
    flat = np.zeros((12, 1))
    flat[11] = 1
    assert ears_statistics(flat, EarsSettings("C1", **PLAIN))[11, 0] == 2.0  # one case beside a floor of a half


def test_known_noise_keeps_a_quiet_week_from_alarming():
    """Seven nearly equal days by luck: a plain deviation is tiny, the noise's is not."""
    lucky = np.array([[20.0], [21], [20], [20], [21], [20], [20], [40]])
    plain, knowing = (ears_statistics(lucky, EarsSettings("C1", knows_noise=k), 800.0)[7, 0] for k in (False, True))
    assert plain > 30
    assert 0 < knowing < 1


def test_weekdays_are_taken_out():
    week = np.array([100.0, 100, 100, 100, 100, 20, 20])
    values = np.tile(week, 12)[:, None]
    knowing = ears_statistics(values, EarsSettings("C1", knows_weekdays=True))
    assert np.nanmax(np.abs(knowing[70:])) < 0.6
    assert np.nanmax(np.abs(ears_statistics(values, EarsSettings("C1"))[70:])) > 1


@pytest.mark.parametrize(
    "wrong", [{"kind": "C4"}, {"threshold": float("nan")}, {"least": 0.0}, {"least": float("inf")}]
)
def test_settings_are_checked(wrong):
    with pytest.raises(InvalidParameter):
        EarsSettings(**wrong)


def release(tick, values, measured=True, keys=KEYS):
    numbers = np.array(values, dtype=float)
    whole = numbers.astype(np.int64) if measured else None
    return Release(Tick(tick), keys, numbers, numbers * 0 + 3, numbers, numbers, whole, 8.0 if measured else None)


@pytest.mark.parametrize("knows_weekdays", [False, True])
@pytest.mark.parametrize("kind", ["C1", "C2", "C3"])
def test_day_by_day_as_all_at_once(kind, knows_weekdays):
    settings = EarsSettings(kind, knows_weekdays=knows_weekdays, threshold=-1e9)
    values = np.random.default_rng(2).poisson((20, 90), (110, 2))
    detector = EarsDetector(KEYS, settings)
    wanted = ears_statistics(values, settings, 8.0)
    for day, row in enumerate(values):
        alerts = detector.see(release(day, row))
        if not np.isnan(wanted[day]).any() and (not knows_weekdays or day > 75):
            assert [a.statistic for a in alerts] == pytest.approx(wanted[day])


def test_an_alert_says_why():
    detector = EarsDetector(KEYS, EarsSettings("C3"))
    for day in range(12):
        assert detector.see(release(day, (20 + day % 3, 50))) == []
    (alert,) = detector.see(release(12, (70, 50)))
    assert str(alert).startswith("flu, tick 12: C3 is ")
    assert "three ticks together" in alert.reason, "nobody said that ticks are days"
    assert "in the 7 ticks of its baseline" in alert.reason
    daily = replace(alert, tick=Tick(12, datetime(2026, 1, 13, tzinfo=UTC), timedelta(days=1)))
    assert "three days together" in daily.reason
    assert "in the week of its baseline" in daily.reason
    assert "70 was measured" in alert.reason


def test_a_predicted_day_never_alarms():
    detector = EarsDetector(KEYS)
    for day in range(12):
        detector.see(release(day, (20, 50)))
    assert detector.see(release(12, (500, 50), measured=False)) == []
    with pytest.raises(UnknownKey):
        detector.see(release(13, (1, 1), keys=Keys(["a", "b"])))
