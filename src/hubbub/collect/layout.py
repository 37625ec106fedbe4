"""What an event says: which columns it has, and under which names sources write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

TIME = pl.Datetime("us", "UTC")
"""The one type of every event's time."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of events, in order, each with the names under which it is looked for; the first one found is taken.

    >>> PATHS.needed, POSITIONS.needed
    (('time', 'person', 'path'), ('time', 'person', 'x', 'y'))
    """

    needed: tuple[str, ...]
    """A row without one of these is no event."""

    names: Mapping[str, Sequence[str]]
    types: Mapping[str, pl.DataType | type[pl.DataType]]
    shortest: int
    """No JSON object that says all that is needed is shorter: noise costs next to nothing."""

    @property
    def optional(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name not in self.needed)

    def typed(self, texts: pl.DataFrame) -> pl.DataFrame:
        """Columns of text in their types; the time is read by whoever knows its zone. What is no value becomes null."""
        kept = {name: kind for name, kind in self.types.items() if name in texts.columns and name != "time"}
        return self.whole(texts.with_columns(pl.col(name).cast(kind, strict=False) for name, kind in kept.items()))

    def whole(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows that say all that is needed. A coordinate that is not finite is none."""
        numbers = [name for name in self.needed if self.types[name] == pl.Float64]
        rows = table.drop_nulls(list(self.needed))
        return rows.filter(pl.all_horizontal(pl.col(name).is_finite() for name in numbers)) if numbers else rows


PATHS = Layout(
    ("time", "person", "path"),
    {
        "time": ("time", "timestamp", "@timestamp", "time_iso8601", "ts"),
        "person": ("person", "session", "user", "remote_addr", "client_ip", "ip", "host"),
        "path": ("path", "key", "request_uri", "uri", "url"),
        "agent": ("agent", "http_user_agent", "user_agent"),
        "method": ("method", "request_method"),
        "status": ("status",),
    },
    {
        "time": TIME,
        "person": pl.String,
        "path": pl.String,
        "agent": pl.String,
        "method": pl.String,
        "status": pl.Int32,
    },
    len('{"ts":0,"ip":"","uri":""}'),
)
"""Who was on which page, or under which key."""

POSITIONS = Layout(
    ("time", "person", "x", "y"),
    {
        "time": ("time", "timestamp", "@timestamp", "ts"),
        "person": ("person", "vehicle", "vehicle_id", "trip", "trip_id", "device", "device_id", "object_id"),
        "x": ("x", "longitude", "lon", "lng", "long"),
        "y": ("y", "latitude", "lat"),
    },
    {"time": TIME, "person": pl.String, "x": pl.Float64, "y": pl.Float64},
    len('{"ts":0,"trip":"","x":0,"y":0}'),
)
"""Who was where on a map. Longitude before latitude: `x` runs to the east."""
