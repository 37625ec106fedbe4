"""Where a source ended when a tick was closed: kept, so that after a restart every event is judged as before."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from hubbub.confidential import Cut
from hubbub.errors import InvalidParameter
from hubbub.store import schema
from hubbub.store.cells import Shape, as_written
from hubbub.store.database import Database
from hubbub.store.envelope import MARK, Envelope
from hubbub.store.times import from_micros, to_micros

_C = schema.cuts.c
_COLUMNS = (_C.tick, _C.source, _C.time, _C.frontier, _C.doubt)
_SHAPE = Shape(_COLUMNS, times=("time",))


ELSEWHERE = " (sealed)"
"""Behind the source of a cut that this machine cannot read: so it is nobody's own, and nothing is read on from it."""


def keep(database: Database, stream: int, cut: Cut) -> Cut:
    """Write a tick's cut, durably; if the tick has one already, that one stands and is returned."""
    if cut.time.tzinfo is None:
        raise InvalidParameter("A cut's time needs a time zone.", "Use datetime.now(UTC).")
    envelope, frontier = Envelope(), json.dumps(dict(cut.frontier), sort_keys=True)
    if not cut.shared:
        frontier = envelope.seal(frontier, _about(stream, cut.tick, cut.source))
    row = {
        "stream": stream, "tick": cut.tick, "source": cut.source, "time": to_micros(cut.time),
        "frontier": frontier, "doubt": cut.doubt or None,
    }  # fmt: skip
    with database.write() as connection:
        connection.execute(database.insert_new(schema.cuts), row)
        kept = connection.execute(sa.select(*_COLUMNS).where(_C.stream == stream, _C.tick == cut.tick)).one()
    return _cut(envelope, stream, kept)


def kept(database: Database, stream: int, first: int | None) -> list[Cut]:
    """The cuts of a stream by tick, from `first` on."""
    query = sa.select(*_COLUMNS).where(_C.stream == stream).order_by(_C.tick)
    if first is not None:
        query = query.where(_C.tick >= first)
    with database.read() as connection:
        envelope = Envelope()
        return [_cut(envelope, stream, row) for row in connection.execute(query)]


def forget(database: Database, stream: int, before: int) -> None:
    """Delete the cuts of ticks before `before`: they will never be asked for again."""
    with database.write() as connection:
        connection.execute(sa.delete(schema.cuts).where(_C.stream == stream, _C.tick < before))


def _cut(envelope: Envelope, stream: int, row: Any) -> Cut:
    tick, source, time, text, doubt = _SHAPE.checked(row, "a cut")
    shared = not text.startswith(MARK)
    if not shared:
        text = envelope.open(text, _about(stream, tick, source))
    if text is None:
        source, text = source + ELSEWHERE, "{}"
    with as_written(f"`frontier` in `cuts` (tick {tick})"):
        return Cut(tick, from_micros(time), dict(json.loads(text)), source, doubt or "", shared)


def _about(stream: int, tick: int, source: str) -> str:
    return f"{stream} {tick} {source}"
