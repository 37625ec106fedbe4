"""Events as lines of JSON, as they come in over HTTP."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import polars as pl

from hubbub.collect.batch import TIME

_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "time": TIME,
    "person": pl.String,
    "path": pl.String,
    "agent": pl.String,
}


def read_events(body: bytes) -> tuple[pl.DataFrame, int]:
    """The events of a body, and how many lines were none.

    A line is `{"time": …, "session": …, "key": …}`: time as ISO 8601 with its zone, or seconds since 1970; `person` may
    stand for `session`, `path` for `key`; `agent` is optional.

    >>> events, malformed = read_events(b'{"time": 0, "session": "a", "key": "/"}\\nnoise\\n')
    >>> events.height, malformed
    (1, 1)
    """
    rows, malformed = [], 0
    for line in body.splitlines():
        if not line.strip():
            continue
        row = _event(line)
        if row is None:
            malformed += 1
        else:
            rows.append(row)
    return pl.DataFrame(rows, schema=pl.Schema(_SCHEMA), orient="row"), malformed


def _event(line: bytes) -> tuple[datetime, str, str, str | None] | None:
    try:
        facts = json.loads(line)
        person = facts.get("session", facts.get("person"))
        path = facts.get("key", facts.get("path"))
        agent = facts.get("agent")
        time = _time(facts.get("time"))
        for text in (person, path, agent):
            str(text).encode()  # half a character of a pair is no text
    except (ValueError, AttributeError, RecursionError, OverflowError, OSError):
        return None
    if isinstance(person, int) and not isinstance(person, bool):
        person = str(person)
    if not (isinstance(person, str) and isinstance(path, str) and isinstance(agent, str | None) and person):
        return None
    return time, person, path, agent


def _time(value: Any) -> datetime:
    """ISO 8601 with its zone, or seconds since 1970; anything else raises ValueError."""
    if isinstance(value, str):
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
        return moment.astimezone(UTC)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC)
    raise ValueError("no time")
