"""Streams as the store keeps them: read with their grants, made with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hubbub.errors import LedgerBroken
from hubbub.privacy import Part
from hubbub.store import grants, left_behind, schema
from hubbub.store.before_grants import options_since
from hubbub.store.cells import Shape, amount_of, as_written, broken
from hubbub.store.checkpoint import Checkpoint
from hubbub.store.database import Database
from hubbub.store.faults import fault_point
from hubbub.store.marks import Marks
from hubbub.store.stream import GRANT, Definition, Stream, part_of
from hubbub.store.times import from_micros

_STREAMS = schema.streams.c
_GRANT = [column.label(f"grant_{column.name}") for column in grants.COLUMNS]
_STREAM = (
    sa.select(schema.streams, schema.earlier.c.counted, *_GRANT)
    .select_from(
        schema.streams.outerjoin(schema.earlier, schema.earlier.c.stream == _STREAMS.id).outerjoin(
            schema.grants, schema.grants.c.id == _STREAMS.grant_id
        )
    )
    .order_by(_STREAMS.name)
)

_SHAPE = Shape(list(schema.streams.c), times=("created",))


def read(connection: Connection, name: str | None = None) -> list[Stream]:
    """All streams, by name; or the one of that name."""
    rows = connection.execute(_STREAM if name is None else _STREAM.where(_STREAMS.name == name)).all()
    return [_stream(row) for row in rows]


def names(connection: Connection, table: sa.Table) -> list[str]:
    """The names that stand in `streams` or `grants`, whatever else of their rows was changed."""
    found = connection.execute(sa.select(table.c.name)).scalars().all()
    if not all(isinstance(name, str) for name in found):
        raise broken(table.c.name, "a name")
    return sorted(found)


def make(database: Database, marks: Marks, wanted: Sequence[Definition], time: int) -> None:
    """Grant, streams and their first states, together or not at all; nothing where another made one of them before."""
    fault_point("grant:begin")
    try:
        with database.write() as connection:
            drawn = grants.draw(database, connection, wanted, time)
            fault_point("grant:written")
            for asked in wanted:
                row = {
                    "name": asked.name, "keys": asked.keys, "guarantee": asked.guarantee, "method": asked.method,
                    "options": asked.options, "created": time, "genesis": asked.genesis,
                    "grant_id": drawn[asked.name], "share": str(asked.part.share),
                    "slips": str(asked.part.slips),
                }  # fmt: skip
                made = connection.execute(sa.insert(schema.streams).returning(_STREAMS.id), row).scalar_one()
                left_behind.refuse(connection, made)
                start = Checkpoint.start(Stream(made, asked, from_micros(time), asked.genesis))
                connection.execute(sa.insert(schema.states), start.to_row() | {"stream": made})
                if (mark := marks.of(asked.genesis)) is not None:
                    mark.begin(asked.genesis)  # before the stream: one that has no mark is not trusted
            fault_point("stream:written")
    except sa.exc.IntegrityError:
        return  # another process made one of them in this moment: it is found now
    fault_point("stream:committed")


def _stream(row: Any) -> Stream:
    _SHAPE.checked(row[: len(schema.streams.c)], f"stream {row.name!r}")
    made = Definition(row.name, row.keys, row.guarantee, row.method, row.options)
    if made.genesis != row.genesis:
        raise LedgerBroken(
            f"The definition of the stream {row.name!r} was changed after it was made.",
            "Restore the store from a backup: the promise that was made is no longer the one that is written there.",
        )
    with as_written(f"the definition of the stream {row.name!r}"):
        pinned = json.loads(row.options).get(GRANT)
        max_ticks = None if pinned is None else pinned.get("max_ticks")
    part = _part(row, max_ticks)
    with as_written(f"the definition of the stream {row.name!r}"):
        other = part.guarantee.to_dict() != json.loads(row.guarantee)
        other = other or (pinned is not None and part_of(pinned) != part)
    if other:
        raise LedgerBroken(
            f"The stream {row.name!r} was made with another part of another grant than the store holds.",
            "Restore the store from a backup.",
        )
    # A stream that is older than grants has its grant from a migration; its hash stays that of its first definition.
    known = made if pinned is not None else replace(made, options=options_since(row.options, part))
    counted = None if row.counted is None else bool(row.counted)
    return Stream(row.id, known, from_micros(row.created), row.genesis, counted)


def _part(row: Any, max_ticks: int | None) -> Part:
    if row.grant_name is None:
        raise LedgerBroken(f"The stream {row.name!r} belongs to no grant.", "Restore the store from a backup.")
    where = f"in `streams` (stream {row.name!r})"
    share, slips = amount_of(row.share, f"`share` {where}"), amount_of(row.slips, f"`slips` {where}")
    grant = grants.grant_of(*(getattr(row, column.name) for column in _GRANT))
    with as_written(f"`share` or `slips` {where}"):
        return grant.part(share, slips, max_ticks)
