"""Streams of the time before grants: two were tied by options that named each other, the others stood alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hubbub.privacy import Grant, Guarantee, Part
from hubbub.store import grants, schema
from hubbub.store.stream import RANGES_OF, pinned

_TIED, _TIED_TO = "companion", "companion_of"
_S = schema.streams.c


def options_since(options: str, part: Part) -> str:
    """The options of such a stream in today's words. Its hash covers the old ones."""
    given: dict[str, Any] = json.loads(options)
    given.pop(_TIED, None)
    if _TIED_TO in given:
        given[RANGES_OF] = given.pop(_TIED_TO)
    return json.dumps(given | pinned(part), sort_keys=True, separators=(",", ":"), allow_nan=False)


def tied_to(options: str) -> str | None:
    """The stream whose promise this one was a part of."""
    other = json.loads(options).get(_TIED_TO)
    return other if isinstance(other, str) else None


def give_grants(connection: Connection) -> None:
    """Two tied streams become two streams of one grant, the sum of both; every other one gets a grant of its own."""
    columns = (_S.id, _S.name, _S.guarantee, _S.options, _S.created)
    rows = list(connection.execute(sa.select(*columns).order_by(_S.id)))
    names = {row.name for row in rows}
    for row in list(rows):
        # The second of two was made first: a crash in between left it alone, before anything could be debited.
        beside = tied_to(row.options)
        if beside is not None and beside not in names and not _has_debits(connection, row.id):
            _forget(connection, row.id)
            rows.remove(row)
    groups: dict[str, list[Any]] = {}
    for row in rows:
        beside = tied_to(row.options)
        groups.setdefault(beside if beside in names and beside is not None else row.name, []).append(row)
    for name, members in groups.items():
        promised = [Guarantee.from_dict(json.loads(row.guarantee)) for row in members]
        grant = Grant(name, _sum(promised))
        kept = grants.row_of(grant) | {"created": min(member.created for member in members)}
        made = connection.execute(sa.insert(schema.grants).returning(schema.grants.c.id), kept).scalar_one()
        for member, guarantee in zip(members, promised, strict=True):
            share = guarantee.budget / grant.guarantee.budget
            values = {"grant_id": made, "share": str(share)}
            connection.execute(sa.update(schema.streams).where(_S.id == member.id).values(**values))


def _sum(promised: Iterable[Guarantee]) -> Guarantee:
    """Two that were tied divided one promise, pure or in zCDP, about one unit; a single one is as it was."""
    first, *others = promised
    if not others:
        return first
    budget = sum((other.budget for other in others), first.budget)
    return Guarantee(first.unit, epsilon=budget) if first.kind == "pure" else Guarantee(first.unit, rho=budget)


def _has_debits(connection: Connection, stream: int) -> bool:
    return bool(connection.execute(sa.select(sa.exists().where(schema.debits.c.stream == stream))).scalar_one())


def _forget(connection: Connection, stream: int) -> None:
    for table in (schema.states, schema.queries, schema.earlier, schema.cuts, schema.answers):
        connection.execute(sa.delete(table).where(table.c.stream == stream))
    connection.execute(sa.delete(schema.streams).where(_S.id == stream))
