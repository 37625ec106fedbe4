"""Where a stream stands after its last outcome."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hubbub.errors import LedgerBroken
from hubbub.privacy import Account
from hubbub.store import chain, schema
from hubbub.store.cells import Shape, as_written
from hubbub.store.stream import Stream


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The estimator's state and the ledger's own account, as of `tick`; written together with that tick's outcome.

    With it a stream of a million ticks opens as fast as a short one. `mark` ties it to the chain; `verify` replays
    every debit and compares.
    """

    tick: int
    place: int
    snapshot: bytes
    account: str
    settled: int
    lost: int
    seal: bytes
    mark: bytes

    @classmethod
    def start(cls, stream: Stream) -> Checkpoint:
        """Before the first tick: nothing spent, no state."""
        account = account_text(Account(stream.guarantee))
        return cls.made(-1, 0, b"", account, 0, 0, stream.genesis)

    @classmethod
    def made(
        cls, tick: int, place: int, snapshot: bytes, account: str, settled: int, lost: int, seal: bytes
    ) -> Checkpoint:
        mark = chain.mark(seal, tick, place, snapshot, account, settled, lost)
        return cls(tick, place, snapshot, account, settled, lost, seal, mark)

    def after(self, place: int, seal: bytes, snapshot: bytes | None = None) -> Checkpoint:
        """The same moment, after one more line of the ledger that is no tick."""
        kept = self.snapshot if snapshot is None else snapshot
        return Checkpoint.made(self.tick, place, kept, self.account, self.settled, self.lost, seal)

    @classmethod
    def read(cls, row: Sequence[Any], stream: Stream) -> Checkpoint:
        """A row of `COLUMNS`, refused where a cell is not of its kind."""
        return cls(*_SHAPE.checked(row, f"stream {stream.name!r}"))

    def check(self, stream: Stream) -> Checkpoint:
        """This checkpoint, if nobody has changed it."""
        if self != Checkpoint.made(
            self.tick, self.place, self.snapshot, self.account, self.settled, self.lost, self.seal
        ):
            raise LedgerBroken(
                f"The state of the stream {stream.name!r} was changed after it was written.",
                "Run `hubbub ledger verify`, and restore the store from a backup.",
            )
        return self

    def open_account(self, stream: Stream) -> Account:
        """A fresh account with all that was charged up to here."""
        account = Account(stream.guarantee)
        with as_written(f"`account` in `states` (stream {stream.name!r})"):
            account.restore(json.loads(self.account))
        return account

    def to_row(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


COLUMNS = [schema.states.c[name] for name in Checkpoint.__slots__]
_SHAPE = Shape(COLUMNS)


def account_text(account: Account) -> str:
    return json.dumps(account.state(), sort_keys=True, separators=(",", ":"))
