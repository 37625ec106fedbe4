"""The filtering releasers: first tick, gaps, restart, settings."""

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.errors import InvalidModel, InvalidParameter
from hubbub.mechanism import Measurement
from hubbub.models import NavigationModel
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa, Mkf, Navigation, Ukf
from hubbub.released import Grid, Keys, Snapshot, Tick

KEYS = Keys(["front", "news"])
GUARANTEE = Guarantee.pure(Session(max_ticks=20), 1)
SITE = NavigationModel.of(KEYS, [[0.5, 0.1], [0.3, 0.6]], [200.0, 40.0])
LEVEL = np.rint(SITE.balance()).astype(int)
MAKERS = {
    "ukf": lambda **more: Ukf(KEYS, GUARANTEE, **more),
    "mkf": lambda **more: Mkf(KEYS, GUARANTEE, model=SITE, **more),
    "mkf alone": lambda **more: Mkf(KEYS, GUARANTEE, **more),
    "navigation": lambda **more: Navigation(KEYS, GUARANTEE, model=SITE, **more),
    "navigation alone": lambda **more: Navigation(KEYS, GUARANTEE, **more),
    "navigation in zCDP": lambda **more: Navigation(KEYS, Guarantee.zcdp(Session(20), 0.01), model=SITE, **more),
}


@pytest.fixture(params=MAKERS)
def maker(request):
    return MAKERS[request.param]


def run(releaser, ticks):
    return [releaser.release(Counts.of(KEYS, Tick(k), LEVEL)) for k in ticks]


def test_a_steady_stream_is_estimated_better_than_it_is_measured(maker):
    with simulation(3) as source:
        releases = run(maker(source=source), range(80))
    late = np.array([r.values for r in releases[20:]]) - LEVEL
    noise = np.array([r.measurements for r in releases[20:]]) - LEVEL
    assert (late**2).mean() < 0.5 * (noise**2).mean()
    assert all((r.lower <= r.values).all() and (r.values <= r.upper).all() for r in releases)


def test_a_gap_is_predicted_and_widens_the_interval(maker):
    with simulation(4) as source:
        releaser = maker(source=source)
        before = run(releaser, range(10))[-1]
        gap = releaser.predict(Tick(10))
        again = releaser.release(Counts.of(KEYS, Tick(14), LEVEL))
    assert gap.is_predicted
    assert gap.cost.is_free
    assert (gap.standard_errors > before.standard_errors).all()
    assert not again.is_predicted


def test_a_snapshot_has_the_same_future(maker):
    with simulation(5) as source:
        one = maker(source=source)
        run(one, range(7))
        taken = one.snapshot().to_bytes()
        first = run(one, range(7, 12))
    other = maker()
    other.restore(Snapshot.from_bytes(taken))
    for release in first:
        kind = "laplace" if release.cost.epsilon else "gaussian"
        again = other.accept(
            Measurement(release.tick, KEYS, release.measurements, release.noise_variance, release.cost, kind)
        )
        np.testing.assert_array_equal(again.values, release.values)
        np.testing.assert_array_equal(again.upper, release.upper)
    assert other.spent == one.spent


def test_a_snapshot_before_the_first_tick(maker):
    other = maker()
    other.restore(maker().snapshot())
    assert other.next_tick == 0


def test_nothing_is_known_before_the_first_measurement():
    for name in ("ukf", "mkf", "navigation alone"):
        release = MAKERS[name]().predict(Tick(0))
        assert np.isinf(release.standard_errors).all()
    assert np.isfinite(MAKERS["navigation"]().predict(Tick(0)).standard_errors).all()


def test_the_first_noisy_value_is_released_as_it_is():
    for name in ("ukf", "mkf", "navigation alone"):
        release = run(MAKERS[name](), [0])[0]
        np.testing.assert_allclose(release.values, release.measurements, rtol=1e-3)


def test_settings_that_cannot_be():
    for wrong in (-1.0, np.nan, np.ones(3)):
        with pytest.raises(InvalidParameter, match="process_variance"):
            Ukf(KEYS, GUARANTEE, process_variance=wrong)
        with pytest.raises(InvalidParameter, match="process_variance"):
            Mkf(KEYS, GUARANTEE, process_variance=wrong)
    with pytest.raises(InvalidParameter, match="scale_error"):
        Navigation(KEYS, GUARANTEE, model=SITE, scale_error=float("nan"))
    for method in (Mkf, Navigation):
        with pytest.raises(InvalidModel, match="other keys"):
            method(Keys(["front", "blog"]), GUARANTEE, model=SITE)


def test_values_and_intervals_are_never_negative():
    keys = Keys(["empty"])
    for method in (Ukf, Mkf, Navigation, Lpa):
        with simulation(6) as source:
            releaser = method(keys, GUARANTEE, source=source)
            for k in range(30):
                release = releaser.release(Counts.of(keys, Tick(k), [0]))
                assert release.values[0] >= 0
                assert release.lower[0] >= 0
                assert release.upper[0] >= release.lower[0]


def test_many_keys_watch_only_those_that_give_a_reason():
    size = 3000
    keys = Keys([f"page {i}" for i in range(size)])
    truth = np.full(size, 100)
    with simulation(7) as source:
        releaser = Navigation(keys, GUARANTEE, source=source)
        for k in range(12):
            if k == 6:
                truth = truth.copy()
                truth[:5] += 5000
            release = releaser.release(Counts.of(keys, Tick(k), truth))
    assert np.abs(release.values[:5] - truth[:5]).max() < 200
    assert 0 < len(releaser._filter.where) < size / 2


def test_a_model_of_names_is_no_model_of_a_grid():
    for method in (Mkf, Navigation):
        with pytest.raises(InvalidModel, match=r"named keys, and the stream counts by Grid\(2 x 1\)"):
            method(Grid(2, 1), GUARANTEE, model=SITE)


def test_a_number_for_every_two_of_a_million_cells_is_too_much():
    with pytest.raises(InvalidParameter, match="1,048,576 are more than 4,096"):
        Mkf(Grid(1024, 1024), GUARANTEE)
