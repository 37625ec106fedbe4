"""Events as comma-separated lines."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence

import polars as pl

from hubbub.collect.layout import PATHS, Layout
from hubbub.collect.sources.times import read_times
from hubbub.errors import InvalidInput


class CsvLines:
    """One event a line, the columns named by `header`. A quoted field may hold commas, not line breaks.

    >>> events, malformed = CsvLines(b"time,person,path").parse(b"2026-01-01T00:00:00Z,a,/\\nx\\n")
    >>> events["path"][0], malformed
    ('/', 1)
    """

    def __init__(
        self, header: bytes, names: Mapping[str, str] | None = None, zone: str = "UTC", layout: Layout = PATHS
    ) -> None:
        self._header = _row(header.decode("utf-8-sig", "replace").strip())
        self._zone, self.layout = zone, layout
        self._names = columns_of(layout, self._header, names or {})

    def parse(self, lines: bytes) -> tuple[pl.DataFrame, int]:
        # Line by line: a stray quote then spoils its own line, where a reader of whole files would swallow the next.
        width = len(self._header)
        texts = [text for text in lines.decode("utf-8", "replace").split("\n") if text and not text.isspace()]
        enough = (text for text in texts if text.count(",") >= width - 1)
        good = [row for text in enough if len(row := _row(text.rstrip("\r"))) == width]
        at = {column: self._header.index(name) for column, name in self._names.items()}
        cells = {column: pl.Series([row[i] or None for row in good], dtype=pl.String) for column, i in at.items()}
        whole = self.layout.typed(pl.DataFrame(cells | {"time": read_times(cells["time"], self._zone)}))
        return whole, len(texts) - whole.height


def columns_of(layout: Layout, header: Sequence[str], names: Mapping[str, str]) -> dict[str, str]:
    """Which column of a table holds what: as somebody says, or the first of its usual names that is there.

    What is not needed is taken under its own name alone.
    """
    usual = {name: next((other for other in layout.names[name] if other in header), name) for name in layout.needed}
    wanted = usual | {name: name for name in layout.optional if name in header} | dict(names)
    missing = [name for name in wanted.values() if name not in header]
    if missing:
        raise InvalidInput(
            f"The file has no column `{missing[0]}`; it has {', '.join(header[:10])}.",
            f"Say which columns hold {', '.join(layout.needed[:-1])} and {layout.needed[-1]}.",
        )
    return wanted


def _row(text: str) -> list[str]:
    if '"' not in text:
        return text.split(",")
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error:
        return []
