"""PeGaSus: what joins a group, what a group gains, prices, settings, state that is public."""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session
from hubbub.release import Lpa, Pegasus
from hubbub.released import Cost, Keys, Snapshot, Tick

KEYS = Keys(["a", "b"])
EVENT = Guarantee.pure(Event(), 1)


def feed(releaser, rows, start=0):
    return [releaser.release(Counts.of(releaser.keys, Tick(start + t), row)) for t, row in enumerate(rows)]


def grouped(pegasus):
    """How many noisy counts each key's group has."""
    return (~np.isnan(pegasus.snapshot().arrays["group"])).sum(axis=0).tolist()


def test_a_quiet_stream_is_smoothed():
    rows = [[100, 7]] * 400
    with simulation(1) as source, simulation(1) as again:
        smooth = feed(Pegasus(KEYS, EVENT, source=source), rows)
        plain = feed(Lpa(KEYS, EVENT, source=again), rows)
    error = [np.abs(np.array([r.values for r in releases]) - rows).mean() for releases in (smooth, plain)]
    assert error[0] < 0.7 * error[1]
    assert {r.cost for r in smooth} == {Cost(epsilon=Fraction(1))}
    assert smooth[0].noise_variance == pytest.approx(2 * 1.25**2, rel=0.1)  # four fifths of the budget


@pytest.mark.parametrize("smoother", ["median", "average"])
def test_a_jump_begins_a_new_group_for_its_key_alone(smoother):
    with simulation(2) as source:
        pegasus = Pegasus(KEYS, Guarantee.pure(Event(), 20), smoother=smoother, threshold=20, source=source)
        feed(pegasus, [[1000, 7]] * 30)
        assert grouped(pegasus) == [20, 20]
        (release,) = feed(pegasus, [[5000, 7]], start=30)
        assert grouped(pegasus) == [1, 20]
    assert release.values == pytest.approx([5000, 7], abs=3)


@pytest.mark.parametrize("smoother", ["median", "average"])
def test_the_value_is_that_of_the_group(smoother):
    with simulation(3) as source:
        pegasus = Pegasus(KEYS, EVENT, threshold=1000, longest=5, smoother=smoother, source=source)
        releases = feed(pegasus, [[500, 400]] * 9)
    last = np.array([r.measurements for r in releases[-5:]])
    wanted = np.median(last, axis=0) if smoother == "median" else last.mean(axis=0)
    assert releases[-1].values == pytest.approx(wanted)
    assert (releases[-1].lower <= releases[-1].values).all()
    assert (releases[-1].values <= releases[-1].upper).all()


def test_a_restart_goes_on_with_the_group():
    with simulation(4) as source, simulation(5) as one, simulation(5) as two:
        first = Pegasus(KEYS, EVENT, source=source)
        feed(first, [[100, 7]] * 6)
        taken = first.snapshot().to_bytes()
        futures = []
        for fresh in (one, two):
            again = Pegasus(KEYS, EVENT, source=fresh)
            again.restore(Snapshot.from_bytes(taken))
            futures.append([r.values.tolist() for r in feed(again, [[100, 7]] * 5, start=6)])
    assert futures[0] == futures[1]


def test_a_session_pays_for_every_tick():
    pegasus = Pegasus(KEYS, Guarantee.pure(Session(max_ticks=4, max_items=2), 1))
    assert pegasus.cost(Tick(0)) == Cost(epsilon=Fraction(1, 4))


@pytest.mark.parametrize("wrong", [{"smoother": "mode"}, {"threshold": 0}, {"longest": 0}])
def test_settings_are_checked(wrong):
    with pytest.raises(InvalidParameter):
        Pegasus(KEYS, EVENT, **wrong)
