"""Events as comma-separated lines."""

from __future__ import annotations

import csv
from collections.abc import Mapping

import polars as pl

from hubbub.collect.sources.times import read_times
from hubbub.errors import InvalidInput

_NEEDED = {"time": "time", "person": "person", "path": "path"}


class CsvLines:
    """One event a line, the columns named by `header`. A quoted field may hold commas, not line breaks.

    >>> events, malformed = CsvLines(b"time,person,path").parse(b"2026-01-01T00:00:00Z,a,/\\nx\\n")
    >>> events["path"][0], malformed
    ('/', 1)
    """

    def __init__(self, header: bytes, names: Mapping[str, str] | None = None, zone: str = "UTC") -> None:
        self._header = _row(header.decode("utf-8-sig", "replace").strip())
        self._zone = zone
        wanted = _NEEDED | {name: name for name in ("agent", "method", "status") if name in self._header}
        self._names = wanted | dict(names or {})
        missing = [name for name in self._names.values() if name not in self._header]
        if missing:
            raise InvalidInput(
                f"The file has no column `{missing[0]}`; it has {', '.join(self._header[:10])}.",
                "Say which columns hold time, person and path.",
            )

    def parse(self, lines: bytes) -> tuple[pl.DataFrame, int]:
        # Line by line: a stray quote then spoils its own line, where a reader of whole files would swallow the next.
        width = len(self._header)
        texts = [text for text in lines.decode("utf-8", "replace").split("\n") if text and not text.isspace()]
        enough = (text for text in texts if text.count(",") >= width - 1)
        good = [row for text in enough if len(row := _row(text.rstrip("\r"))) == width]
        at = {column: self._header.index(name) for column, name in self._names.items()}
        cells = {column: pl.Series([row[i] or None for row in good], dtype=pl.String) for column, i in at.items()}
        table = pl.DataFrame(cells | {"time": read_times(cells["time"], self._zone)})
        if "status" in table.columns:
            table = table.with_columns(pl.col("status").cast(pl.Int32, strict=False))
        whole = table.drop_nulls(["time", "person", "path"])
        return whole, len(texts) - whole.height


def _row(text: str) -> list[str]:
    if '"' not in text:
        return text.split(",")
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error:
        return []
