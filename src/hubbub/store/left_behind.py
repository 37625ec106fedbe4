"""Rows of streams that are gone: nothing that a store does leaves any, so somebody has changed it."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hubbub.errors import LedgerBroken
from hubbub.store import schema

_G = schema.grants.c
_OF_A_STREAM = tuple(table for table in schema.metadata.sorted_tables if "stream" in table.c)


def refuse(connection: Connection, stream: int) -> None:
    """Refuse a number for a new stream under which rows are kept: they would pass for the new stream's own."""
    for table in _OF_A_STREAM:
        if connection.execute(sa.select(sa.exists().where(table.c.stream == stream))).scalar_one():
            raise broken(table.name)


def expect(connection: Connection, wanted: int) -> None:
    """Refuse what `refuse` would refuse of that many new streams, which SQLite numbers after the newest."""
    newest = connection.execute(sa.select(sa.func.max(schema.streams.c.id))).scalar_one() or 0
    for step in range(wanted):
        refuse(connection, newest + 1 + step)


def faults(connection: Connection) -> Iterator[str]:
    """What lies in the store and belongs to nothing in it, each kind by itself."""
    known = sa.select(schema.streams.c.id)
    for table in _OF_A_STREAM:
        gone = table.c.stream.not_in(known)
        lines, streams = connection.execute(
            sa.select(sa.func.count(), sa.func.count(sa.distinct(table.c.stream))).select_from(table).where(gone)
        ).one()
        if lines:
            which = "a stream that is" if streams == 1 else f"{streams:,} streams that are"
            yield f"`{table.name}` holds {lines:,} {'line' if lines == 1 else 'lines'} of {which} not in the store"
    drawn = sa.select(schema.streams.c.grant_id).where(schema.streams.c.grant_id.is_not(None))
    for name in connection.execute(sa.select(_G.name).where(_G.id.not_in(drawn)).order_by(_G.name)).scalars():
        yield f"no stream draws of the grant {name!r}: those that did were deleted, or it was put in"


def broken(table: str) -> LedgerBroken:
    return LedgerBroken(
        f"The store holds lines of a stream that is gone (in `{table}`): its row was deleted, and they were left "
        "behind. They would pass for those of a new stream. Nothing was made.",
        "`hubbub ledger verify STORE` tells which lines there are. Find out who deleted the stream, and restore the "
        "store from a backup.",
    )
