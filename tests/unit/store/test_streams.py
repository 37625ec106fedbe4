from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from hubbub.errors import GuaranteeChanged, InvalidParameter, LedgerBroken, UnknownStream
from hubbub.privacy import Event, Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Keys
from hubbub.store import Store

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
