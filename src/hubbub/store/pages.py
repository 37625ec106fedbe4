"""Long lists out of a store, a page at a time: memory stays small, and no connection is held between two pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from hubbub.released import Release
from hubbub.store import schema
from hubbub.store.database import Database
from hubbub.store.debit import Debit
from hubbub.store.decisions import RELEASES, History
from hubbub.store.stream import Stream

_D, _R = schema.debits.c, schema.releases.c
_PAGE = 1_000
_MOST_CELLS = 5_000_000
"""Releases read at a time, in ticks times keys: few ticks of a stream with many keys."""


_LATEST = (
    RELEASES.where(_R.stream == sa.bindparam("id"), _R.tick >= sa.bindparam("first"))
    .order_by(_R.tick.desc())
    .limit(sa.bindparam("count"))
)


def latest(
    database: Database, stream: Stream, history_of: Callable[[Connection, Stream], History], count: int, first: int
) -> list[Release]:
    """The newest `count` of them from tick `first` on, oldest first."""
    with database.read() as connection:
        history = history_of(connection, stream)
        rows = connection.execute(_LATEST, {"id": stream.id, "first": first, "count": count}).all()
    return [history.release(row) for row in reversed(rows)]


def first_tick(database: Database, stream: Stream) -> int | None:
    """The oldest tick of which there is a release."""
    with database.read() as connection:
        found = connection.execute(sa.select(sa.func.min(_R.tick)).where(_R.stream == stream.id)).scalar()
    return None if found is None else int(found)


def releases(
    database: Database,
    stream: Stream,
    history_of: Callable[[Connection, Stream], History],
    first: int,
    last: int | None,
    limit: int | None,
) -> Iterator[Release]:
    """By tick, from `first` to `last`, `limit` of them at most; `history_of` tells what the stream counted when."""
    while limit is None or limit > 0:
        query = RELEASES.where(_R.stream == stream.id, _R.tick >= first)
        if last is not None:
            query = query.where(_R.tick <= last)
        with database.read() as connection:
            history = history_of(connection, stream)
            page = max(1, min(_PAGE, _MOST_CELLS // history.largest))
            size = page if limit is None else min(limit, page)
            rows = connection.execute(query.order_by(_R.tick).limit(size)).all()
        for row in rows:
            yield history.release(row)
        if len(rows) < size:
            return
        first = rows[-1].tick + 1
        limit = None if limit is None else limit - size


def debits(database: Database, stream: str, query: sa.Select[Any]) -> Iterator[Debit]:
    """The lines of a ledger that `query` selects, in order."""
    after = -1
    while True:
        with database.read() as connection:
            rows = connection.execute(query.where(_D.tick > after).order_by(_D.tick).limit(_PAGE)).all()
        for row in rows:
            yield Debit.read(row, stream)
        if len(rows) < _PAGE:
            return
        after = rows[-1].tick
