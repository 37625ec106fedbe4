"""One line of the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from hubbub.released import Cost, Tick
from hubbub.released.cost import NO_SLIP
from hubbub.store.times import from_micros, tick_of

State = Literal["reserved", "settled", "lost"]
STATES: tuple[State, ...] = ("reserved", "settled", "lost")


@dataclass(frozen=True, slots=True)
class Debit:
    """What a tick may cost, fixed before anything was drawn; and what became of it.

    | state | meaning | cost |
    |---|---|---|
    | reserved | committed; perhaps drawn, nothing published | the reserved amount |
    | settled | released | what the release took, at most the reserved amount |
    | lost | a crash or a failure came between: predicted, never drawn again | the reserved amount |
    """

    tick: int
    place: int
    start: int | None
    length: int | None
    epsilon: str
    rho: str
    purpose: str
    reserved: int
    previous: bytes
    hash: bytes
    state: State
    owner: str
    settled_epsilon: str | None = None
    settled_rho: str | None = None
    seal: bytes | None = None
    delta: str | None = None
    settled_delta: str | None = None

    @property
    def at(self) -> Tick:
        return tick_of(self.tick, self.start, self.length)

    @property
    def limit(self) -> Cost:
        """The reserved amount."""
        return cost_of(self.epsilon, self.rho, self.delta)

    @property
    def cost(self) -> Cost:
        """What counts against the budget."""
        if self.settled_epsilon is None or self.settled_rho is None:
            return self.limit
        return cost_of(self.settled_epsilon, self.settled_rho, self.settled_delta)

    def to_dict(self, slips: bool | None = None) -> dict[str, Any]:
        """Plain JSON types; what `hubbub ledger export` writes. Slips are told where there are any, or if asked."""
        told = self.delta is not None if slips is None else slips
        return {
            "place": self.place,
            "tick": self.tick,
            "start": None if self.start is None else from_micros(self.start).isoformat(),
            "state": self.state,
            "reserved_epsilon": self.epsilon,
            "reserved_rho": self.rho,
            "settled_epsilon": self.settled_epsilon,
            "settled_rho": self.settled_rho,
            **({"reserved_delta": self.delta, "settled_delta": self.settled_delta} if told else {}),
            "purpose": self.purpose,
            "time": from_micros(self.reserved).isoformat(),
            "previous": self.previous.hex(),
            "hash": self.hash.hex(),
            "seal": None if self.seal is None else self.seal.hex(),
        }


@lru_cache(maxsize=256)
def cost_of(epsilon: str, rho: str, delta: str | None = None) -> Cost:
    """A stream uses few amounts, so reading a long ledger need not parse each anew."""
    return Cost(Fraction(epsilon), Fraction(rho), NO_SLIP if delta is None else Fraction(delta))


def texts_of(cost: Cost) -> tuple[str, str, str | None]:
    """The inverse of `cost_of`: what may slip is None where nothing does, and never a zero."""
    return str(cost.epsilon), str(cost.rho), str(cost.delta) if cost.slips else None
