"""One JSON object a line."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl
from pydantic_core import from_json

from hubbub.collect.layout import PATHS, Layout
from hubbub.collect.sources.lines import without_long
from hubbub.collect.sources.times import read_times

_MOST_SHAPES = 1_000


class JsonLines:
    """Events, or an access log in JSON. `names` says which field holds what, where it is not one of the usual.

    Every line goes through one parser, by itself: what it becomes depends on nothing beside it. Of a name that stands
    twice in an object the last counts. A number is taken as Python writes it (`5`, `5.0`, `100000.0` for `1e5`); true,
    false, null, lists and objects are no values, and neither is a number that no float holds. Half a surrogate pair
    makes the line malformed.

    >>> line = b'{"time": "2026-01-01T01:00:00+01:00", "session": "a", "path": "/"}'
    >>> events, malformed = JsonLines().parse(line + b"\\n{broken\\n")
    >>> print(events["time"][0], events["person"][0], malformed)
    2026-01-01 00:00:00+00:00 a 1
    """

    def __init__(
        self, names: Mapping[str, str] | None = None, zone: str = "UTC", layout: Layout = PATHS
    ) -> None:  # fmt: skip
        given = names or {}
        usual = {name: [given[name]] if name in given else list(others) for name, others in layout.names.items()}
        self.layout = layout
        self._columns: dict[str, list[str]] = {}  # of each name: the columns that it may fill
        for column, alternatives in usual.items():
            for name in alternatives:
                self._columns.setdefault(name, []).append(column)
        self._usual = usual
        self._shortest = 0 if given else layout.shortest
        self._zone = zone
        self._shapes: dict[tuple[str, ...], list[list[str]]] = {}

    def parse(self, lines: bytes) -> tuple[pl.DataFrame, int]:
        lines, too_long = without_long(lines)  # files have none any more; bodies and messages may
        texts = [text for text in lines.decode("utf-8", "replace").split("\n") if text and not text.isspace()]
        rows = [row for text in texts if (row := self._row(text)) is not None]
        columns = (
            zip(self._usual, zip(*rows, strict=True), strict=True) if rows else ((name, []) for name in self._usual)
        )
        found = {name: pl.Series(name, values, dtype=pl.String) for name, values in columns}
        whole = self.layout.typed(pl.DataFrame(found | {"time": read_times(found["time"], self._zone)}))
        return whole, len(texts) - whole.height + too_long

    def _row(self, text: str) -> tuple[str | None, ...] | None:
        if len(text) < self._shortest:
            return None  # too short to say when, who and where: noise costs next to nothing
        try:
            fields = from_json(text, allow_inf_nan=False, cache_strings="keys")
        except ValueError:
            return None
        if type(fields) is not dict:
            return None
        shape = tuple(fields)
        names = self._shapes.get(shape)
        if names is None:
            names = self._where(fields)
            # A log has few different sets of fields, and where to look in each is worth remembering.
            if len(self._shapes) < _MOST_SHAPES and len(shape) <= 100:
                self._shapes[shape] = names
        return tuple([_first(fields, alternatives) for alternatives in names])

    def _where(self, fields: dict[str, object]) -> list[list[str]]:
        """For each column the names to look under, of those that this object has."""
        wanted = {column for name in fields if name in self._columns for column in self._columns[name]}
        return [
            [name for name in self._usual[column] if name in fields] if column in wanted else []
            for column in self._usual
        ]


def _first(fields: dict[str, object], names: list[str]) -> str | None:
    for name in names:
        value = fields[name]
        if type(value) is str:
            return value
        if type(value) is int or (type(value) is float and math.isfinite(value)):
            return str(value)
    return None
