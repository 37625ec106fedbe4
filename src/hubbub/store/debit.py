"""One line of the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from hubbub.errors import LedgerBroken
from hubbub.released import Cost, Tick
from hubbub.released.cost import NO_SLIP
from hubbub.store import schema
from hubbub.store.cells import Shape, amount_of
from hubbub.store.times import from_micros, tick_of

State = Literal["reserved", "settled", "lost"]
STATES: tuple[State, ...] = ("reserved", "settled", "lost")
_USUAL = {"0", "1"}


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

    @classmethod
    def read(cls, row: Sequence[Any], stream: str, *, amounts: bool = True) -> Debit:
        """A row of `COLUMNS`, refused where a cell is not of its kind; with `amounts`, also where one is none."""
        cells = tuple(row)
        made = cls(*(cells if _SHAPE.fits(cells) else _SHAPE.checked(cells, _whose(stream, row[0]))))
        if amounts:
            made.expect_amounts(stream)
        return made

    def expect_amounts(self, stream: str) -> None:
        """Refuse what is no amount, by its column."""
        texts = (self.epsilon, self.rho, self.settled_epsilon, self.settled_rho, self.delta, self.settled_delta)
        if _are_amounts(texts):
            return
        for name in ("epsilon", "rho", "settled_epsilon", "settled_rho", "delta", "settled_delta"):
            if (text := getattr(self, name)) is not None and text not in _USUAL:
                amount_of(text, f"`{name}` in `debits` ({_whose(stream, self.tick)})")

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


COLUMNS = [schema.debits.c[name] for name in Debit.__slots__]
_SHAPE = Shape(COLUMNS, times=("start", "reserved"))


def _whose(stream: str, tick: Any) -> str:
    return f"stream {stream!r}, {f'tick {tick}' if isinstance(tick, int) else 'a line without a tick'}"


@lru_cache(maxsize=256)
def _are_amounts(texts: tuple[str | None, ...]) -> bool:
    """Whether each is one, or nothing. A stream has few different ones, so they are looked at once."""
    try:
        for text in texts:
            if text is not None and text not in _USUAL:
                amount_of(text, "")
    except LedgerBroken:
        return False
    return True


@lru_cache(maxsize=256)
def cost_of(epsilon: str, rho: str, delta: str | None = None) -> Cost:
    """A stream uses few amounts, so reading a long ledger need not parse each anew."""
    slip = NO_SLIP if delta is None else amount_of(delta, "the delta of a debit")
    return Cost(amount_of(epsilon, "the epsilon of a debit"), amount_of(rho, "the rho of a debit"), slip)


def texts_of(cost: Cost) -> tuple[str, str, str | None]:
    """The inverse of `cost_of`: what may slip is None where nothing does, and never a zero."""
    return str(cost.epsilon), str(cost.rho), str(cost.delta) if cost.slips else None
