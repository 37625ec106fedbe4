"""Grants as the store keeps them: what was granted, who draws of it, and what is left."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hubbub.errors import GrantExhausted, GuaranteeChanged, InvalidParameter, LedgerBroken
from hubbub.privacy import Grant, Guarantee, Window
from hubbub.store import chain, schema
from hubbub.store.cells import Shape, amount_of, as_written
from hubbub.store.database import Database
from hubbub.store.stream import GRANT, Definition, clock_of, differences
from hubbub.store.times import from_micros

_G, _S = schema.grants.c, schema.streams.c
COLUMNS = (_G.name, _G.population, _G.guarantee, _G.apart_from, _G.genesis)
"""Everything that a grant is, and its hash; in the order of `grant_of`."""

_SHAPE, _NAME, _CREATED = Shape(COLUMNS), Shape([_S.name]), Shape([_G.created], times=["created"])
_ALL = sa.select(*COLUMNS, _G.id, _G.created).order_by(_G.name)
_NAMED = _ALL.where(_G.name == sa.bindparam("name"))
_DRAWN = sa.select(_S.grant_id, _S.name, _S.share, _S.slips, _S.options).order_by(_S.id)
_DRAWN_OF_NAMED = _DRAWN.where(_S.grant_id.in_(sa.select(_G.id).where(_G.name == sa.bindparam("name"))))
_ANOTHER = "Name another grant; what both promise about the same people adds up."


@dataclass(frozen=True)
class StoredGrant:
    """A grant, and the shares that its streams have drawn, in the order in which they were made."""

    id: int
    grant: Grant
    created: datetime
    shares: Mapping[str, Fraction]
    clocks: frozenset[tuple[int, int] | None]
    """On which clocks its streams count: how long a tick is, and when one begins; None where nobody recorded it."""

    unnamed: frozenset[str] = frozenset()
    """Streams whose own definition does not name the grant: they are older than grants."""

    slips: Mapping[str, Fraction] = field(default_factory=dict)
    """The part that each stream has drawn of what may slip; streams that have none are left out."""

    @property
    def left(self) -> Fraction:
        """The share that nobody has drawn."""
        return 1 - sum(self.shares.values(), Fraction(0))

    @property
    def slips_left(self) -> Fraction:
        """The part that nobody has drawn of what may slip; nothing where nothing may."""
        whole = Fraction(1 if self.grant.guarantee.slips else 0)
        return whole - sum(self.slips.values(), Fraction(0))


def row_of(grant: Grant) -> dict[str, Any]:
    """The columns of a grant, and their hash."""
    texts = (grant.name, grant.population, _json(grant.guarantee.to_dict()), _json(list(grant.apart_from)))
    names = ("name", "population", "guarantee", "apart_from")
    return {**dict(zip(names, texts, strict=True)), "genesis": chain.grant_genesis(*texts)}


def grant_of(name: str, population: str, guarantee: str, apart_from: str, genesis: bytes) -> Grant:
    """What the columns of a grant say, if nobody has changed them."""
    _SHAPE.checked((name, population, guarantee, apart_from, genesis), f"grant {name!r}")
    if chain.grant_genesis(name, population, guarantee, apart_from) != genesis:
        raise LedgerBroken(
            f"The grant {name!r} was changed after it was made.",
            "Restore the store from a backup: the promise that was made is no longer the one that is written there.",
        )
    with as_written(f"the grant {name!r}"):
        return Grant(name, Guarantee.from_dict(json.loads(guarantee)), population, json.loads(apart_from))


def read(connection: Connection, name: str | None = None) -> list[StoredGrant]:
    """All grants, by name; or the one of that name."""
    which, drawn_of = (_ALL, _DRAWN) if name is None else (_NAMED, _DRAWN_OF_NAMED)
    given = {} if name is None else {"name": name}
    rows = connection.execute(which, given).all()
    drawn = connection.execute(drawn_of, given)
    shares: dict[int, dict[str, Fraction]] = {row.id: {} for row in rows}
    clocks: dict[int, set[tuple[int, int] | None]] = {row.id: set() for row in rows}
    unnamed: dict[int, set[str]] = {row.id: set() for row in rows}
    slips: dict[int, dict[str, Fraction]] = {row.id: {} for row in rows}
    for stream in drawn:
        if stream.grant_id not in shares:
            raise LedgerBroken(f"The stream {stream.name!r} belongs to no grant.", "Restore the store from a backup.")
        where = f"(stream {stream.name!r})"
        _NAME.checked([stream.name], where)
        shares[stream.grant_id][stream.name] = amount_of(stream.share, f"`share` in `streams` {where}")
        if stream.slips != "0":
            slips[stream.grant_id][stream.name] = amount_of(stream.slips, f"`slips` in `streams` {where}")
        with as_written(f"`options` in `streams` {where}"):
            options = dict(json.loads(stream.options))
            clocks[stream.grant_id].add(clock_of(options))
        if GRANT not in options:
            unnamed[stream.grant_id].add(stream.name)
    return [
        StoredGrant(
            row.id,
            grant_of(*row[: len(COLUMNS)]),
            from_micros(_CREATED.checked([row.created], f"grant {row.name!r}")[0]),
            shares[row.id],
            frozenset(clocks[row.id]),
            frozenset(unnamed[row.id]),
            slips[row.id],
        )
        for row in rows
    ]


def faults(connection: Connection, name: str) -> list[str]:
    """What is wrong with a grant and its shares, although each row by itself is as it was written."""
    wrong: list[str] = []
    for kept in read(connection, name):
        if kept.left < 0:
            wrong.append(f"the streams of the grant {name!r} have drawn more than all of it")
        if kept.slips_left < 0:
            wrong.append(f"the streams of the grant {name!r} have drawn more slips than it has")
        # Streams that are older than grants do not name theirs: it must be what they promise together, and no more.
        if kept.unnamed and (kept.left or kept.unnamed != set(kept.shares) or kept.grant.population):
            wrong.append(f"the grant {name!r} is not the sum of the streams that it was made from")
    return wrong


def draw(database: Database, connection: Connection, wanted: Sequence[Definition], time: int) -> dict[str, int]:
    """The grant of each stream, by the stream's name: made if it is new, and refused if it has too little left.

    Inside the transaction that makes the streams. The grant's row is locked, so of two who want the last part one gets
    it, and the other sees that it is gone.
    """
    ids: dict[str, int] = {}
    for name in sorted({one.part.grant.name for one in wanted}):  # in one order, so that two never wait for each other
        asked = [one for one in wanted if one.part.grant.name == name]
        row = row_of(asked[0].part.grant) | {"created": time}
        connection.execute(database.insert_new(schema.grants), row)
        if not database.is_sqlite:  # SQLite has one writer anyway
            connection.execute(sa.select(_G.id).where(_G.name == name).with_for_update())
        (kept,) = read(connection, name)
        _require(kept, asked)
        ids |= {one.name: kept.id for one in asked}
    return ids


def expect(connection: Connection, wanted: Sequence[Definition]) -> None:
    """Refuse what `draw` would refuse; nothing is made."""
    for name in sorted({one.part.grant.name for one in wanted}):
        asked = [one for one in wanted if one.part.grant.name == name]
        fresh = StoredGrant(0, asked[0].part.grant, from_micros(0), {}, frozenset())
        _require(next(iter(read(connection, name)), fresh), asked)


def _require(kept: StoredGrant, asked: Sequence[Definition]) -> None:
    for one in asked:
        _expect(kept, one)
    _require_one_clock(kept, asked)
    _require_left(kept, asked)


def _expect(kept: StoredGrant, asked: Definition) -> None:
    grant = asked.part.grant
    if grant != kept.grant:
        told = "; ".join(differences(kept.grant.to_dict(), grant.to_dict(), "grant"))
        raise GuaranteeChanged(
            f"The grant {kept.grant.name!r} exists with another promise: {told}.",
            f"A promise once made stands: name the grant with the same promise. {_ANOTHER}",
        )


def _require_one_clock(kept: StoredGrant, asked: Sequence[Definition]) -> None:
    clocks = kept.clocks | {clock_of(json.loads(one.options)) for one in asked}
    if isinstance(kept.grant.guarantee.unit, Window) and len(clocks) > 1:
        raise InvalidParameter(
            f"The grant {kept.grant.name!r} promises something about ticks in a row, so its streams must count on one "
            f"clock; {', '.join(one.name for one in asked)} would have other ticks than {', '.join(kept.shares)}.",
            f"Use ticks of the same length that begin at the same moments. {_ANOTHER}",
        )


def _require_left(kept: StoredGrant, asked: Sequence[Definition]) -> None:
    wanted = sum((one.part.share for one in asked if one.name not in kept.shares), Fraction(0))
    if wanted > kept.left:
        who = ", ".join(f"{name} has {share}" for name, share in kept.shares.items())
        raise GrantExhausted(
            f"The grant {kept.grant.name!r} has {kept.left or 'nothing'} of its budget left, and "
            f"{' and '.join(one.name for one in asked)} would draw {wanted}"
            f"{f': {who}' if who else ''}. Nothing was made, nothing was spent.",
            f"Ask for a smaller share. {_ANOTHER}",
        )
    slipping = sum((one.part.slips for one in asked if one.name not in kept.shares), Fraction(0))
    if slipping > kept.slips_left:
        who = ", ".join(f"{name} has {part}" for name, part in kept.slips.items())
        raise GrantExhausted(
            f"The grant {kept.grant.name!r} has {kept.slips_left or 'nothing'} of its slips left, and "
            f"{' and '.join(one.name for one in asked)} would draw {slipping}"
            f"{f': {who}' if who else ''}. Nothing was made, nothing was spent.",
            f"Ask for fewer slips. {_ANOTHER}",
        )


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
