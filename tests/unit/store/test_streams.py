from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.support.methods import ONLINE, make

from hubbub.confidential import Counts
from hubbub.errors import (
    GuaranteeChanged,
    InsecureRandomness,
    InvalidParameter,
    LedgerBroken,
    UnknownStream,
    UnsoundConversion,
)
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.ranges import RangeStream
from hubbub.release import Lpa
from hubbub.released import Keys, Tick
from hubbub.store import Curator, Store

KEYS = Keys(["front", "news"])
ONE = Guarantee.pure(Session(max_ticks=20), 1)


def test_a_stream_is_found_again_as_it_was_made(path: Path) -> None:
    with Store.open(path) as store:
        made = store.create_stream("site", KEYS, ONE, "lpa", {"window": 3})
    with Store.open(f"sqlite:///{path}") as store:
        found = store.stream("site")
        assert found == made
        assert (found.keys, found.guarantee, found.method, found.options) == (KEYS, ONE, "lpa", {"window": 3})
        assert store.create_stream("site", KEYS, ONE, "lpa", {"window": 3}) == made
        assert [s.name for s in store.streams()] == ["site"]
        assert repr(found) == "Stream('site', 2 keys, lpa)"


@pytest.mark.parametrize(
    ("keys", "guarantee", "method", "options", "what"),
    [
        (KEYS, Guarantee.pure(Session(max_ticks=20), 2), "lpa", {}, "another guarantee"),
        (KEYS, Guarantee.pure(Session(max_ticks=21), 1), "lpa", {}, "another guarantee"),
        (KEYS, Guarantee.pure(Event(), 1), "lpa", {}, "another guarantee"),
        (KEYS, Guarantee.approximate(Session(max_ticks=20), 1, "1e-9"), "lpa", {}, "another guarantee"),
        (Keys(["news", "front"]), ONE, "lpa", {}, "other keys"),
        (KEYS, ONE, "fast", {}, "another method"),
        (KEYS, ONE, "lpa", {"window": 3}, "other options"),
    ],
)
def test_another_promise_under_the_same_name_is_refused(
    store: Store, keys: Keys, guarantee: Guarantee, method: str, options: dict[str, int], what: str
) -> None:
    store.create_stream("site", KEYS, ONE, "lpa")
    with pytest.raises(GuaranteeChanged, match=what):
        store.create_stream("site", keys, guarantee, method, options)
    assert store.stream("site").guarantee == ONE


COUNTING = {"tick": "10 s", "stay": "30 min", "bots": False, "routes": ["/", "/news"]}


def test_what_decides_who_counts_where_is_pinned(store: Store) -> None:
    attested = {"keys": "The keys are public."}
    made = store.create_stream("site", KEYS, ONE, "lpa", {"counting": COUNTING, "attested": attested})
    assert dict(made.counting) == COUNTING
    assert dict(made.attested) == attested
    assert made.doubts() == store.doubts("site") == ()
    same = store.find("site")
    assert same is not None
    assert same.counting["tick"] == "10 s"
    assert store.find("other") is None
    changed = COUNTING | {"tick": "1 s", "bots": True, "lateness": "5 s"}
    del changed["stay"]
    with pytest.raises(GuaranteeChanged) as caught:
        store.create_stream("site", KEYS, ONE, "lpa", {"counting": changed, "attested": {"keys": "Somebody says so."}})
    for words in (
        "`keys` was The keys are public. when the stream was made, now Somebody says so.",
        "`tick` was 10 s when the stream was made, now 1 s",
        "`bots` was false when the stream was made, now true",
        "`lateness` was not given when the stream was made, now 5 s",
        "`stay` was 30 min when the stream was made, now not given",
    ):
        assert words in caught.value.message
    assert "`routes`" not in caught.value.message
    assert "another name" in caught.value.hint
    assert "adds up" in caught.value.hint


def test_other_options_are_named_too(store: Store) -> None:
    store.create_stream("site", KEYS, ONE, "lpa", {"window": 3, "even": True})
    with pytest.raises(GuaranteeChanged, match=r"options: `window` was 3 when the stream was made, now 4\."):
        store.create_stream("site", KEYS, ONE, "lpa", {"window": 4, "even": True})


def test_options_that_are_there_and_empty_are_named_too(store: Store) -> None:
    """As it was: `exists with other options: .`"""
    store.create_stream("site", KEYS, ONE, "lpa", {"mechanism": {}})
    with pytest.raises(GuaranteeChanged, match=r"`mechanism` was \{\} when the stream was made, now not given\."):
        store.create_stream("site", KEYS, ONE, "lpa")


def test_a_stream_of_which_nobody_recorded_how_it_counts(store: Store) -> None:
    made = store.create_stream("site", KEYS, ONE, "lpa")
    assert dict(made.counting) == dict(made.attested) == {}
    with pytest.raises(GuaranteeChanged, match="what decides who counts where was not recorded"):
        store.create_stream("site", KEYS, ONE, "lpa", {"counting": COUNTING})


UNITS = [Session(max_ticks=4), Window(4), User(horizon=8)]


@pytest.mark.parametrize("method", ONLINE)
def test_a_releaser_whose_noise_can_be_foreseen_is_refused(store: Store, method: str) -> None:
    tried = 0
    with simulation(1) as source:
        for unit in UNITS:
            for guarantee in (Guarantee.pure(unit, 1), Guarantee.approximate(unit, 1, "1e-9")):
                with suppress(InvalidParameter, UnsoundConversion):  # not every method is for every promise
                    releaser = make(method, KEYS, guarantee, source=source)
                    with pytest.raises(InsecureRandomness):
                        store.curate("site", releaser)
                    tried += 1
    assert tried
    assert store.streams() == []


def test_so_is_a_stream_of_ranges(store: Store) -> None:
    with simulation(1) as source:
        ranges = RangeStream(KEYS, ONE, window=64, source=source)
        with pytest.raises(InsecureRandomness):
            store.curate("site", ranges)
        plain = store.create_stream("site", KEYS, ONE, "ranges")
        with pytest.raises(InsecureRandomness):
            Curator(store.ledger(plain), ranges)


def test_a_curator_needs_a_releaser_of_the_stream(store: Store) -> None:
    store.create_stream("site", KEYS, ONE, "lpa")
    with pytest.raises(GuaranteeChanged):
        store.curate("site", Lpa(KEYS, Guarantee.pure(Session(max_ticks=20), 3)))


def test_unknown_streams(store: Store) -> None:
    for ask in (store.stream, store.releases, store.latest, store.budget, store.debits, store.verify, store.ledger):
        with pytest.raises(UnknownStream, match="'nothing'"):
            ask("nothing")
    with pytest.raises(UnknownStream):
        store.record_query("nothing", 3)


@pytest.mark.parametrize("name", ["", "a b", "-x", "ä", "x" * 101, 7, "a/b", "a\x00"])
def test_names_that_cannot_be(store: Store, name: str) -> None:
    with pytest.raises(InvalidParameter, match="stream's name"):
        store.create_stream(name, KEYS, ONE, "lpa")


def test_options_are_plain_values(store: Store) -> None:
    with pytest.raises(InvalidParameter, match="plain JSON"):
        store.create_stream("site", KEYS, ONE, "lpa", {"model": object()})


def test_a_changed_definition_is_seen(store: Store, path: Path) -> None:
    store.create_stream("site", KEYS, ONE, "lpa")
    with store.database.write() as connection:
        connection.execute(sa.text("UPDATE streams SET guarantee = replace(guarantee, '\"1\"', '\"2\"')"))
    with Store.open(path) as again, pytest.raises(LedgerBroken, match="definition"):
        again.stream("site")


@pytest.mark.parametrize("table", ["debits", "states", "answers"])
def test_a_new_stream_does_not_take_over_the_lines_of_one_that_was_deleted(
    path: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guarantee = Guarantee.pure(Event(), 1)
    with Store.open(path) as store, store.curate("old", Lpa(KEYS, guarantee)) as curator:
        curator.release(Counts.of(KEYS, Tick(0), [1] * len(KEYS)))
        store.remember_answer("old", b"key", b"body", 0)
    others = {"debits", "states", "answers", "releases"} - {table}
    with closing(sqlite3.connect(path)) as plain:
        for gone in others:
            plain.execute(f"DELETE FROM {gone}")
        plain.execute("DELETE FROM streams")
        plain.commit()
    with Store.open(path) as store:
        with pytest.raises(LedgerBroken, match="lines of a stream that is gone"):
            store.create_stream("new", KEYS, guarantee, "lpa")
        assert store.streams() == []
        assert not [one for one in store.grants() if one.grant.name == "new"]
        # Whatever else stands against it, it is not tried for ever.
        monkeypatch.setattr("hubbub.store.streams.make", lambda *_: None)
        with pytest.raises(LedgerBroken, match="cannot be made"):
            store.create_stream("new", KEYS, guarantee, "lpa")
