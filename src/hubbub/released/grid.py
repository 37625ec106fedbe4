"""Cells in columns and rows."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, overload

from hubbub.errors import InvalidParameter
from hubbub.released.domain import Domain

MOST_CELLS = 2**28
"""16,384 a side: one vector of numbers is then 2 GB."""

_NAME = re.compile(r"(0|[1-9][0-9]{0,8}),(0|[1-9][0-9]{0,8})")


class Grid(Domain):
    """`columns` times `rows` cells; a cell's name is "column,row", counted from 0 at the west and the south.

    Vectors run along the rows, the southernmost first. `bounds` say which part of a plane or of the earth it covers:
    west, south, east, north. No name is kept: a million cells cost nothing.

    >>> grid = Grid(1024, 1024)
    >>> len(grid), grid.position("3,1"), grid.names[1027]
    (1048576, 1027, '3,1')
    """

    kind: ClassVar[str] = "grid"

    def __init__(self, columns: int, rows: int, *, bounds: tuple[float, float, float, float] | None = None) -> None:
        for name, number in (("columns", columns), ("rows", rows)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise InvalidParameter(f"A grid's `{name}` must be a whole number from 1 on; got {number!r}.")
        if columns * rows > MOST_CELLS:
            raise InvalidParameter(
                f"A grid of {columns:,} x {rows:,} has more than 2^28 cells.", "Use larger cells, or several grids."
            )
        self.columns, self.rows = columns, rows
        self.bounds = None if bounds is None else _checked(bounds)

    @property
    def names(self) -> Sequence[str]:
        return _CellNames(self.columns, self.rows)

    def position(self, name: str) -> int:
        match = _NAME.fullmatch(name) if isinstance(name, str) else None
        if match is None or int(match[1]) >= self.columns or int(match[2]) >= self.rows:
            raise self.unknown(name)
        return int(match[2]) * self.columns + int(match[1])

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.rows, self.columns)

    @property
    def noun(self) -> str:
        return "cell"

    def to_dict(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"kind": self.kind, "columns": self.columns, "rows": self.rows}
        return facts if self.bounds is None else {**facts, "bounds": list(self.bounds)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Grid:
        bounds = facts.get("bounds")
        return cls(facts["columns"], facts["rows"], bounds=None if bounds is None else tuple(bounds))

    def __len__(self) -> int:
        return self.columns * self.rows

    def __repr__(self) -> str:
        return f"Grid({self.columns:,} x {self.rows:,})"


class _CellNames(Sequence[str]):
    """The names of a grid's cells, each made when it is asked for."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns, self._all = columns, range(columns * rows)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice):
            return tuple(self[i] for i in self._all[at])
        row, column = divmod(self._all[at], self._columns)
        return f"{column},{row}"

    def __len__(self) -> int:
        return len(self._all)


def _checked(bounds: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    try:
        west, south, east, north = (float(number) for number in bounds)
    except (TypeError, ValueError):
        raise InvalidParameter(f"`bounds` must be four numbers, west, south, east, north; got {bounds!r}.") from None
    if not all(map(math.isfinite, (west, south, east, north))) or west >= east or south >= north:
        raise InvalidParameter(
            f"`bounds` must run from west to east and from south to north; got {bounds!r}.",
            "Give (west, south, east, north); longitude comes before latitude.",
        )
    return west, south, east, north
