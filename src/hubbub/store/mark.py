"""How far a stream's ledger was when this machine last looked: one line, kept outside the store."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from hubbub.privacy import Account
from hubbub.released import Cost, Tick
from hubbub.store.debit import Debit, cost_of, texts_of
from hubbub.store.times import tick_of

SLOT = 4096
"""One slot's bytes. A write never touches the other slot, so a torn one leaves the mark before it."""

_CHECKSUM = 64


@dataclass(frozen=True, slots=True)
class Mark:
    """A debit that the store must hold, in this place and with this hash; and the most that any tick was debited.

    `free` says that the open reservations at the end were handed back from this machine and not taken up again, so
    nothing was drawn for them. `start` and `length` are those of the tick; `epsilon`, `rho` and `delta` cover the
    largest amounts, `delta` is None where nothing may have slipped.
    """

    tick: int
    place: int
    hash: bytes
    free: bool = False
    start: int | None = None
    length: int | None = None
    epsilon: str = "0"
    rho: str = "0"
    delta: str | None = None

    @classmethod
    def begin(cls, genesis: bytes) -> Mark:
        """Before the first debit."""
        return cls(-1, 0, genesis)

    @classmethod
    def of(cls, debit: Debit) -> Mark:
        return cls(
            debit.tick, debit.place, debit.hash, False, debit.start, debit.length,
            debit.epsilon, debit.rho, debit.delta,
        )  # fmt: skip

    @property
    def most(self) -> Cost:
        return cost_of(self.epsilon, self.rho, self.delta)

    def after(self, earlier: Mark | None, account: Account) -> Mark:
        """This mark, with the larger of both marks' amounts."""
        if earlier is None or account.covers(self.most, earlier.most):
            return self
        epsilon, rho, delta = texts_of(account.larger(self.most, earlier.most))
        return replace(self, epsilon=epsilon, rho=rho, delta=delta)

    def tick_at(self, index: int) -> Tick:
        """An earlier or later tick on the same clock."""
        if self.start is None or self.length is None:
            return Tick(index)
        return tick_of(index, self.start + (index - self.tick) * self.length, self.length)

    def to_slot(self, identity: str, sequence: int) -> bytes:
        """The bytes of a slot: a checksum and one line that people can read too."""
        facts = {
            "mark": identity, "sequence": sequence, "tick": self.tick, "place": self.place, "hash": self.hash.hex(),
            "free": self.free, "start": self.start, "length": self.length, "epsilon": self.epsilon, "rho": self.rho,
        }  # fmt: skip
        if self.delta is not None:
            facts["delta"] = self.delta
        text = json.dumps(facts).encode()
        return (hashlib.sha256(text).hexdigest().encode() + b" " + text).ljust(SLOT - 1) + b"\n"

    @classmethod
    @lru_cache(maxsize=64)  # the slot that is not written stays as it is, and each is read twice a tick
    def from_slot(cls, slot: bytes, identity: str) -> tuple[int, Mark] | None:
        """Sequence and mark; None if the bytes are damaged or belong to another stream."""
        text = slot[_CHECKSUM + 1 :].strip()
        if hashlib.sha256(text).hexdigest().encode() != slot[:_CHECKSUM]:
            return None
        facts: dict[str, Any] = json.loads(text)
        if facts.pop("mark") != identity:
            return None
        sequence = facts.pop("sequence")
        return sequence, cls(**(facts | {"hash": bytes.fromhex(facts["hash"])}))
