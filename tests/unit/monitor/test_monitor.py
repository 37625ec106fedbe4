"""The first lines of a new user, and what happens when they go wrong."""

from fractions import Fraction

import pytest

import hubbub as hb
from hubbub.confidential import Counts
from hubbub.errors import (
    GrantExhausted,
    GuaranteeChanged,
    InsecureRandomness,
    InvalidCounts,
    InvalidParameter,
    TickOutOfOrder,
    UnknownKey,
)
from hubbub.methods import make_mechanism
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
        ({"front": True, "news": 6}, InvalidCounts),
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


def test_what_the_calling_program_vouches_for_is_recorded(tmp_path):
    with Store.open(tmp_path / "site.db") as store:
        monitor(store=store, name="site").close()
        attested = store.stream("site").attested
        assert set(attested) == {"keys", "counts", "identity"}
        assert "at most" in attested["counts"]
        monitor(store=store, name="site").close()


def test_a_stream_from_before_that_was_recorded_goes_on(tmp_path):
    with Store.open(tmp_path / "site.db") as store:
        earlier = monitor()
        store.curate("site", make_mechanism("lpa", earlier.keys, earlier.guarantee)).close()
        with monitor(store=store, name="site", method="lpa") as m:
            m.predict()
        assert not store.stream("site").attested


def test_monitors_over_the_same_people_draw_of_one_grant(tmp_path):
    path = tmp_path / "site.db"
    visitors = hb.Grant("visitors", hb.Guarantee.pure(hb.Session(max_ticks=20), 1), "visitors of example.org")
    with hb.Monitor(KEYS, grant=visitors.part("3/4"), store=path, name="pages") as pages:
        pages.release(COUNTS)
        assert pages.guarantee.epsilon == Fraction(3, 4)
        with pytest.raises(GrantExhausted, match="pages has 3/4"):
            hb.Monitor(["weather"], grant=visitors.part("1/2"), store=path, name="searches")
        with hb.Monitor(["weather"], grant=visitors.part("1/4"), store=path, name="searches") as searches:
            searches.release({"weather": 3})
    with Store.open(path) as store:
        assert store.budget("pages").spent == Fraction(1, 20)
        assert store.grant("visitors").left == 0
        assert [stream.part.grant for stream in store.streams()] == [visitors, visitors]
    with hb.Monitor(KEYS, grant=hb.Grant("staff", visitors.guarantee), store=path, name="intranet") as whole:
        assert whole.guarantee == visitors.guarantee


def test_a_grant_stands_in_place_of_unit_and_epsilon(tmp_path):
    grant = hb.Grant("visitors", hb.Guarantee.pure(hb.Session(max_ticks=20), 1))
    for wrong in (
        {"unit": hb.Event(), "store": tmp_path / "x.db"},
        {"epsilon": 1, "store": tmp_path / "x.db"},
        {"delta": "1e-9", "store": tmp_path / "x.db"},
        {},  # without a store nobody adds up the parts
    ):
        with pytest.raises(InvalidParameter, match="stands in place of"):
            hb.Monitor(KEYS, grant=grant, **wrong)
    for half in ({"unit": hb.Event()}, {"epsilon": 1}, {}):
        with pytest.raises(InvalidParameter, match="or a `grant` that has both"):
            hb.Monitor(KEYS, **half)


def test_units_by_name_and_every_kind_of_budget():
    by_name = hb.Monitor(KEYS, unit="session", max_ticks=20, epsilon=1)
    assert by_name.guarantee == monitor().guarantee
    assert hb.Monitor(KEYS, unit="user", horizon=52, max_ticks=2, rho="1/10").guarantee.kind == "zcdp"
    assert hb.Monitor(KEYS, unit="event", epsilon=1, delta="1e-9").guarantee.kind == "approximate"
    with pytest.raises(InvalidParameter, match="has its numbers"):
        monitor(max_ticks=20)
    with pytest.raises(InvalidParameter, match="got `epsilon` and `rho`"):
        monitor(rho=1)
    with pytest.raises(InvalidParameter, match="needs a `unit` and a budget"):
        hb.Monitor(KEYS, unit="event")


def test_a_grant_has_the_numbers_of_its_unit(tmp_path):
    grant = hb.Grant("visitors", monitor().guarantee)
    with pytest.raises(InvalidParameter, match="stands in place of"):
        hb.Monitor(KEYS, grant=grant, store=tmp_path / "x.db", max_ticks=20)
