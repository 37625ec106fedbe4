"""What a stream counted when: decisions as the store keeps them, and the releases that they rest on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hubbub.errors import InvalidParameter, UnreleasedDecision
from hubbub.mechanism import Traits
from hubbub.released import Discovered, Domain, Keys, Release
from hubbub.store import chain, schema, streams
from hubbub.store.cells import Shape, as_written
from hubbub.store.debit import cost_of
from hubbub.store.decision import Decision
from hubbub.store.packing import PackedRelease
from hubbub.store.stream import Stream, ranges_name
from hubbub.store.times import tick_of

_C, _D, _R, _S = schema.domains.c, schema.debits.c, schema.releases.c, schema.streams.c
_COLUMNS = [_C[name] for name in Decision.__slots__]
_FROM = (
    sa.select(*_COLUMNS).where(_C.stream == sa.bindparam("id"), _C.place >= sa.bindparam("first")).order_by(_C.place)
)
_NEWEST = sa.select(*_COLUMNS).where(_C.stream == sa.bindparam("id")).order_by(_C.place.desc()).limit(1)
_STANDING = (  # the decision that holds at a tick
    sa.select(*_COLUMNS)
    .where(_C.stream == sa.bindparam("id"), _C.tick <= sa.bindparam("at"))
    .order_by(_C.place.desc())
    .limit(1)
)
_SEAL = (
    sa.select(_D.seal)
    .select_from(schema.debits.join(schema.streams, _S.id == _D.stream))
    .where(_S.name == sa.bindparam("name"), _D.tick == sa.bindparam("at"), _D.state == "settled")
)
RELEASES = sa.select(
    _R.tick,
    _D.start,
    _D.length,
    _D.settled_epsilon,
    _D.settled_rho,
    _D.settled_delta,
    *(_R[name] for name in PackedRelease.__slots__),
).select_from(schema.releases.join(schema.debits, sa.and_(_D.stream == _R.stream, _D.tick == _R.tick)))
"""Rows that `History.release` reads."""

_SHAPE = Shape(_COLUMNS, times=("decided",))
_RELEASED = Shape(list(RELEASES.selected_columns), times=("start",))


class History:
    """The domains of a stream, each from its tick on. A domain that was read once is the same object ever after."""

    def __init__(self, stream: Stream, decisions: Sequence[Decision] = (), before: History | None = None) -> None:
        self.decisions = tuple(decisions)
        self._ticks = [decision.tick for decision in self.decisions]
        self._known: dict[str, Domain] = {} if before is None else dict(before._known)
        for one in self.decisions:
            if one.domain not in self._known:
                with as_written(f"`domain` in `domains` (stream {stream.name!r}, tick {one.tick})"):
                    self._known[one.domain] = one.keys
        self._name = stream.name
        self._domains = [stream.keys, *(self._known[one.domain] for one in self.decisions)]

    def at(self, tick: int) -> Domain:
        """What is counted at `tick`; of several decisions for one tick the last one stands."""
        return self._domains[bisect_right(self._ticks, tick)]

    @property
    def now(self) -> Domain:
        return self._domains[-1]

    @property
    def largest(self) -> int:
        """The most keys that the stream ever had: so many numbers may be in one release."""
        return max(map(len, self._domains))

    def release(self, row: Any) -> Release:
        """What a row of `RELEASES` holds."""
        where = f"the release of the stream {self._name!r}, tick {row[0]}"
        index, start, length, epsilon, rho, delta, *packed = _RELEASED.checked(row, where)
        with as_written(where):
            tick, cost = tick_of(index, start, length), cost_of(epsilon, rho, delta)
            return PackedRelease(*packed).unpack(tick, self.at(index), cost)


def read(connection: Connection, stream: Stream, first: int = 0) -> list[Decision]:
    """All decisions of a stream from a place on, in the order in which they were made."""
    return [_decision(row, stream) for row in connection.execute(_FROM, {"id": stream.id, "first": first})]


def history_of(connection: Connection, stream: Stream, before: History | None) -> History:
    """What the stream counted when, as of now: the very same history as long as nothing was decided.

    A stream whose keys are found has a decision each period: what was read before is not read again.
    """
    last = before.decisions[-1] if before is not None and before.decisions else None
    if before is not None and newest(connection, stream) == last:
        return before
    if before is not None and last is not None:
        since = read(connection, stream, last.place)
        if since and since[0] == last:  # else the store is another than it was
            return History(stream, [*before.decisions, *since[1:]], before)
    return History(stream, read(connection, stream), before)


def newest(connection: Connection, stream: Stream) -> Decision | None:
    row = connection.execute(_NEWEST, {"id": stream.id}).one_or_none()
    return None if row is None else _decision(row, stream)


def _decision(row: Any, stream: Stream) -> Decision:
    return Decision(*_SHAPE.checked(row, f"stream {stream.name!r}"))


def seal_of(connection: Connection, stream: str, tick: int) -> bytes | None:
    """The seal of a settled release; None where there is none."""
    seal: bytes | None = connection.execute(_SEAL, {"name": stream, "at": tick}).scalar_one_or_none()
    return seal


def evidence(connection: Connection, stream: Stream, released: tuple[str, int]) -> tuple[Release, bytes]:
    """The release that a decision of `stream` rests on, with its seal; refused where there is none to rest on."""
    name, tick = _named(released)
    named = streams.read(connection, name)
    if not named or named[0].part.grant != stream.part.grant:
        raise UnreleasedDecision(
            f"The stream {stream.name!r} draws of the grant {stream.part.grant.name!r}, and {name!r} is no stream of "
            "it: what is counted would follow from something outside of the promise.",
            "Name a release of this stream, or of another one of the same grant.",
        )
    seal = seal_of(connection, name, tick)
    row = connection.execute(RELEASES.where(_R.stream == named[0].id, _R.tick == tick)).one_or_none()
    if seal is None or row is None:
        raise UnreleasedDecision(
            f"The ledger of {name!r} holds no settled release of tick {tick}: a decision that does not follow from "
            "released values would itself tell of someone.",
            "Release that tick first; a tick that is reserved or lost decides nothing.",
        )
    standing = connection.execute(_STANDING, {"id": named[0].id, "at": tick}).all()
    return History(named[0], [_decision(one, named[0]) for one in standing]).release(row), seal


def _named(released: Any) -> tuple[str, int]:
    if isinstance(released, tuple) and [type(part) for part in released] == [str, int]:
        return released
    raise InvalidParameter(
        f"`released` names the release that decides, as its stream and its tick; got {released!r}.",
        'For example: released=("site", 41).',
    )


Counted: TypeAlias = Domain | Sequence[str]
"""A domain, or a plain list of names."""


def decided(new: Counted | Callable[[Release], Counted], evidence: Release) -> Domain:
    """The domain that follows from the evidence: by a rule, or as it was given."""
    domain = new(evidence) if callable(new) else new
    if isinstance(domain, (list, tuple)):
        return Keys(domain)
    if not isinstance(domain, Domain):
        raise InvalidParameter(
            f"What is counted next must be a domain; got {type(domain).__name__}.",
            "Give a list of names, Keys, Grid, Hierarchy or Discovered, or a rule that returns one.",
        )
    return domain


def expect_named(keys: Domain, released: tuple[str, int]) -> None:
    """Discovered keys name their decision themselves: it must be this one."""
    named = f"{released[0]} tick {released[1]}"
    if isinstance(keys, Discovered) and keys.decision not in ("", named):
        raise UnreleasedDecision(
            f"The discovered keys say that {keys.decision!r} found them, and the evidence is {named!r}.",
            f"Give the release that found them, or make them with decision={named!r}.",
        )


def expect_no_keys_ahead(traits: Traits, ahead: int) -> int:
    """How many ticks to reserve ahead: one by one where each release brings its own keys."""
    if traits.finds_keys and ahead > 1:
        raise InvalidParameter("A stream that finds its keys reserves no ticks ahead.", "Use reserve_ahead=1.")
    return ahead


def expect_alone(connection: Connection, stream: Stream) -> None:
    """A stream of ranges beside this one gets the same counts, and its sums reach over many ticks."""
    if stream.finds_keys:
        raise InvalidParameter(
            f"The stream {stream.name!r} finds its keys itself, with each release.",
            "Change what another stream of the same grant counts: its `change_domain` may rest on a release of this.",
        )
    beside = ranges_name(stream.name)
    if streams.read(connection, beside):
        raise InvalidParameter(
            f"The stream {beside!r} answers ranges for {stream.name!r}: its sums reach over many ticks and need the "
            "same keys in all of them.",
            "Start a stream under another name; what both publish about the same people adds up.",
        )


def made(bare: Decision, before: bytes) -> Decision:
    """With its hash, and the seal that follows the seal `before`."""
    fixed = replace(bare, hash=chain.decision_hash(bare))
    return replace(fixed, seal=chain.decision_seal(before, fixed.hash))


def write(connection: Connection, stream: int, decision: Decision) -> None:
    row = {name: getattr(decision, name) for name in Decision.__slots__}
    connection.execute(sa.insert(schema.domains), row | {"stream": stream})
