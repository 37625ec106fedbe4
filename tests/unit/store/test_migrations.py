from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.support.old_stores import old_store

from hubbub.cli.main import main
from hubbub.confidential import Counts
from hubbub.errors import GuaranteeChanged, SchemaMismatch
from hubbub.monitor.paired import JoinedCurator, RangePlan, open_curator
from hubbub.privacy import Event, Grant, Guarantee, Session, User
from hubbub.ranges import RangeStream
from hubbub.release import Lpa
from hubbub.released import Keys, Tick
from hubbub.store import Store, migrations, schema

KEYS = Keys(["front", "news"])
SESSIONS = Guarantee.pure(Session(max_ticks=4), 1)


def lpa() -> Lpa:
    return Lpa(KEYS, SESSIONS)


def counts(tick: int) -> Counts:
    return Counts.of(KEYS, Tick(tick), [812, 240])


@pytest.fixture
def layout_3(tmp_path: Path) -> Path:
    """A store of version 0.1: a monitor's stream with ranges, and others made by hand."""
    return old_store(tmp_path / "old.db", 3)


@pytest.mark.parametrize("version", [1, 3, 4])
def test_an_older_store_is_brought_forward_with_all_it_holds(tmp_path: Path, version: int) -> None:
    old = old_store(tmp_path / "old.db", version)
    with pytest.raises(SchemaMismatch, match=f"layout {version}"):
        Store.open(old, read_only=True)
    with Store.open(old) as store:
        for name, (head, tick) in HEADS.items():
            assert store.verify(name, head=head).require().anchor_tick == tick
        assert store.mend("by-hand", upto=0) == 0  # there were no marks then: its owner says that nothing is missing
        with store.curate("by-hand", lpa()) as curator:
            assert curator.next_tick == 1
            curator.release(counts(1))
        store.record_query("site", 5)
        assert store.tokens.list() == []
        assert layout(store) == migrations.VERSION


# Seals of the last outcomes, as the code of that time told them: a head that was written down stays true.
HEADS = {
    "by-hand": ("6d3fe0167ba52e6c47f299496b5e1e09db140e5f8faca477a521054c44414ccd", 0),
    "delta": ("65a577c483f98fe695882e1d144654281ec5aa8156d31857ece7de8f185d8dc3", 0),
    "flow": ("fa469205dc8a73ae83079d63265237cb9596fcba59b3bf048e98efa69b740cbb", 1),
    "flow.ranges": ("6179cdf63dbb87945899e4ca549495e9856ea05c115c2255e914c751ff7cfcba", 1),
    "shop": ("31b941391a146a80ea27fe8adab881c97a063e2f7a0e37c500c74b724e0ceb84", 1),
    "shop.ranges": ("aba8ac94f2786ef93fbee6a049f3ea9cc169c39b31552a8b02d248fb91fca815", 1),
    "site": ("69756b35baad6ff5f32755ef439d90914be1e53c6262df3645d23a2ecfbea15e", 2),
    "site.ranges": ("98e117e4bf6d72e0d6a848e94230e28f1a631e6a90a367ed3a1ff2cef14ca076", 2),
}


def test_places_go_and_their_streams_are_doubted(layout_3: Path) -> None:
    with Store.open(layout_3) as store:
        with store.database.read() as connection:
            assert not sa.inspect(connection).has_table("places")
        for name in ("site", "site.ranges"):
            (doubt,) = store.stream(name).doubts()
            assert "did not record what decides who counts where" in doubt
            for cause in ("changed while", "lost its past", "started again", "busy visitor", "broken line", "errata"):
                assert cause in doubt
            assert "another name" in doubt
        assert store.stream("by-hand").doubts() == ()
        with store.curate("by-hand", lpa()) as curator:
            assert not curator.proved  # a store of the time before marks
            assert curator.next_tick == 1
        fresh = store.create_stream("fresh", lpa().keys, lpa().guarantee, "lpa")
        assert fresh.counted_earlier is None
        assert store.verify("site").ok


def test_doubts_are_told(layout_3: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Store.open(layout_3).close()
    for command in (["show"], ["show", "site"], ["verify", "site"]):
        arguments = ["ledger", command[0], str(layout_3), *command[1:]]
        assert main(arguments) == 0
        assert "site: DOUBT: A monitor of an earlier version" in " ".join(capsys.readouterr().out.split())
        assert main([*arguments, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        streams = {one["stream"]: one for one in told.get("streams", [told])}
        assert len(streams["site"]["doubts"]) == 1
        assert streams.get("by-hand", {"doubts": []})["doubts"] == []


def test_doubts_about_a_method_of_ranges_are_joined(layout_3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    def doubt(*given: object) -> str:
        asked.append(given)
        return "It promised too much." if given[0] == "auto" else ""

    monkeypatch.setattr("hubbub.store.store.doubt", doubt)
    with Store.open(layout_3) as store:
        assert store.doubts("site.ranges")[1:] == (), "its state is of today"
        monkeypatch.setattr("hubbub.store.store.FAULTY", RangeStream.state_version)
        assert store.doubts("site.ranges")[1:] == ("It promised too much.",)
        assert len(store.doubts("site")) == 1
        assert asked == [("auto", store.stream("site.ranges").guarantee, 64)]
        fresh = store.create_stream("fresh", Keys(["a"]), store.stream("site").guarantee, "ranges")
        assert store.doubts(fresh) == ()


@pytest.fixture
def layout_4(tmp_path: Path) -> Path:
    return old_store(tmp_path / "old.db")


def test_two_tied_streams_become_two_of_one_grant_and_others_get_their_own(layout_4: Path) -> None:
    people = Guarantee.zcdp(User(max_ticks=2, horizon=50), "1/10")
    with Store.open(layout_4) as store:
        found = {one.grant.name: one for one in store.grants()}
        assert {name: dict(one.shares) for name, one in found.items()} == {
            "by-hand": {"by-hand": 1},
            "delta": {"delta": 1},
            "flow": {"flow.ranges": Fraction(1, 2), "flow": Fraction(1, 2)},
            "shop": {"shop.ranges": Fraction(1, 2), "shop": Fraction(1, 2)},
            "site": {"site.ranges": Fraction(1, 4), "site": Fraction(3, 4)},
        }
        assert all(one.left == 0 for one in found.values())
        assert (found["site"].grant, found["flow"].grant) == (Grant("site", SESSIONS), Grant("flow", people))
        assert found["delta"].grant.guarantee == Guarantee.approximate(Event(), 1, "1e-9")
        assert store.budget("flow.ranges").spent == 4 * Fraction(1, 40)
        assert (store.stream("site.ranges").ranges_of, store.ranges_of("site")) == ("site", store.stream("site.ranges"))


def test_streams_of_that_time_go_on_and_are_refused_as_ever(layout_4: Path) -> None:
    with Store.open(layout_4) as store:
        for name in ("site", "site.ranges"):
            assert store.mend(name, upto=2) == 0
        plan = RangePlan(64, Fraction(1, 4))  # options were not recorded then: it goes on with the defaults alone
        with open_curator(store, "site", KEYS, SESSIONS, Lpa, plan) as curator:
            assert isinstance(curator, JoinedCurator)
            assert (curator.next_tick, curator.guarantee) == (3, SESSIONS)
            curator.release(counts(3))
        facts = {"counting": dict(store.stream("shop").counting), "attested": {"keys": "The keys are public."}}
        weaker = Guarantee.pure(Session(max_ticks=4), 2)
        open_curator(store, "shop", KEYS, weaker, Lpa, RangePlan(64), facts).close()
        for name in ("site", "site.ranges"):
            assert store.verify(name).ok
        before = store.budget("site")
        for other in (RangePlan(64), None, RangePlan(65, Fraction(1, 4)), RangePlan(64, Fraction(1, 4), "two-level")):
            with pytest.raises(GuaranteeChanged):
                open_curator(store, "site", KEYS, SESSIONS, Lpa, other)
        named = Grant("site", SESSIONS, "visitors of example.org").part()
        with pytest.raises(GuaranteeChanged, match="another grant: `population` was empty when the stream was made"):
            open_curator(store, "site", KEYS, named, Lpa, plan)
        assert store.budget("site") == before


def test_what_a_crash_left_half_made_is_gone(layout_4: Path) -> None:
    with Store.open(layout_4) as store:
        assert store.find("half.ranges") is None
        with open_curator(store, "half", KEYS, Guarantee.pure(Event(), 1), Lpa, RangePlan(8)) as curator:
            curator.release(counts(0))
        assert dict(store.grant("half").shares) == {"half": Fraction(1, 2), "half.ranges": Fraction(1, 2)}


def test_a_half_made_stream_that_was_debited_stays(tmp_path: Path) -> None:
    old = old_store(tmp_path / "old.db")
    with sqlite3.connect(old) as connection:  # as no version ever left it; what was spent must not be forgotten
        connection.execute("DELETE FROM states WHERE stream = (SELECT id FROM streams WHERE name = 'site')")
        for table in ("debits", "releases"):
            connection.execute(f"DELETE FROM {table} WHERE stream = (SELECT id FROM streams WHERE name = 'site')")
        connection.execute("DELETE FROM streams WHERE name = 'site'")
    connection.close()
    with Store.open(old) as store:
        assert dict(store.grant("site.ranges").shares) == {"site.ranges": 1}
        assert store.budget("site.ranges").spent == Fraction(3, 16)


def test_a_migrated_grant_that_was_changed_is_seen(layout_4: Path) -> None:
    """The streams of that time do not name their grant: it is held against what they promise together."""
    with Store.open(layout_4) as store, store.database.write() as connection:
        connection.execute(sa.text("UPDATE streams SET grant_id = (SELECT id FROM grants WHERE name = 'by-hand') "
                                   "WHERE name = 'site'"))  # fmt: skip
    with Store.open(layout_4) as store:
        assert any("is not the sum" in str(fault) for fault in store.verify("site.ranges").faults)


def test_every_store_has_a_name_of_its_own(tmp_path: Path, layout_3: Path) -> None:
    names = set()
    for path in (tmp_path / "one.db", tmp_path / "two.db", layout_3):
        with Store.open(path) as store, store.database.read() as connection:
            names.add(connection.execute(sa.select(schema.version.c.store)).scalar_one())
    assert len(names) == 3
    assert all(len(name) == 32 for name in names)


def layout(store: Store) -> int:
    with store.database.read() as connection:
        return connection.execute(sa.select(schema.version.c.version)).scalar_one()


def test_a_fresh_store_has_the_layout_that_the_code_knows(store: Store) -> None:
    assert layout(store) == migrations.VERSION
    with store.database.read() as connection:
        found = sa.MetaData()
        found.reflect(connection)
    assert {name: sorted(table.c.keys()) for name, table in found.tables.items()} == {
        name: sorted(table.c.keys()) for name, table in schema.metadata.tables.items()
    }


def test_a_newer_store_is_left_alone(path: Path) -> None:
    with Store.open(path) as store, store.database.write() as connection:
        connection.execute(sa.update(schema.version).values(version=migrations.VERSION + 1))
    before = path.read_bytes()
    with pytest.raises(
        SchemaMismatch,
        match=f"layout {migrations.VERSION + 1}; this version of Hubbub knows up to {migrations.VERSION}",
    ):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_step_that_fails_leaves_the_old_layout(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(connection: sa.Connection) -> None:
        connection.execute(sa.text("CREATE TABLE half (x INTEGER)"))
        raise RuntimeError

    Store.open(path).close()
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, fails))
    monkeypatch.setattr(migrations, "VERSION", len(migrations.STEPS))
    with pytest.raises(RuntimeError):
        Store.open(path)
    monkeypatch.undo()
    with Store.open(path) as store, store.database.read() as connection:
        assert layout(store) == migrations.VERSION
        assert not sa.inspect(connection).has_table("half")
