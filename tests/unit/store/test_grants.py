"""Streams draw exact parts of a grant, what is not left is refused, and what all grants come to is told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import sqlalchemy as sa

from hubbub.confidential import Counts
from hubbub.errors import GrantExhausted, GuaranteeChanged, InvalidParameter, LedgerBroken, UnknownGrant
from hubbub.privacy import Event, Grant, Guarantee, Session, Unit, User, Window
from hubbub.release import Lpa
from hubbub.released import Keys
from hubbub.store import Definition, Store, faults

KEYS = Keys(["front", "news", "sports"])
SESSIONS = Guarantee.pure(Session(max_ticks=4), 1)
VISITORS = Grant("visitors", SESSIONS, "visitors of example.org")
PROMISES = {
    "pure": SESSIONS,
    "zcdp": Guarantee.zcdp(Session(max_ticks=4), "1/2"),
    "approximate": Guarantee.approximate(Session(max_ticks=4), 1, "1e-9"),
    "people": Guarantee.pure(User(max_ticks=2, horizon=10), 1),
}


def definition(name: str, grant: Grant, share: str) -> Definition:
    return Definition.of(name, KEYS, grant.part(share), "lpa")


@pytest.mark.parametrize("kind", PROMISES)
def test_streams_draw_exact_parts_until_nothing_is_left(store: Store, kind: str, counts: Callable[..., Counts]) -> None:
    grant = Grant("visitors", PROMISES[kind])
    for name, share in (("pages", "1/3"), ("searches", "1/2")):
        part = grant.part(share)
        with store.curate(name, Lpa(KEYS, part.guarantee), part=part) as curator:
            curator.release(counts(0))
    kept = store.grant("visitors")
    assert kept.grant == grant
    assert (dict(kept.shares), kept.left) == ({"pages": Fraction(1, 3), "searches": Fraction(1, 2)}, Fraction(1, 6))
    before = store.budget("pages")
    assert (before.total, before.free) == (grant.guarantee.divisible, Fraction(1, 6))
    assert before.spent == before.total * Fraction(5, 6) / grant.guarantee.unit.max_ticks
    assert before == store.budget("searches") == store.grant_budget("visitors")
    with pytest.raises(GrantExhausted) as refused:
        store.create_stream("carts", KEYS, grant.part("1/5"), "lpa")
    assert "has 1/6 of its budget left" in refused.value.message
    assert "carts would draw 1/5: pages has 1/3, searches has 1/2. Nothing was made" in refused.value.message
    assert store.find("carts") is None
    assert store.budget("pages") == before
    store.create_stream("carts", KEYS, grant.part("1/6"), "lpa")
    assert store.grant("visitors").left == 0
    with pytest.raises(GrantExhausted, match="has nothing of its budget left"):
        store.create_stream("more", KEYS, grant.part("1/1000000"), "lpa")
    for name in kept.shares:
        assert store.verify(name).ok


@pytest.mark.parametrize("kind", PROMISES)
def test_a_stream_that_counts_in_fewer_ticks_spends_its_part_in_them(
    store: Store, kind: str, counts: Callable[..., Counts]
) -> None:
    grant = Grant("visitors", PROMISES[kind])
    part = grant.part("1/2", max_ticks=1)
    with store.curate("lists", Lpa(KEYS, part.guarantee), part=part) as curator:
        assert curator.release(counts(0)).cost == curator.release(counts(1)).cost
        assert store.budget("lists").spent == grant.guarantee.divisible / 2
    store.curate("lists", Lpa(KEYS, part.guarantee), part=part).close()  # and again
    found = store.stream("lists")
    assert (found.part, found.guarantee.unit.max_ticks) == (part, 1)
    assert store.verify("lists").ok
    with pytest.raises(GuaranteeChanged):
        store.curate("lists", Lpa(KEYS, grant.part("1/2").guarantee), part=grant.part("1/2"))


@pytest.mark.parametrize("unit", [Event(), Window(4), Session(max_ticks=4), User(max_ticks=2, horizon=10)])
@pytest.mark.parametrize("max_ticks", [0, -1, 5, 1.5, True])
def test_more_ticks_than_the_grant_says_are_refused(unit: Unit, max_ticks: int) -> None:
    with pytest.raises(InvalidParameter, match=r"max_ticks|count it in 5"):
        Grant("visitors", Guarantee.pure(unit, 1)).part("1/2", max_ticks=max_ticks)


def test_a_stream_without_a_grant_has_one_of_its_own(store: Store) -> None:
    stream = store.create_stream("site", KEYS, SESSIONS, "lpa")
    assert (stream.part.grant, stream.part.share) == (Grant("site", SESSIONS), 1)
    assert [one.grant.name for one in store.grants()] == ["site"]
    with pytest.raises(GrantExhausted, match="site has 1"):
        store.create_stream("more", KEYS, Grant("site", SESSIONS).part("1/2"), "lpa")


def test_a_refusal_leaves_no_mark_and_no_grant(store: Store, tmp_path: Path) -> None:
    with Store.open(tmp_path / "other.db", marks=tmp_path / "marks") as other:
        with pytest.raises(GrantExhausted, match="a and b would draw 5/4"):
            other.create_streams([definition("a", VISITORS, "1/2"), definition("b", VISITORS, "3/4")])
        assert other.grants() == []
        assert other.streams() == []
        assert not (tmp_path / "marks").exists()
    with pytest.raises(UnknownGrant, match="'visitors'"):
        store.grant("visitors")
    with pytest.raises(UnknownGrant):
        store.total("visitors")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (Grant("visitors", SESSIONS), "`population` was visitors of example.org when the grant was made, now empty"),
        (
            Grant("visitors", PROMISES["people"], "visitors of example.org"),
            "`unit` was Session when the grant was made",
        ),
        (Grant("visitors", SESSIONS, "visitors of example.org", ["staff"]), "`apart_from` was"),
    ],
)
def test_another_promise_under_the_same_name_is_refused(store: Store, other: Grant, words: str) -> None:
    store.create_stream("pages", KEYS, VISITORS.part("1/2"), "lpa")
    with pytest.raises(GuaranteeChanged, match=r"The grant 'visitors' exists with another promise") as refused:
        store.create_stream("searches", KEYS, other.part("1/4"), "lpa")
    assert words in refused.value.message
    with pytest.raises(GuaranteeChanged):
        store.create_stream("pages", KEYS, other.part("1/2"), "lpa")
    assert [stream.name for stream in store.streams()] == ["pages"]


def test_a_stream_is_not_moved_and_its_share_stays(store: Store) -> None:
    store.create_stream("pages", KEYS, VISITORS.part("1/2"), "lpa")
    staff = Grant("staff", Guarantee.pure(Session(max_ticks=4), "1/2"))
    with pytest.raises(GuaranteeChanged, match=r"another grant: .*`name` was visitors when the stream was made"):
        store.create_stream("pages", KEYS, staff.part(), "lpa")
    with pytest.raises(GuaranteeChanged, match="another guarantee"):
        store.create_stream("pages", KEYS, VISITORS.part("1/4"), "lpa")
    assert store.create_stream("pages", KEYS, VISITORS.part("1/2"), "lpa").part.share == Fraction(1, 2)


def test_what_a_mechanism_keeps_must_be_its_part(store: Store) -> None:
    with pytest.raises(InvalidParameter, match="another guarantee than the part"):
        store.curate("pages", Lpa(KEYS, SESSIONS), part=VISITORS.part("1/2"))
    with pytest.raises(InvalidParameter, match="written by the store itself"):
        store.create_stream("pages", KEYS, SESSIONS, "lpa", {"grant": {}})
    assert store.streams() == []


def test_windows_of_one_grant_are_on_one_clock(store: Store) -> None:
    grant = Grant("visitors", Guarantee.pure(Window(12), 1))

    def made(name: str, tick: int, begins: str) -> None:
        options = {"counting": {"tick": tick * 1_000_000, "begins": begins}}
        store.create_stream(name, KEYS, grant.part("1/8"), "lpa", options)

    made("a", 10, "2026-01-01T00:00:00+00:00")
    made("b", 10, "2026-01-02T00:00:10+00:00")
    for name, tick, begins in (("c", 60, "2026-01-01T00:00:00+00:00"), ("d", 10, "2026-01-01T00:00:03+00:00")):
        with pytest.raises(InvalidParameter, match=f"{name} would have other ticks than a, b"):
            made(name, tick, begins)
    assert store.grant("visitors").clocks == {(10_000_000, 0)}


# ── races and crashes ────────────────────────────────────────────────────────────────────────────────────────────────


def test_of_many_who_want_the_last_part_one_gets_it(path: Path) -> None:
    with Store.open(path) as store:
        store.create_stream("first", KEYS, VISITORS.part("3/4"), "lpa")
    ready, outcomes = threading.Barrier(6), []

    def want(name: str) -> None:
        with Store.open(path, patience=30) as store:
            ready.wait()
            try:
                store.create_stream(name, KEYS, VISITORS.part("1/4"), "lpa")
                outcomes.append(name)
            except GrantExhausted:
                outcomes.append(None)

    threads = [threading.Thread(target=want, args=(f"s{i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [name for name in outcomes if name]
    assert len(outcomes) == 6
    assert len(winners) == 1
    with Store.open(path) as store:
        assert dict(store.grant("visitors").shares) == {"first": Fraction(3, 4), winners[0]: Fraction(1, 4)}


def test_the_same_stream_made_by_two_is_made_once(path: Path) -> None:
    with Store.open(path) as one, Store.open(path) as other:
        made: list[Store] = []

        def rival(name: str) -> None:
            if name == "grant:begin" and not made:  # after the first has looked, before it writes
                made.append(other)
                other.create_stream("pages", KEYS, VISITORS.part("1/2"), "lpa")

        faults.install(rival)
        stream = one.create_stream("pages", KEYS, VISITORS.part("1/2"), "lpa")
        assert stream == other.stream("pages")
        assert one.grant("visitors").left == Fraction(1, 2)


class Crash(BaseException):
    """Ends a step as SIGKILL would, as far as one process can tell."""


@pytest.mark.parametrize("point", faults.CREATION_POINTS)
def test_grant_and_streams_are_made_together_or_not_at_all(store: Store, point: str) -> None:
    passed: list[str] = []

    def die(name: str) -> None:
        passed.append(name)
        if name == point:
            raise Crash

    faults.install(die)
    wanted = [definition("site", VISITORS, "1/2"), definition("site.ranges", VISITORS, "1/4")]
    with pytest.raises(Crash):
        store.create_streams(wanted)
    faults.install(None)
    assert tuple(passed) == faults.CREATION_POINTS[: len(passed)]
    there = point == "stream:committed"
    assert [one.grant.name for one in store.grants()] == (["visitors"] if there else [])
    assert [stream.name for stream in store.streams()] == (["site", "site.ranges"] if there else [])
    again = store.create_streams(wanted)
    assert [stream.name for stream in again] == ["site", "site.ranges"]
    assert store.grant("visitors").left == Fraction(1, 4)
    with store.curate("site", Lpa(KEYS, wanted[0].part.guarantee), part=wanted[0].part) as curator:
        assert curator.proved


# ── what nobody may change ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE grants SET guarantee = replace(guarantee, '\"1\"', '\"2\"')", "was changed after it was made"),
        ("UPDATE grants SET population = 'somebody else'", "was changed after it was made"),
        ("UPDATE grants SET apart_from = '[\"staff\"]'", "was changed after it was made"),
        ("UPDATE streams SET share = '1/4' WHERE name = 'pages'", "another part of another grant"),
        ("UPDATE streams SET grant_id = NULL WHERE name = 'pages'", "belongs to no grant"),
    ],
)
def test_what_was_changed_is_seen(store: Store, path: Path, change: str, words: str) -> None:
    store.create_stream("pages", KEYS, VISITORS.part("1/2"), "lpa")
    with store.database.write() as connection:
        connection.execute(sa.text(change))
    with Store.open(path) as again, pytest.raises(LedgerBroken, match=words):
        again.stream("pages")
    if "NULL" in change:
        with Store.open(path) as again, pytest.raises(LedgerBroken, match=words):
            again.grants()


def test_more_than_all_of_it_is_seen(store: Store, path: Path) -> None:
    """Rows of another store, put in with all their hashes: each is as it was written, but they are too much."""
    with Store.open(path.with_name("other.db")) as other:
        other.create_stream("copied", KEYS, VISITORS.part("3/4"), "lpa")
        with other.database.read() as connection:
            row = dict(connection.execute(sa.text("SELECT * FROM streams")).mappings().one())
    store.create_stream("pages", KEYS, VISITORS.part("1/2"), "lpa")
    assert store.verify("pages").ok
    row |= {"id": 77, "grant_id": store.grant("visitors").id}
    with store.database.write() as connection:
        names = ", ".join(row)
        connection.execute(sa.text(f"INSERT INTO streams ({names}) VALUES (:{', :'.join(row)})"), row)
    with Store.open(path) as again:
        (fault,) = again.verify("pages").faults
        assert "have drawn more than all of it" in str(fault)
        with pytest.raises(LedgerBroken):
            again.curate("pages", Lpa(KEYS, VISITORS.part("1/2").guarantee), part=VISITORS.part("1/2"))


# ── what all grants say together ─────────────────────────────────────────────────────────────────────────────────────


def test_grants_are_added_up_unless_the_owner_vouches_that_they_are_apart(store: Store) -> None:
    store.create_stream("pages", KEYS, VISITORS.part("1/2"), "lpa")
    assert [grant.name for grant, _ in store.total("visitors").added] == ["visitors"]
    assert not store.total("visitors").beside
    assert store.total("visitors").guarantee == SESSIONS
    assert store.total("visitors").sentences == ()
    store.create_stream("shop", KEYS, Guarantee.pure(Session(max_ticks=9), "1/2"), "lpa")
    staff = Grant("staff", SESSIONS, "staff of example.org", ["visitors of example.org"])
    store.create_stream("intranet", KEYS, staff.part(), "lpa")
    visitors, shop, intranet = (store.total(name) for name in ("visitors", "shop", "staff"))
    assert visitors.guarantee == Guarantee.pure(Session(max_ticks=4), "3/2")
    assert [grant.name for grant in visitors.apart] == ["staff"]
    assert shop.guarantee is not None
    assert shop.guarantee.epsilon == Fraction(5, 2), "nobody said who the shop's people are: both may meet it"
    assert intranet.guarantee == Guarantee.pure(Session(max_ticks=4), "3/2")
    told = " ".join(visitors.sentences)
    assert "holds 1 other grant (shop) that may be about the same people. Taken together: Each browsing session" in told
    assert "factor e^1.5 = 4.49, in all that they publish together." in told
    assert "nobody is counted both here and in: staff (staff of example.org). They are not added." in told


def test_units_that_lie_within_each_other_and_kinds_that_are_mixed(store: Store) -> None:
    event, person = Guarantee.pure(Event(), "1/10"), Guarantee.zcdp(User(horizon=100), "1/100")
    for name, guarantee in (("cases", event), ("visits", SESSIONS), ("people", person)):
        store.create_stream(name, KEYS, guarantee, "lpa")
    cases, visits, people = (store.total(name) for name in ("cases", "visits", "people"))
    assert [(grant.name, times) for grant, times in cases.added] == [("cases", 1), ("people", 2), ("visits", 3)]
    assert [(grant.name, times) for grant, times in visits.added] == [("visits", 1), ("people", 2)]
    assert [grant.name for grant in visits.beside] == ["cases"]
    assert (people.guarantee, [grant.name for grant in people.beside]) == (person, ["cases", "visits"])
    assert visits.guarantee is not None
    assert (visits.guarantee.kind, visits.guarantee.unit) == ("approximate", SESSIONS.unit)
    told = " ".join(visits.sentences)
    assert "people counts 2 times in this: it protects each person, over all 100 ticks, of which one visit" in told
    assert "cases may be about the same people too. It protects each event, from which nothing follows about" in told
    facts = visits.to_dict()
    assert facts["added"] == [{"grant": "visits", "steps": 1}, {"grant": "people", "steps": 2}]
    assert (facts["beside"], facts["apart"], facts["rho"]) == (["cases"], [], None)


def test_nothing_is_said_where_nothing_is_left(store: Store) -> None:
    store.create_stream("cases", KEYS, Guarantee.pure(Event(), 1), "lpa")
    store.create_stream("visits", KEYS, Guarantee.approximate(Session(max_ticks=4), 1, "1/2", allow_weak=True), "lpa")
    total = store.total("cases")
    assert total.guarantee is None
    assert "Taken together: nothing is left of the promise about one event." in total.sentences[0]
    assert total.to_dict()["guarantee"] is None


def test_windows_on_other_clocks_are_not_added(store: Store) -> None:
    for name, tick in (("fast", 10), ("slow", 60), ("also-fast", 10)):
        options = {"counting": {"tick": tick * 1_000_000, "begins": "2026-01-01T00:00:00+00:00"}}
        store.create_stream(name, KEYS, Guarantee.pure(Window(12), 1), "lpa", options)
    assert store.total("fast").guarantee == Guarantee.pure(Window(12), 2)
    assert [grant.name for grant in store.total("fast").beside] == ["slow"]
