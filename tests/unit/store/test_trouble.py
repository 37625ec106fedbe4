"""Disks that are full, files that are read-only, locks and wrong addresses: by real means, without being root."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter, LedgerBroken, MissingExtra, StoreUnavailable
from hubbub.privacy import Event, Guarantee
from hubbub.release import Lpa
from hubbub.released import Keys, Tick
from hubbub.store import Store, database, faults, owner
from hubbub.store.unavailable import unavailable

Make = Callable[[], Lpa]
MakeCounts = Callable[..., Counts]


def full_from_now_on(store: Store) -> Callable[[], None]:
    """SQLite's own limit of pages, on every connection of the pool: what it says then is what a full disk says."""
    limit = [0]

    @sa.event.listens_for(store.database._engine, "checkout")
    def checkout(connection: Any, record: Any, proxy: Any) -> None:
        connection.execute(f"PRAGMA max_page_count = {limit[0] or 2**30}")

    with store.database.read() as connection:
        limit[0] = connection.execute(sa.text("PRAGMA page_count")).scalar_one()

    def free() -> None:
        limit[0] = 0

    return free


def grow_until_full(curator: Any, counts: MakeCounts, tick: int) -> int:
    """The free room inside the last pages is used up first."""
    at = tick
    with pytest.raises(StoreUnavailable, match=r"full: .* Free some space"):  # noqa: PT012
        for at in range(tick, tick + 500):
            curator.release(counts(at))
    return at


def test_a_full_disk_spends_nothing_in_silence_and_the_stream_goes_on(
    store: Store, lpa: Make, counts: MakeCounts
) -> None:
    with store.curate("site", lpa()) as curator:
        curator.release(counts(0))
        free = full_from_now_on(store)
        failed = grow_until_full(curator, counts, 1)
        assert failed not in [r.tick.index for r in store.releases("site")]
        assert store.verify("site").ok
        grow_until_full(curator, counts, failed + 1)
        free()
        curator.release(counts(failed + 600))
        found = store.verify("site")
        assert found.ok
        assert found.reserved == 0


def test_full_between_debit_and_settlement_loses_the_tick(store: Store, lpa: Make) -> None:
    many = Keys([f"page {i}" for i in range(5_000)])  # an outcome takes pages that the debit does not
    with store.curate("site", Lpa(many, lpa().guarantee)) as curator:
        curator.release(Counts.of(many, Tick(0), np.zeros(len(many), dtype=int)))
        free: list[Callable[[], None]] = []
        faults.install(lambda name: free.append(full_from_now_on(store)) if name == "draw:done" else None)
        with pytest.raises(StoreUnavailable, match="full"):
            curator.release(Counts.of(many, Tick(1), np.zeros(len(many), dtype=int)))
        faults.install(None)
        assert store.budget("site").reserved == 1
        free[0]()
        curator.release(Counts.of(many, Tick(2), np.zeros(len(many), dtype=int)))
    assert [d.state for d in store.debits("site")] == ["settled", "lost", "settled"]
    assert store.verify("site").ok


def child(code: str, *arguments: str, limit: int | None = None) -> str:
    """Run `code` in a process of its own; with `limit`, no file may grow beyond that many bytes."""

    def prepare() -> None:
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then the write itself fails, as on a broken disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PRELUDE) + textwrap.dedent(code), *arguments],
        preexec_fn=prepare, capture_output=True, text=True, check=False, env=dict(os.environ),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


PRELUDE = """
    import sys
    import numpy as np
    from hubbub.confidential import Counts
    from hubbub.errors import StoreUnavailable
    from hubbub.privacy import Guarantee, Session
    from hubbub.release import Lpa
    from hubbub.released import Keys, Tick
    from hubbub.store import Store
    keys = Keys(["front", "news", "sports"])
    lpa = Lpa(keys, Guarantee.pure(Session(max_ticks=4), 1))
    def release(curator, tick):
        return curator.release(Counts.of(keys, Tick(tick), np.array([812, 240, 97])))
"""


def test_writes_that_fail_in_the_kernel(path: Path, lpa: Make, counts: MakeCounts) -> None:
    code = """
        published = 0
        with Store.open(sys.argv[1]) as store, store.curate("site", lpa) as curator:
            try:
                while True:
                    release(curator, published)
                    published += 1
            except StoreUnavailable as error:
                print(published, error.message)
    """
    published, message = child(code, str(path), limit=200_000).split(" ", 1)
    assert "full" in message or "disk reports an error" in message
    with Store.open(path) as store, store.curate("site", lpa()) as curator:
        found = store.verify("site")
        assert found.ok
        assert found.settled == int(published)
        curator.release(counts(curator.next_tick))


@pytest.mark.parametrize("read_only", ["mode", "pragma"])
def test_a_read_only_store_says_so(path: Path, lpa: Make, counts: MakeCounts, read_only: str) -> None:
    with Store.open(path) as store, store.curate("site", lpa()) as curator:
        curator.release(counts(0))
    with Store.open(path, read_only=read_only == "mode") as store:
        if read_only == "pragma":

            @sa.event.listens_for(store.database._engine, "checkout")
            def checkout(connection: Any, record: Any, proxy: Any) -> None:
                connection.execute("PRAGMA query_only = ON")

        with pytest.raises(StoreUnavailable, match="read-only"), store.curate("site", lpa()) as curator:
            curator.release(counts(1))
        assert [d.tick for d in store.debits("site")] == [0]
        assert store.verify("site").ok


def test_a_lock_that_is_held_too_long(path: Path, lpa: Make, counts: MakeCounts) -> None:
    with Store.open(path, patience=0.1) as store, store.curate("site", lpa()) as curator:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            curator.release(counts(0))
        other.execute("ROLLBACK")
        other.close()
        curator.release(counts(0))
        assert [d.state for d in store.debits("site")] == ["settled"]


def test_a_file_that_is_no_database(path: Path) -> None:
    path.write_text("These are my holiday notes. " * 100)
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match="not a database"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_damaged_database(path: Path, lpa: Make, counts: MakeCounts) -> None:
    with Store.open(path) as store, store.curate("site", lpa()) as curator:
        for tick in range(30):
            curator.release(counts(tick))
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(bytes(data))
    with pytest.raises(LedgerBroken, match="damaged"), Store.open(path) as store:
        store.verify("site")


@pytest.mark.parametrize("address", ["mysql://x/y", "sqlite://", ":memory:", "sqlite:///:memory:", "", "://"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(InvalidParameter, match="not the address of a store"):
        Store.open(address)


def test_places_where_nothing_is(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no store at"):
        Store.open(tmp_path / "none.db", create=False)
    with pytest.raises(StoreUnavailable, match="no store at"):
        Store.open(tmp_path / "none.db", read_only=True)
    with pytest.raises(StoreUnavailable, match="folder"):
        Store.open(tmp_path / "no" / "folder.db")
    with pytest.raises(StoreUnavailable, match="no regular file"):
        Store.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_postgres_without_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"hubbub\[postgres\]"):
        Store.open("postgresql://localhost/hubbub")


def test_a_store_does_not_cross_a_fork(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = os.getpid()
    monkeypatch.setattr(database.os, "getpid", lambda: pid + 1)
    with pytest.raises(StoreUnavailable, match="forked"):
        store.streams()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"sqlite_errorcode": 5}, "locked"),
        ({"sqlite_errorcode": 10 | (3 << 8)}, "disk reports an error"),
        ({"sqlite_errorcode": 21}, "failed"),
        ({"sqlstate": "53100"}, "full"),
        ({"sqlstate": "28P01"}, "refuses this user"),
        ({"sqlstate": "3D000"}, "does not exist"),
        ({"sqlstate": "57P01"}, "does not answer"),
        ({"sqlstate": "42701"}, "SQLSTATE 42701"),
        ({}, "does not answer"),
    ],
)
def test_each_trouble_has_words(error: dict[str, Any], words: str) -> None:
    raised = OSError("driver's words")
    for name, value in error.items():
        setattr(raised, name, value)
    said = unavailable(raised, "site.db")
    assert isinstance(said, StoreUnavailable)
    assert words in said.message
    assert said.hint


def test_more_threads_than_connections(path: Path) -> None:
    with Store.open(path, patience=0.1) as store, ExitStack() as held:
        for _ in range(15):
            held.enter_context(store.database.read())
        with pytest.raises(StoreUnavailable, match="in use"):
            store.streams()
        held.close()
        assert store.streams() == []


class TestOwners:
    def test_of_this_process(self) -> None:
        one = owner.new_owner()
        assert not owner.is_gone(one)
        owner.retire(one)
        assert owner.is_gone(one)

    def test_of_another_process(self) -> None:
        script = (
            "import sys; from hubbub.store.owner import new_owner; print(new_owner(), flush=True); sys.stdin.read()"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert not owner.is_gone(name)
        process.kill()
        process.communicate()
        assert owner.is_gone(name)

    def test_of_another_machine_nothing_is_known(self) -> None:
        assert not owner.is_gone("elsewhere:1:2:3")

    def test_without_proc(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(*_: object) -> None:
            raise PermissionError

        monkeypatch.setattr(owner, "_read", lambda _: "")
        owner._host.cache_clear()
        try:
            assert owner._began(os.getpid()) == "?"
            assert owner._began(2**22 + 1) == ""
            monkeypatch.setattr(owner.os, "readlink", fails)
            assert not owner.is_gone(owner.new_owner())
            monkeypatch.setattr(owner.os, "kill", fails)
            assert owner._began(1) == "?"  # it is there, but belongs to somebody else
        finally:
            owner._host.cache_clear()


def test_a_value_of_the_wrong_type_is_no_trouble_of_the_store(store: Store) -> None:
    store.create_stream("site", Keys(["front"]), Guarantee.pure(Event(), 1), "lpa")
    (one,) = store.grants()
    looks: list[Callable[[Any], object]] = [store.total, store.grant, store.grant_budget, store.stream, store.budget]
    for look in looks:
        with pytest.raises(InvalidParameter, match=r"is named by a text; got a StoredGrant\. Give its name"):
            look(one)
    with pytest.raises(InvalidParameter, match="of a type that no database"), store.database.read() as connection:
        connection.execute(sa.text("SELECT :given"), {"given": object()})
    assert store.total("site")
