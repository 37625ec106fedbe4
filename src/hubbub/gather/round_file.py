"""What one server keeps of a query on its own disk, so that it goes on after a crash, and forgets in time."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hubbub.errors import InvalidInput, QueryMismatch, StoreUnavailable
from hubbub.gather.faults import fault_point

LAYOUT = 1
WAITING, BEGUN, ADDED, REFUSED = range(4)
"""Where a report stands: taken in; being checked with the other server; in the sum; not in the sum."""

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reports (nonce BLOB PRIMARY KEY, stage INTEGER NOT NULL, refusal TEXT NOT NULL DEFAULT '')
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS parts (number INTEGER PRIMARY KEY, nonce BLOB NOT NULL UNIQUE, stage INTEGER NOT NULL,
    own BLOB NOT NULL, other BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS verdicts (number INTEGER PRIMARY KEY, message BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tickets (number BLOB PRIMARY KEY) WITHOUT ROWID;
"""
_SETTINGS = (
    "PRAGMA page_size = 8192",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -4096",
    "PRAGMA temp_store = MEMORY",
)
_FORGOTTEN = ("reports", "parts", "verdicts", "tickets")


class RoundFile:
    """One SQLite file for one server and one query; in memory where there is no path. One process holds it at a time.

    Parts of reports lie in it as clients sealed them, and sums sealed by the server for itself: whoever finds the file
    without the server's key reads no share in it. `forget` empties it, and leaves no byte of them in the file.
    """

    def __init__(self, path: Path | None, query: bytes, server: int) -> None:
        self._path = path
        self._held: int | None = None
        try:
            if path is not None:
                self._held = _hold(path)
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False, timeout=5)
        except (OSError, sqlite3.Error) as error:
            self._let_go()
            raise _unavailable(error) from None
        try:
            self._prepare(query, server)
        except BaseException:
            self.close()
            raise

    def _prepare(self, query: bytes, server: int) -> None:
        try:
            for setting in _SETTINGS:
                self._db.execute(setting)
            known = self._db.execute("SELECT name FROM sqlite_master WHERE name = 'facts'").fetchone()
            with self.change(""):
                for statement in filter(str.strip, _TABLES.split(";")):
                    self._db.execute(statement)
                if known is None:
                    self.put(layout=bytes([LAYOUT]), query=query, server=bytes([server]), state=b"open")
            facts = self.facts()
        except sqlite3.DatabaseError:
            raise InvalidInput(
                "This file is no round of ours, or it is damaged.", "Give the one that was kept."
            ) from None
        if facts.get("layout") != bytes([LAYOUT]):
            raise InvalidInput("This round was kept by another version.", "Finish it with that one.")
        if facts["query"] != query:
            raise QueryMismatch("What was kept here is about another query, or one with other parameters.")
        if facts["server"] != bytes([server]):
            raise QueryMismatch("This was kept by the other server.")

    # ── transactions ─────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def change(self, step: str, refused: Counter[str] | None = None) -> Iterator[None]:
        """All or nothing, and on disk when it ends. `refused` is written with whatever else is."""
        try:
            if step:
                fault_point(f"{step}:begin")
            self._db.execute("BEGIN IMMEDIATE")
            before = self._db.total_changes
            yield
            if refused is not None and self._db.total_changes != before:
                self.put(refused=json.dumps(refused, sort_keys=True).encode())
            if step:
                fault_point(f"{step}:written")
            self._db.execute("COMMIT")
            if step:
                fault_point(f"{step}:committed")
        except sqlite3.Error as error:
            self._roll_back()
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                raise
            raise _unavailable(error) from None
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    # ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────

    def facts(self) -> dict[str, bytes]:
        return dict(self._rows("SELECT name, value FROM facts"))

    def put(self, **facts: bytes) -> None:
        for name, value in facts.items():
            self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    # ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────

    def stage(self, nonce: bytes) -> tuple[int, str] | None:
        """Where a report stands, and the code of its refusal; None if it was never seen."""
        found: tuple[int, str] | None = next(
            self._rows("SELECT stage, refusal FROM reports WHERE nonce = ?", nonce), None
        )
        return found

    def stages(self) -> Counter[int]:
        return Counter(dict(self._rows("SELECT stage, COUNT(*) FROM reports GROUP BY stage")))

    def added(self) -> Iterator[bytes]:
        """Nonces of what is in the sum, in order."""
        return (nonce for (nonce,) in self._rows("SELECT nonce FROM reports WHERE stage = ? ORDER BY nonce", ADDED))

    def take_in(self, nonce: bytes, stage: int, own: bytes, other: bytes) -> None:
        """A report, with this server's sealed part and what goes to or came from the other."""
        self._db.execute("INSERT INTO reports (nonce, stage) VALUES (?, ?)", (nonce, stage))
        self._db.execute("INSERT INTO parts (nonce, stage, own, other) VALUES (?, ?, ?, ?)", (nonce, stage, own, other))

    def refuse(self, nonce: bytes, refusal: str) -> None:
        """A report that is not added, and never will be."""
        self._db.execute("INSERT OR REPLACE INTO reports VALUES (?, ?, ?)", (nonce, REFUSED, refusal))
        self._db.execute("DELETE FROM parts WHERE nonce = ?", (nonce,))

    def begin(self, nonce: bytes) -> None:
        self._db.execute("UPDATE reports SET stage = ? WHERE nonce = ?", (BEGUN, nonce))
        self._db.execute("UPDATE parts SET stage = ? WHERE nonce = ?", (BEGUN, nonce))

    def settle(self, nonces: Iterable[bytes], stage: int) -> None:
        """Their parts are forgotten."""
        for nonce in nonces:
            self._db.execute("UPDATE reports SET stage = ? WHERE nonce = ?", (stage, nonce))
            self._db.execute("DELETE FROM parts WHERE nonce = ?", (nonce,))

    def parts(self, stage: int, most: int = -1) -> list[tuple[bytes, bytes, bytes]]:
        """Nonce, own part and the other's, the oldest first."""
        query = "SELECT nonce, own, other FROM parts WHERE stage = ? ORDER BY number LIMIT ?"
        return list(self._rows(query, stage, most))

    # ── verdicts and tickets ─────────────────────────────────────────────────────────────────────────────────────

    def verdicts(self) -> list[bytes]:
        return [message for (message,) in self._rows("SELECT message FROM verdicts ORDER BY number")]

    def keep_verdicts(self, message: bytes) -> None:
        self._db.execute("INSERT INTO verdicts (message) VALUES (?)", (message,))

    def drop_verdicts(self, message: bytes) -> None:
        self._db.execute("DELETE FROM verdicts WHERE message = ?", (message,))

    def is_spent(self, ticket: bytes) -> bool:
        return next(self._rows("SELECT 1 FROM tickets WHERE number = ?", ticket), None) is not None

    def spend(self, ticket: bytes) -> None:
        self._db.execute("INSERT INTO tickets VALUES (?)", (ticket,))

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def forget(self) -> None:
        """Everything but the facts; in a transaction, and then `shrink`."""
        for table in _FORGOTTEN:
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("DELETE FROM facts WHERE name = 'total'")

    def shrink(self) -> None:
        """Leave nothing in the file of what was deleted. Without disk to do it, it is done at the next start."""
        if self._path is None:
            return
        with suppress(sqlite3.Error):
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._db.close()
        self._let_go()

    def _let_go(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _rows(self, query: str, *given: Any) -> Iterator[Any]:
        try:
            yield from self._db.execute(query, given)
        except sqlite3.OperationalError as error:
            raise _unavailable(error) from None

    def __enter__(self) -> RoundFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _hold(path: Path) -> int:
    """A lock beside the file, which the kernel takes away with the process."""
    held = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise StoreUnavailable(
            f"Another process holds the round in {path}.", "Two servers on one file would count twice: stop one."
        ) from None
    return held


def _unavailable(error: BaseException) -> StoreUnavailable:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return StoreUnavailable(f"A round cannot be kept on disk: {why}.", "Nothing was taken; look after the disk.")
