"""Whoever gives tickets to clients: one for each invitation and round, without seeing which."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from hubbub.errors import InvalidParameter, QueryClosed, QueryMismatch, StoreUnavailable, TicketRefused
from hubbub.gather.desk import utc
from hubbub.gather.plan import Plan
from hubbub.gather.tickets import SIZE, TicketKey

SHORTEST_CODE = 16
_TABLE = "CREATE TABLE IF NOT EXISTS given (code BLOB, tick INTEGER, blinded BLOB, PRIMARY KEY (code, tick))"


class IssuerDesk:
    """The issuer's program without the network (`GatherPort`). It is neither of the servers, and sees no answer.

    Who shows an invitation code gets one blind signature for each round; asked again with the same blinded ticket, the
    same one. What was given is on disk before it is told.

    Guarantee
        Enforced: one ticket for each code and round, durably. Not known: which ticket it was, since it was blinded.
        Proof: docs/proofs/gather.md, section 10.
    """

    offers = ("tickets",)
    largest = SIZE
    trouble = ""
    is_over = False

    def __init__(
        self,
        plan: Plan,
        keys: list[TicketKey],
        codes: Iterable[str],
        file: Path,
        *,
        clock: Callable[[], datetime] = utc,
    ) -> None:
        self.plan, self._keys, self._clock = plan, keys, clock
        if tuple(str(key.public) for key in keys) != plan.issuer:
            raise QueryMismatch("These keys for tickets are not those of the plan.", "Give the keys it was made with.")
        given = list(codes)
        if not given or min(map(len, given)) < SHORTEST_CODE or len(set(given)) != len(given):
            raise InvalidParameter(
                f"Invitations are different codes of at least {SHORTEST_CODE} characters.", "One a line."
            )
        self._codes = {_hash(code) for code in given}
        self._turn = threading.Lock()
        try:
            _keep_to_ourselves(file)
            self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise StoreUnavailable(f"What was given cannot be kept in {file}: {why}.", "Give another file.") from None

    def tell(self, tick: int, step: str, message: bytes, shown: str) -> tuple[bytes, str]:  # noqa: ARG002
        """A blind signature for who shows an invitation."""
        self.plan.query_of(tick)
        code = _hash(shown)
        if code not in self._codes:
            raise TicketRefused("This invitation is not known here.", "Copy it whole.")
        if self._clock() >= self.plan.closes(tick):
            raise QueryClosed(f"Round {tick:,} of {self.plan.query.name!r} is closed.")
        signed = self._keys[tick].sign(message)  # what is no ticket uses up nothing
        try:
            with self._turn:
                self._db.execute("INSERT OR IGNORE INTO given VALUES (?, ?, ?)", (code, tick, message))
                (kept,) = self._db.execute(
                    "SELECT blinded FROM given WHERE code = ? AND tick = ?", (code, tick)
                ).fetchone()
        except sqlite3.Error as error:
            raise StoreUnavailable(f"What was given cannot be kept: {error}.", "Look after the disk.") from None
        if kept != message:
            raise TicketRefused("This invitation has had its ticket for this round.", "Use the one that you have.")
        return signed, ""

    def take(self, tick: int, body: bytes, ticket: str = "") -> None:  # noqa: ARG002
        raise QueryMismatch("Reports go to the first server; this one gives tickets.")

    def about(self) -> bytes:
        return self.plan.encode()

    def announcement(self, tick: int) -> bytes:
        return self.plan.announcement(tick).encode()

    def result(self, tick: int) -> Mapping[str, Any]:
        self.plan.query_of(tick)
        return {"round": tick, "state": "not told here"}

    def status(self) -> Mapping[str, Any]:
        return {"query": self.plan.query.name, "state": "gives tickets", "rounds": self.plan.ticks, "over": 0}

    def look(self) -> bool:
        return False

    def stop(self) -> None:
        self._db.close()


def _keep_to_ourselves(file: Path) -> None:
    """Who has had a ticket is nobody else's business on this machine, also in a file of earlier times."""
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    for path in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm"))):
        with suppress(FileNotFoundError):
            os.chmod(path, 0o600)


def _hash(code: str) -> bytes:
    return hashlib.sha256(b"hubbub gather invitation 1\n" + code.encode("utf-8", "replace")).digest()
