"""How long the ranges were that people asked for: by these, adaptive range trees are chosen."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from hubbub.errors import InvalidParameter
from hubbub.store import schema
from hubbub.store.cells import Shape
from hubbub.store.database import Database

_Q = schema.queries.c
_SHAPE = Shape([_Q.length])
_LONGEST = 2**62

KEPT = 1_000
"""How many lengths a stream remembers; a chooser looks at the last few hundred."""


def record(database: Database, stream: int, lengths: Sequence[int], time: int) -> None:
    """Anyone may ask, so the newest thousand are kept and no more: questions must not fill the disk."""
    if not lengths or min(lengths) < 1 or max(lengths) > _LONGEST:
        raise InvalidParameter("A query covers at least one tick, and no more than 2^62.")
    rows = [{"stream": stream, "time": time, "length": length} for length in lengths[-KEPT:]]
    ranked = sa.select(_Q.id).where(_Q.stream == stream).order_by(_Q.id.desc())
    with database.write() as connection:
        connection.execute(sa.insert(schema.queries), rows)
        oldest = connection.execute(ranked.offset(KEPT).limit(1)).scalar_one_or_none()
        if oldest is not None:
            connection.execute(sa.delete(schema.queries).where(_Q.stream == stream, _Q.id <= oldest))


def recent(database: Database, stream: int, limit: int) -> list[int]:
    """The newest, oldest of them first."""
    query = sa.select(_Q.length).where(_Q.stream == stream).order_by(_Q.id.desc()).limit(limit)
    with database.read() as connection:
        rows = connection.execute(query).all()
    return [_SHAPE.checked(row, "a question")[0] for row in reversed(rows)]
