"""Answers in the shape of MDS Metrics, the Mobility Data Specification's way to ask a city for counts.

MDS withholds small counts: where fewer than ten were seen a row says -1. Here nothing is withheld. Every row has its
number with an interval, which is what protects people, and `k_value` is 0: no row was left out.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.released import Release, Value
from hubbub.released.value import finite
from hubbub.server.errors import InvalidRequest

if TYPE_CHECKING:
    from hubbub.server.maps import Maps

MEASURE = "vehicles.count"
"""How many are in a place at a tick. None of the core measures of MDS says that: theirs are by status or by trip."""

MEASURES = (MEASURE, f"{MEASURE}.standard_error", f"{MEASURE}.lower", f"{MEASURE}.upper")
DIMENSIONS = ("geography_id", "area")
MOST_INTERVALS = 100

_SPACE = uuid.UUID("6f0b9a52-3c52-5d0e-9e0d-0c9d5b8f6a11")


def duration(length: timedelta) -> str:
    """A span as ISO 8601 writes it.

    >>> duration(timedelta(minutes=15)), duration(timedelta(seconds=3630)), duration(timedelta(days=1))
    ('PT15M', 'PT1H30S', 'P1D')
    """
    days, rest = divmod(length, timedelta(days=1))
    seconds = rest.total_seconds()
    parts = ((seconds // 3600, "H"), (seconds % 3600 // 60, "M"), (seconds % 60, "S"))
    time = "".join(f"{number:g}{letter}" for number, letter in parts if number)
    return f"P{f'{days}D' if days else ''}{f'T{time}' if time or not days else ''}" if time or days else "PT0S"


def moment(given: str | int | float, name: str) -> datetime:
    """A date of MDS: ISO 8601 to the minute or finer, in UTC if it does not say, or milliseconds since 1970."""
    try:
        if isinstance(given, str):
            time = datetime.fromisoformat(given)
            return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
        return datetime.fromtimestamp(given / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        raise InvalidRequest(f"`{name}` is no time.", "Give one such as 2026-01-31T1200, in UTC.") from None


def discovery(first: datetime, length: timedelta) -> dict[str, Any]:
    """What can be asked."""
    return {
        "metrics": [{"measures": list(MEASURES), "since": first.isoformat(), "intervals": [duration(length)]}],
        "max_intervals": MOST_INTERVALS,
        "dimensions": list(DIMENSIONS),
        "filters": ["geography_id"],
    }


def answer(
    maps: Maps, releases: Iterable[Release], query: dict[str, Any], dimension: str | None, chosen: Sequence[str]
) -> dict[str, Any]:
    """One row per tick, or per tick and place, or per tick and area; `chosen` are the only places asked for."""
    columns = [{"name": "start_date", "column_type": "dimension", "data_type": "datetime"}]
    if dimension is not None:
        columns.append({"name": dimension, "column_type": "dimension", "data_type": "string"})
    wanted = [name for name in MEASURES if name in query["measures"]]
    columns += [{"name": name, "column_type": "measure", "data_type": "float"} for name in wanted]
    rows: list[list[Any]] = []
    for release in releases:
        assert release.tick.start is not None
        start = release.tick.start.isoformat()
        for name, value in _each(maps, release, dimension, chosen):
            told = dict(zip(MEASURES, _numbers(value), strict=True))
            rows.append([start, *([] if name is None else [name]), *(told[one] for one in wanted)])
    said = {**query, "k_value": 0}
    return {"id": str(uuid.uuid5(_SPACE, repr(sorted(said.items())))), "query": said, "columns": columns, "rows": rows}


def _each(
    maps: Maps, release: Release, dimension: str | None, chosen: Sequence[str]
) -> Iterable[tuple[str | None, Value]]:
    at = [release.keys.position(name) for name in chosen]
    if dimension is None:
        yield None, maps.total(release, np.array(at or range(len(release.keys)), dtype=np.int64))
    elif dimension == "area":
        districts = maps.districts(release)
        for place, name in enumerate(districts.names):
            yield name, maps.total(release, districts.cells(place))
    else:
        for place in at or range(len(release.keys)):
            yield release.keys.names[place], release.at(place)


def _numbers(value: Value) -> list[float | None]:
    """Null where nothing is known: never -1, which MDS keeps for what was withheld."""
    known = value.has_number and math.isfinite(value.standard_error)
    return [finite(one) if known else None for one in (value.value, value.standard_error, value.lower, value.upper)]
