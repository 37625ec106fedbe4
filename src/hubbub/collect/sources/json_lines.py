"""One JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import polars as pl

from hubbub.collect.batch import TIME
from hubbub.collect.sources.times import read_times

FIELDS: Mapping[str, Sequence[str]] = {
    "time": ("time", "timestamp", "@timestamp", "time_iso8601", "ts"),
    "person": ("person", "session", "user", "remote_addr", "client_ip", "ip", "host"),
    "path": ("path", "key", "request_uri", "uri", "url"),
    "agent": ("agent", "http_user_agent", "user_agent"),
    "method": ("method", "request_method"),
    "status": ("status",),
}
"""Under which names each column is looked for; the first that a line has is taken."""


class JsonLines:
    """Events, or an access log in JSON. `names` says which field holds what, where it is not one of the usual.

    >>> line = b'{"time": "2026-01-01T01:00:00+01:00", "session": "a", "path": "/"}'
    >>> events, malformed = JsonLines().parse(line + b"\\n{broken\\n")
    >>> print(events["time"][0], events["person"][0], malformed)
    2026-01-01 00:00:00+00:00 a 1
    """

    def __init__(self, names: Mapping[str, str] | None = None, zone: str = "UTC") -> None:
        self._names = {column: [(names or {})[column]] if column in (names or {}) else list(usual)
                       for column, usual in FIELDS.items()}  # fmt: skip
        self._zone = zone
        every = {name for usual in self._names.values() for name in usual}
        self._type = pl.Struct(dict.fromkeys(sorted(every), pl.String))

    def parse(self, lines: bytes) -> tuple[pl.DataFrame, int]:
        texts = [text for text in lines.decode("utf-8", "replace").split("\n") if text.strip()]
        try:
            found = pl.Series(texts, dtype=pl.String).str.json_decode(self._type).struct.unnest()
        except pl.exceptions.PolarsError:  # at least one line is no JSON: read each by itself
            found = self._one_by_one(texts)
        columns = {
            column: found.select(pl.coalesce(*names)).to_series().alias(column) for column, names in self._names.items()
        }
        table = pl.DataFrame(columns).with_columns(
            read_times(columns["time"], self._zone).alias("time"), pl.col("status").cast(pl.Int32, strict=False)
        )
        whole = table.drop_nulls(["time", "person", "path"])
        return whole.with_columns(pl.col("time").cast(TIME)), len(texts) - whole.height

    def _one_by_one(self, texts: list[str]) -> pl.DataFrame:
        names = [field.name for field in self._type.fields]
        rows = [_object(text) for text in texts]
        return pl.DataFrame(
            {name: [_text(row.get(name)) for row in rows] for name in names}, schema=dict.fromkeys(names, pl.String)
        )


def _object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    # JSON can spell half of a pair of characters, which is no text and would stop the whole batch.
    return str(value).encode("utf-8", "replace").decode()
