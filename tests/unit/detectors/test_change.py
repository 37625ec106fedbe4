"""Changes beyond the noise, and silence where there is only noise."""

import numpy as np
import pytest

from hubbub.detectors import Change, ChangeDetector
from hubbub.detectors.change import BASELINE, RECENT
from hubbub.noise import DiscreteLaplace
from hubbub.released import Keys, Release, Tick, Value

KEYS = Keys([f"k{i}" for i in range(20)])
SCALE = 20


def release(index, measured, variance=2.0 * SCALE**2):
    flat = np.array(measured, dtype=np.float64)
    return Release(Tick(index), KEYS, flat, flat, flat, flat, np.array(measured, dtype=np.int64), variance)


def predicted(index):
    flat = np.zeros(len(KEYS))
    return Release(Tick(index), KEYS, flat, flat, flat, flat)


def run(series, noise=True):
    detector, found = ChangeDetector(), []
    laplace = DiscreteLaplace(SCALE)
    for index, counts in enumerate(series):
        drawn = laplace.sample(len(KEYS)) if noise else 0
        found += detector.update(release(index, np.array(counts) + drawn))
    return found


def test_noise_alone_is_no_change():
    # 20 keys, 367 compared ticks: at two in ten million each, a false alarm in one of 700 runs; measured far below.
    assert run([[1000] * 20] * 400) == []


def test_a_flash_crowd_is_seen_and_lasts():
    series = [[1000] * 20 for _ in range(100)]
    for index in range(60, 80):
        series[index][3] = 3000
    found = run(series)
    assert {change.key for change in found} == {"k3"}
    assert {change.kind for change in found} == {"surge"}, "its end is no drop: the usual level did not follow it up"
    ticks = [change.tick for change in found]
    assert ticks[0] <= 61
    assert set(range(62, 80)) <= set(ticks)
    assert ticks[-1] <= 79 + RECENT


def test_a_new_level_becomes_the_usual_one():
    found = run([[1000 if i < 60 else 4000] * 20 for i in range(160)], noise=False)
    assert found
    assert max(change.tick for change in found) < 60 + BASELINE + RECENT


def test_a_fall_is_a_drop():
    found = run([[1000 if i < 60 else 100] * 20 for i in range(63)], noise=False)
    assert {change.kind for change in found} == {"drop"}
    assert "fell from 1,000" in found[0].reason
    assert str(found[0]).startswith("k")


def test_predicted_ticks_are_passed_over():
    detector = ChangeDetector()
    for index in range(BASELINE + RECENT - 1):
        assert detector.update(release(index, [1000] * 20)) == []
    assert detector.update(predicted(99)) == []
    assert detector.update(release(100, [9000] * 20)) != []


def test_a_restless_series_needs_more_than_noise():
    rng = np.random.default_rng(5)
    restless = [[int(n) for n in rng.normal(5000, 400, 20)] for _ in range(200)]
    assert len(run(restless)) < 5


@pytest.mark.parametrize(("after", "kind"), [(2.0, "surge"), (0.5, "drop")])
def test_kinds(after, kind):
    assert Change("k", 1, Value(1.0, 0.1, 0.8, 1.2), Value(after, 0.1, after - 0.2, after + 0.2)).kind == kind


def test_without_noise_and_movement_any_change_is_one():
    """As it was: a division by nothing, and a warning on the owner's terminal."""
    detector = ChangeDetector()
    quiet = [detector.update(release(index, [5] * 20, 0.0)) for index in range(BASELINE + RECENT)]
    assert quiet == [[]] * (BASELINE + RECENT)
    found = detector.update(release(BASELINE + RECENT, [6, *[5] * 19], 0.0))
    assert [(change.key, change.kind) for change in found] == [("k0", "surge")]
