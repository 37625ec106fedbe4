"""The store on a real PostgreSQL: the same promises, two curators at once, a server that goes away."""

from __future__ import annotations

import multiprocessing
import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
import sqlalchemy as sa
from tests.support.old_stores import old_store
from tests.support.patience import until
from tests.support.slipping import KEYS as LISTED
from tests.support.slipping import VISITORS, Listing

from hubbub.confidential import Counts, Cut
from hubbub.errors import (
    GrantExhausted,
    SchemaMismatch,
    StoreSetBack,
    StoreUnavailable,
    TickOutOfOrder,
    TickTaken,
    UnreleasedDecision,
)
from hubbub.privacy import Grant, Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Grid, Keys, Tick
from hubbub.store import Store, faults, layout_3, migrations, owner, schema
from hubbub.store.database import Database

KEYS = Keys(["front", "news", "sports"])
GUARANTEE = Guarantee.pure(Session(max_ticks=4), 1)


def lpa() -> Lpa:
    return Lpa(KEYS, GUARANTEE)


def counts(tick: int | Tick) -> Counts:
    return Counts.of(KEYS, tick if isinstance(tick, Tick) else Tick(tick), np.array([812, 240, 97]))


def compete(address: str, ticks: int, threads: int, wins: Any) -> None:
    """Several threads, each with a curator of its own, all after the same ticks."""

    def run() -> None:
        with Store.open(address, patience=60) as store, store.curate("site", lpa(), patience=60) as curator:
            while curator.next_tick < ticks:
                tick = curator.next_tick
                try:
                    release = curator.release(counts(tick))
                except (TickTaken, TickOutOfOrder):
                    continue
                assert release.measurements is not None
                wins.put((tick, [int(v) for v in release.measurements]))

    workers = [threading.Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def race(address: str, processes: int, threads: int, ticks: int) -> None:
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager:
        wins = manager.Queue()
        with Store.open(address) as store:
            store.create_stream("site", KEYS, GUARANTEE, "lpa")
        workers = [spawn.Process(target=compete, args=(address, ticks, threads, wins)) for _ in range(processes)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
        won = [wins.get() for _ in range(wins.qsize())]
    released = Counter(tick for tick, _ in won)
    assert sorted(released) == list(range(ticks))
    assert set(released.values()) == {1}, "a tick was released twice"
    with Store.open(address) as store:
        found = store.verify("site")
        assert found.ok, found.faults
        assert (found.settled, found.lost, found.reserved) == (ticks, 0, 0)
        stored = {r.tick.index: r.measurements for r in store.releases("site")}
        assert all(np.array_equal(stored[tick], values) for tick, values in won)


def test_two_processes_and_several_threads_race_on_postgres(postgres_url: str) -> None:
    race(postgres_url, processes=2, threads=3, ticks=60)


def test_two_processes_and_several_threads_race_on_sqlite(tmp_path: Any) -> None:
    race(str(tmp_path / "site.db"), processes=2, threads=2, ticks=40)


def test_what_is_counted_changes_as_on_sqlite(postgres_url: str) -> None:
    grid = Grid(3, 2)
    with Store.open(postgres_url) as store:
        with store.curate("site", lpa()) as curator, store.curate("site", lpa()) as standby:
            curator.release(counts(0))
            curator.change_domain(grid, released=("site", 0))
            with pytest.raises(UnreleasedDecision):
                standby.change_domain(KEYS, released=("site", 5))
            assert standby.keys == grid
            standby.release(Counts.of(grid, Tick(1), np.full(grid.shape, 7)))
        with store.curate("site", lpa()) as curator:
            assert (curator.keys, curator.next_tick) == (grid, 2)
        assert [release.keys for release in store.releases("site")] == [KEYS, grid]
        assert store.verify("site").ok


def test_the_same_life_as_on_sqlite(postgres_url: str) -> None:
    start = Tick(0, datetime(2026, 1, 1, tzinfo=UTC), timedelta(seconds=10))
    with Store.open(postgres_url) as store:
        with store.curate("site", lpa(), reserve_ahead=3) as curator:
            made = [curator.release(counts(start.after(i))) for i in range(4)]
            curator.predict(start.after(4))
        with store.curate("site", lpa()) as curator:
            assert curator.next_tick == 5
            curator.release(counts(start.after(5)))
        stored = list(store.releases("site", last=3))
        assert [r.tick for r in stored] == [r.tick for r in made]
        assert all(np.array_equal(a.measurements, b.measurements) for a, b in zip(made, stored, strict=True))
        assert store.budget("site").spent == Fraction(1)
        assert store.verify("site").ok
        store.record_query("site", 7)
        assert store.recent_queries("site") == [7]
        secret = store.tokens.add("reader")
        found = store.tokens.lookup(secret)
        assert found is not None
        assert store.tokens.revoke(found.id)
    with Store.open(postgres_url, read_only=True) as store:
        assert store.latest("site")[0].tick.index == 5
        with pytest.raises(StoreUnavailable, match="read-only"):
            store.record_query("site", 3)


def test_a_lost_tick(postgres_url: str) -> None:
    class Broken(Exception):
        pass

    def fail(name: str) -> None:
        if name == "settle:state":
            raise Broken

    with Store.open(postgres_url) as store:
        curator = store.curate("site", lpa())
        curator.release(counts(0))
        faults.install(fail)
        try:
            with pytest.raises(Broken):
                curator.release(counts(1))
        finally:
            faults.install(None)
        owner.retire(curator._owner)
        with store.curate("site", lpa()) as second:
            assert second.next_tick == 2
            second.release(counts(2))
        assert [d.state for d in store.debits("site")] == ["settled", "lost", "settled"]
        assert store.verify("site").ok


def test_layouts(new_postgres: Callable[[], str]) -> None:
    fresh = new_postgres()
    with Store.open(fresh) as store, store.database.read() as connection:
        found = sa.MetaData()
        found.reflect(connection)
        assert set(found.tables) == set(schema.metadata.tables)
    older = new_postgres()
    with psycopg.connect(older) as connection:  # layout 1: no query history and no tokens
        made = sa.create_mock_engine(
            "postgresql+psycopg://", lambda ddl, *_: connection.execute(str(ddl.compile(dialect=made.dialect)))
        )
        tables = [layout_3.version, layout_3.streams, layout_3.debits, layout_3.releases, layout_3.states]
        layout_3.metadata.create_all(made, tables=tables, checkfirst=False)
        connection.execute("INSERT INTO hubbub_schema VALUES (1)")
    with Store.open(older) as store:
        store.create_stream("site", KEYS, GUARANTEE, "lpa")
        store.record_query("site", 3)
    with psycopg.connect(older) as connection:
        connection.execute("UPDATE hubbub_schema SET version = %s", (migrations.VERSION + 1,))
    with pytest.raises(SchemaMismatch, match="knows up to"):
        Store.open(older)


def test_slips_as_on_sqlite_and_a_store_of_the_layout_before(postgres_url: str) -> None:
    part = VISITORS.part("1/2", "1/4")

    def counted(tick: int) -> Counts:
        return Counts.of(LISTED, Tick(tick), np.array([812, 240, 97]))

    with Store.open(postgres_url) as store:
        with store.curate("site", Lpa(LISTED, GUARANTEE)) as curator:
            curator.release(counted(0))
        head = store.verify("site").head
    with psycopg.connect(postgres_url) as connection:  # as it was before
        connection.execute("DROP TABLE forgotten")
        later = ("streams", "slips"), ("debits", "delta"), ("debits", "settled_delta"), ("releases", "joint")
        for table, column in later:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute("UPDATE hubbub_schema SET version = 7")
    with Store.open(postgres_url) as store:
        assert store.verify("site", head=head).require().anchor_tick == 0
        with store.curate("site", Lpa(LISTED, GUARANTEE)) as curator:
            assert curator.proved
            curator.release(counted(1))
        with store.curate("lists", Listing(LISTED, part.guarantee), part=part) as curator:
            curator.release(counted(0))
            assert curator.lose(Tick(1)).cost.delta == part.guarantee.slips / 4
        assert store.verify("lists").require().slipped == part.guarantee.slips / 2
        with pytest.raises(GrantExhausted, match="has 3/4 of its slips left"):
            store.create_stream("more", LISTED, VISITORS.part("1/4", "4/5"), "listing")
        with store.database.write() as connection:
            connection.execute(sa.text("UPDATE debits SET settled_delta = '0' WHERE settled_delta IS NULL"))
        assert not store.verify("site").ok


def test_streams_that_are_older_than_grants_get_theirs(new_postgres: Callable[[], str], tmp_path: Path) -> None:
    """What an earlier version wrote, brought over row by row and then forward."""
    address, old = new_postgres(), old_store(tmp_path / "old.db")
    database = Database.at(address, create=True, read_only=False, patience=5)
    with database.write() as connection, sa.create_engine(f"sqlite:///{old}").connect() as source:
        for step in migrations.STEPS[:4]:
            step(connection)
        connection.execute(sa.text("UPDATE hubbub_schema SET version = 4"))
        for table in (layout_3.streams, layout_3.debits, layout_3.releases, layout_3.states):
            connection.execute(sa.insert(table), [dict(row) for row in source.execute(sa.select(table)).mappings()])
    database.close()
    with Store.open(address) as store:
        assert {one.grant.name: one.left for one in store.grants()} == dict.fromkeys(
            ("by-hand", "delta", "flow", "shop", "site"), 0
        )
        assert store.grant("site").shares["site"] == Fraction(3, 4)
        assert all(store.verify(stream.name).ok for stream in store.streams())


def want(address: str, name: str, ready: Any, outcomes: Any) -> None:
    """The last quarter of the grant, the moment all others want it too."""
    with Store.open(address, patience=60) as store:
        ready.wait()
        try:
            store.create_stream(name, KEYS, Grant("visitors", GUARANTEE).part("1/4"), "lpa")
            outcomes.put(name)
        except GrantExhausted:
            outcomes.put(None)


def test_of_two_monitors_that_want_the_last_part_one_gets_it(postgres_url: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    with Store.open(postgres_url) as store:
        for turn in range(2):  # a grant that is new to both, and one that has a quarter left
            if turn:
                store.create_stream(f"rest-{turn}", KEYS, Grant("visitors", GUARANTEE).part("1/4"), "lpa")
            ready, outcomes = spawn.Barrier(2), spawn.Queue()
            rivals = [spawn.Process(target=want, args=(postgres_url, f"s{turn}-{i}", ready, outcomes)) for i in (0, 1)]
            for rival in rivals:
                rival.start()
            found = [outcomes.get(timeout=120) for _ in rivals]
            for rival in rivals:
                rival.join()
            left = store.grant("visitors").left
            assert (left, sum(name is not None for name in found)) == [(Fraction(1, 2), 2), (0, 1)][turn]
        with pytest.raises(GrantExhausted, match="has nothing of its budget left"):
            store.create_stream("more", KEYS, Grant("visitors", GUARANTEE).part("1/4"), "lpa")


def copied(server: Any, source: str, target: str) -> None:
    """The database `target` made anew as a copy of `source`; whoever is connected to either is cut off."""
    names = [sa.make_url(address).database for address in (source, target)]
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ANY(%s)", (names,)
        )  # fmt: skip
        connection.execute(f'DROP DATABASE IF EXISTS "{names[1]}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{names[1]}" TEMPLATE "{names[0]}"')


def test_a_restored_backup_is_refused_and_mended(new_postgres: Callable[[], str], postgres_server: Any) -> None:
    address, backup = new_postgres(), new_postgres()
    with Store.open(address) as store, store.curate("site", lpa()) as curator:
        for tick in range(3):
            curator.release(counts(tick))
        copied(postgres_server, address, backup)
        for tick in range(3, 13):
            curator.release(counts(tick))
        copied(postgres_server, backup, address)  # under the running curator
        for _ in range(3):
            with pytest.raises((StoreSetBack, StoreUnavailable)) as caught:
                curator.release(counts(13))
        assert isinstance(caught.value, StoreSetBack)
    with Store.open(address) as store:
        with pytest.raises(StoreSetBack, match="tick 12 was debited"):
            store.curate("site", lpa())
        assert store.mend("site") == 10
        with store.curate("site", lpa()) as curator:
            assert curator.next_tick == 13
            curator.release(counts(13))
        assert [d.state for d in store.debits("site")] == ["settled"] * 3 + ["lost"] * 10 + ["settled"]
        assert store.verify("site").ok


def test_two_monitors_agree_on_cuts_and_answers(postgres_url: str) -> None:
    found: list[Cut] = []
    answered: list[tuple[bytes, int]] = []
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with Store.open(postgres_url) as store:
        store.create_stream("site", KEYS, GUARANTEE, "lpa")

    def run(name: str) -> None:
        with Store.open(postgres_url) as store:
            for tick in range(20):
                found.append(store.keep_cut("site", Cut(tick, now, {"at": name}, name)))
                answered.append(store.remember_answer("site", b"%d" % tick, name.encode(), tick))

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(set(map(repr, found)))) == (40, 20)
    assert (len(answered), len(set(answered))) == (40, 20)
    with Store.open(postgres_url) as store:
        assert len(store.cuts("site", 10)) == 10
        store.forget_cuts("site", 15)
        assert [cut.tick for cut in store.cuts("site")] == list(range(15, 20))


def test_many_open_an_empty_database_at_once(postgres_url: str) -> None:
    failed: list[BaseException] = []

    def run() -> None:
        try:
            with Store.open(postgres_url) as store:
                store.create_stream("site", KEYS, GUARANTEE, "lpa")
        except BaseException as error:
            failed.append(error)

    workers = [threading.Thread(target=run) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed


def test_a_stream_that_is_held_too_long(postgres_url: str) -> None:
    with Store.open(postgres_url, patience=0.2) as store, store.curate("site", lpa()) as curator:
        with psycopg.connect(postgres_url) as other:
            other.execute("SELECT * FROM streams FOR UPDATE")
            with pytest.raises(StoreUnavailable, match="locked"):
                curator.release(counts(0))
        curator.release(counts(0))
        assert [d.state for d in store.debits("site")] == ["settled"]


@pytest.mark.parametrize("where", ["idle", "debit:begin", "debit:written", "draw:done", "settle:release"])
def test_a_server_that_goes_away_and_comes_back(postgres_url: str, postgres_server: Any, where: str) -> None:
    """Every connection is cut by the server, in each step; the next tick finds the store usable again."""

    def cut(name: str = "idle") -> None:
        if name == where:
            faults.install(None)
            with psycopg.connect(postgres_server.get_uri(), autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                    (sa.make_url(postgres_url).database,),
                )

    with Store.open(postgres_url) as store, store.curate("site", lpa()) as curator:
        curator.release(counts(0))
        if where in ("idle", "debit:begin", "draw:done"):
            # Nothing of ours is open on the server in that moment: the pool sees it and connects anew by itself.
            faults.install(cut)
            cut()
            curator.release(counts(1))
            lost = 0
        else:
            faults.install(cut)
            with pytest.raises(StoreUnavailable, match="does not answer"):
                curator.release(counts(1))
            lost = int(where == "settle:release")
        curator.release(counts(2))
        found = store.verify("site")
        assert found.ok
        assert found.lost == lost


def test_a_server_that_is_stopped_and_started(postgres_url: str, postgres_server: Any) -> None:
    with Store.open(postgres_url, patience=2) as store, store.curate("site", lpa()) as curator:
        curator.release(counts(0))
        with postgres_server._lock:
            postgres_server._stop()
        with pytest.raises(StoreUnavailable, match=r"does not answer.*usable again"):
            curator.release(counts(1))
        with pytest.raises(StoreUnavailable):
            store.budget("site")
        with postgres_server._lock:
            postgres_server.ensure_postgres_running()

        def released() -> bool:
            try:
                return curator.release(counts(1)) is not None
            except StoreUnavailable:
                return False

        until(released, "the server is back")
        assert [d.state for d in store.debits("site")] == ["settled", "settled"]
        assert store.verify("site").ok


def test_no_server_and_wrong_names(postgres_url: str) -> None:
    with pytest.raises(StoreUnavailable, match="does not answer") as caught:
        Store.open("postgresql://someone:secret@127.0.0.1:1/hubbub")
    assert "secret" not in str(caught.value)
    wrong = sa.make_url(postgres_url).set(database="nothing_here").render_as_string(hide_password=False)
    with pytest.raises(StoreUnavailable):
        Store.open(wrong)


def test_a_server_that_may_forget_is_refused(postgres_url: str, postgres_server: Any) -> None:
    def setting(statement: str, wanted: str) -> None:
        """In force when a new session sees it: how long the server takes to read its settings is its own matter."""
        name = statement.split()[3]
        with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
            connection.execute(statement)
            connection.execute("SELECT pg_reload_conf()")

        def seen() -> bool:
            with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
                return connection.execute(f"SHOW {name}").fetchone() == (wanted,)

        until(seen, f"{name} is {wanted}")

    setting("ALTER SYSTEM SET fsync = off", "off")
    try:
        with pytest.raises(StoreUnavailable, match="fsync=off"):
            Store.open(postgres_url)
    finally:
        setting("ALTER SYSTEM RESET fsync", "on")
    setting("ALTER SYSTEM SET synchronous_commit = off", "off")
    try:
        with Store.open(postgres_url) as store, store.database.write() as connection:
            assert connection.execute(sa.text("SHOW synchronous_commit")).scalar_one() == "on"
    finally:
        setting("ALTER SYSTEM RESET synchronous_commit", "on")
