"""The first lines of a new user, and what happens when they go wrong."""

from fractions import Fraction

import pytest

import hubbub as hb
from hubbub.confidential import Counts
from hubbub.errors import (
    GuaranteeChanged,
    InsecureRandomness,
    InvalidCounts,
    InvalidParameter,
    TickOutOfOrder,
    UnknownKey,
)
from hubbub.noise import simulation
from hubbub.released import Tick
from hubbub.store import Store

KEYS = ["front", "news"]
COUNTS = {"front": 812, "news": 240}


def monitor(**changes):
    return hb.Monitor(**{"keys": KEYS, "unit": hb.Session(max_ticks=20), "epsilon": 1, **changes})


def test_ticks_follow_each_other():
    m = monitor()
    assert [m.release(COUNTS).tick.index for _ in range(3)] == [0, 1, 2]
    assert m.release(COUNTS, tick=7).tick.index == 7
    assert m.predict().tick.index == 8
    assert m.next_tick == 9
    assert m.spent == Fraction(4, 20)


def test_counts_can_be_given_sealed():
    m = monitor()
    assert m.release(Counts.of(m.keys, Tick(3), COUNTS)).tick.index == 3


def test_a_delta_makes_it_gaussian():
    assert monitor(delta=1e-9).release(COUNTS).cost.rho > 0


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"epsilon": 0}, InvalidParameter),
        ({"epsilon": -1}, InvalidParameter),
        ({"epsilon": float("nan")}, InvalidParameter),
        ({"epsilon": 21}, InvalidParameter),
        ({"keys": []}, InvalidParameter),
        ({"method": "magic"}, InvalidParameter),
    ],
)
def test_bad_settings_are_refused(changes, error):
    with pytest.raises(error):
        monitor(**changes)


def test_a_weak_promise_must_be_meant():
    assert monitor(epsilon=21, allow_weak=True).guarantee.epsilon == 21


@pytest.mark.parametrize(
    ("counts", "error"),
    [
        ({"front": float("nan"), "news": 1}, InvalidCounts),
        ({"front": -1, "news": 1}, InvalidCounts),
        ({"front": 0.5, "news": 1}, InvalidCounts),
        ({"front": 2**60, "news": 1}, InvalidCounts),
        ({"front": 1}, UnknownKey),
        ({"front": 1, "news": 1, "sports": 1}, UnknownKey),
    ],
)
@pytest.mark.parametrize("stored", [False, True])
def test_bad_counts_spend_nothing(counts, error, stored, tmp_path):
    with monitor(store=tmp_path / "site.db" if stored else None) as m:
        m.release(COUNTS)
        with pytest.raises(error):
            m.release(counts)
        with pytest.raises(TickOutOfOrder):
            m.release(COUNTS, tick=0)
        assert m.spent == Fraction(1, 20)
        assert m.release(COUNTS).tick.index == 1


def test_seeded_noise_is_refused():
    with simulation(1) as source, pytest.raises(InsecureRandomness):
        monitor(source=source)


def test_it_goes_on_where_it_stopped(tmp_path):
    with monitor(store=tmp_path / "site.db", name="site") as m:
        first = [m.release(COUNTS) for _ in range(3)]
    with monitor(store=tmp_path / "site.db", name="site") as m:
        assert m.next_tick == 3
        assert m.release(COUNTS).tick.index == 3
        assert m.spent == Fraction(4, 20)
    with Store.open(tmp_path / "site.db") as store:
        stored = list(store.releases("site"))
        assert [r.tick.index for r in stored] == [0, 1, 2, 3]
        assert (stored[1].measurements == first[1].measurements).all()
        assert store.verify("site").ok


def test_another_promise_under_the_same_name_is_refused(tmp_path):
    with monitor(store=tmp_path / "site.db", name="site") as m:
        m.release(COUNTS)
    for changes in ({"epsilon": 2}, {"unit": hb.Session(max_ticks=10)}, {"keys": ["front", "sports"]}):
        with pytest.raises(GuaranteeChanged):
            monitor(store=tmp_path / "site.db", name="site", **changes)


def test_an_open_store_can_be_shared(tmp_path):
    with Store.open(tmp_path / "site.db") as store:
        a, b = monitor(store=store, name="a"), monitor(store=store, name="b")
        a.release(COUNTS)
        b.release(COUNTS)
        assert {stream.name for stream in store.streams()} == {"a", "b"}
