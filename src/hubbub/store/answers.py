"""What was answered to a request that may come again: the same key gets the same tick."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from hubbub.store import schema
from hubbub.store.cells import Shape
from hubbub.store.database import Database

_A = schema.answers.c
_SHAPE = Shape((_A.body, _A.tick))

ANSWERS_KEPT = 100_000
"""How many answers a stream remembers: whoever repeats a request does so within minutes."""

_PRUNED_EVERY = 1_000
"""Older ones are deleted once in so many requests: looking for the oldest costs more than a few rows too many."""


def remember(database: Database, stream: int, key: bytes, body: bytes, tick: int) -> tuple[bytes, int]:
    """Keep what `key` was answered with; if it was answered before, that stands: its body's hash and its tick."""
    row = {"stream": stream, "key": key, "body": body, "tick": tick}
    with database.write() as connection:
        connection.execute(database.insert_new(schema.answers), row)
        query = sa.select(_A.id, _A.body, _A.tick).where(_A.stream == stream, _A.key == key)
        answer = connection.execute(query).one()
        if answer.id % _PRUNED_EVERY == 0:
            ranked = sa.select(_A.id).where(_A.stream == stream).order_by(_A.id.desc())
            oldest = connection.execute(ranked.offset(ANSWERS_KEPT).limit(1)).scalar_one_or_none()
            if oldest is not None:
                connection.execute(sa.delete(schema.answers).where(_A.stream == stream, _A.id <= oldest))
    return _answer(answer)


def answered(database: Database, stream: int, key: bytes) -> tuple[bytes, int] | None:
    """The body's hash and the tick that `key` was answered with, or None."""
    query = sa.select(_A.body, _A.tick).where(_A.stream == stream, _A.key == key)
    with database.read() as connection:
        answer = connection.execute(query).one_or_none()
    return None if answer is None else _answer(answer)


def _answer(row: Any) -> tuple[bytes, int]:
    body, tick = _SHAPE.checked((row.body, row.tick), "an answer")
    return body, tick
