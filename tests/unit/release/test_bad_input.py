"""Series as they are: every method gives a right answer, or a typed error on which nothing is spent."""

import numpy as np
import pytest
from tests.support.methods import ONLINE, make

from hubbub.confidential import Counts
from hubbub.errors import HorizonReached, InvalidCounts
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.released import Keys, Tick

KEYS = Keys(["flu"])
UNITS = {
    "event": Event(),
    "session": Session(max_ticks=5),
    "window": Window(5),
    "user": User(horizon=60),
    "bounded user": User(max_ticks=2, horizon=60),
}
GUARANTEES = [
    pytest.param(Guarantee.zcdp(unit, "1/2") if kind == "zcdp" else Guarantee.pure(unit, 1), id=f"{name} {kind}")
    for name, unit in UNITS.items()
    for kind in ("pure", "zcdp")
]


def run(method, guarantee, series, skipped=()):
    with simulation(5) as source:
        releaser = make(method, KEYS, guarantee, source=source)
        return [
            releaser.predict(Tick(t)) if t in skipped else releaser.release(Counts.of(KEYS, Tick(t), [x]))
            for t, x in enumerate(series)
        ]


def sane(releases):
    for release in releases:
        assert np.isfinite(release.values).all()
        assert (release.values >= 0).all()
        assert not np.isnan(release.lower).any()
        assert not np.isnan(release.upper).any()
        assert (release.lower <= release.upper).all()
        assert (release.standard_errors >= 0).all()


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("method", ONLINE)
class TestEveryMethod:
    def test_one_tick(self, method, guarantee):
        sane(run(method, guarantee, [40]))

    def test_nothing_but_zeros(self, method, guarantee):
        releases = run(method, guarantee, [0] * 60)
        sane(releases)
        # Laplace noise of a person over 60 ticks has scale 60: a method that invents thousands is broken.
        assert np.median([release.values[0] for release in releases]) < 1000

    def test_a_million_times_more_and_less(self, method, guarantee):
        sane(run(method, guarantee, [100] * 20 + [100_000_000] * 20 + [100] * 20))

    def test_gaps(self, method, guarantee):
        releases = run(method, guarantee, [100] * 30, skipped={0, 1, 7, 20, 21, 22})
        sane(releases)
        assert [t for t in (0, 7, 20) if not releases[t].is_predicted] == []

    def test_the_largest_count_there_is(self, method, guarantee):
        sane(run(method, guarantee, [2**52, 0, 2**52]))


@pytest.mark.parametrize("method", ONLINE)
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1, 0.5, 2**53, None, "5"])
def test_no_count_is_no_release(method, wrong):
    releaser = make(method, KEYS, Guarantee.pure(User(horizon=10), 1))
    releaser.release(Counts.of(KEYS, Tick(0), [40]))
    before, spent = releaser.snapshot().to_bytes(), releaser.spent
    with pytest.raises(InvalidCounts):
        releaser.release(Counts.of(KEYS, Tick(1), [wrong]))
    assert (releaser.snapshot().to_bytes(), releaser.spent) == (before, spent)


@pytest.mark.parametrize("method", ONLINE)
def test_the_horizon_says_what_to_do(method):
    guarantee = Guarantee.pure(User(horizon=3), 1)
    releaser = make(method, KEYS, guarantee)
    for tick in range(3):
        releaser.release(Counts.of(KEYS, Tick(tick), [40]))
    spent = releaser.spent
    for beyond in (lambda: releaser.release(Counts.of(KEYS, Tick(3), [40])), lambda: releaser.predict(Tick(3))):
        with pytest.raises(HorizonReached, match="horizon of 3 ticks") as refused:
            beyond()
        assert "Start a new stream" in refused.value.hint
    assert releaser.spent == spent


@pytest.mark.parametrize("method", ONLINE)
def test_a_new_level_is_reached(method):
    """At event level with a good budget every method that measures each tick finds a level a million times higher."""
    releases = run(method, Guarantee.pure(Event(), 1), [100] * 30 + [100_000_000] * 60)
    assert releases[-1].values[0] == pytest.approx(100_000_000, rel=0.1)
