"""Cells in columns and rows."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import InvalidParameter
from hubbub.released.domain import Domain
from hubbub.released.positions import positions

MOST_CELLS = 2**28
"""16,384 a side: one vector of numbers is then 2 GB."""

Coordinates: TypeAlias = Literal["plain", "degrees"]
"""What positions are given in: metres, feet or pixels of some plane, or longitude and latitude."""

_NAME = re.compile(r"(0|[1-9][0-9]{0,8}),(0|[1-9][0-9]{0,8})")


class Grid(Domain):
    """`columns` times `rows` cells; a cell's name is "column,row", counted from 0 at the west and the south.

    Vectors run along the rows, the southernmost first. `bounds` say which part of a plane or of the earth it covers:
    west, south, east, north; in plain `coordinates`, or in degrees (longitude before latitude; one that runs over the
    180th meridian has its west above its east). No name is kept: a million cells cost nothing.

    >>> grid = Grid(1024, 1024)
    >>> len(grid), grid.position("3,1"), grid.names[1027]
    (1048576, 1027, '3,1')
    >>> Grid(4, 2, bounds=(0, 0, 400, 200)).cells([150, 400, 401], [120, 0, 0]).tolist()  # -1 is off the map
    [5, 3, -1]
    """

    kind: ClassVar[str] = "grid"

    def __init__(
        self,
        columns: int,
        rows: int,
        *,
        bounds: tuple[float, float, float, float] | None = None,
        coordinates: Coordinates = "plain",
    ) -> None:
        for name, number in (("columns", columns), ("rows", rows)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise InvalidParameter(f"A grid's `{name}` must be a whole number from 1 on; got {number!r}.")
        if columns * rows > MOST_CELLS:
            raise InvalidParameter(
                f"A grid of {columns:,} x {rows:,} has more than 2^28 cells.", "Use larger cells, or several grids."
            )
        self.columns, self.rows = columns, rows
        if coordinates not in ("plain", "degrees"):
            raise InvalidParameter(f"A grid's `coordinates` are plain or degrees; got {coordinates!r}.")
        self.coordinates: Coordinates = coordinates
        self.bounds = None if bounds is None else _checked(bounds, coordinates)

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
        if self.bounds is not None:
            facts["bounds"] = list(self.bounds)
        return facts if self.coordinates == "plain" else {**facts, "coordinates": self.coordinates}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Grid:
        bounds = facts.get("bounds")
        given = None if bounds is None else tuple(bounds)
        return cls(facts["columns"], facts["rows"], bounds=given, coordinates=facts.get("coordinates", "plain"))

    # ── where cells lie ──────────────────────────────────────────────────────────────────────────────────────────

    @property
    def cell_size(self) -> tuple[float, float]:
        """How wide and how high a cell is, in the grid's coordinates."""
        _, south, _, north = self._placed
        return self._width / self.columns, (north - south) / self.rows

    def scaled(self, x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Positions counted in cells from the south-west corner, as numbers with fractions."""
        west, south, _, north = self._placed
        across, upward = positions(x, y)
        across, upward = across - west, upward - south
        if self.coordinates == "degrees":  # a longitude means the same a whole turn further on
            middle = self._width / 2
            across = np.mod(across - middle + 180.0, 360.0) - 180.0 + middle
        return across * (self.columns / self._width), upward * (self.rows / (north - south))

    def cells(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.int64]:
        """The position in the vector of the cell that each point lies in; -1 where it lies off the map or is NaN.

        A cell has its western and southern border; the map's own eastern and northern border belong to the last cells.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            across, upward = self.scaled(x, y)
            on = (across >= 0) & (across <= self.columns) & (upward >= 0) & (upward <= self.rows)
        column = np.where(on, across, 0.0).astype(np.int64)
        row = np.where(on, upward, 0.0).astype(np.int64)
        np.minimum(column, self.columns - 1, out=column)
        np.minimum(row, self.rows - 1, out=row)
        return np.where(on, row * self.columns + column, -1)

    def centres(self, at: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The middle of each of these cells, as x and y."""
        cells = np.asarray(at, dtype=np.int64)
        west, south, _, _ = self._placed
        wide, high = self.cell_size
        x = np.asarray(west + (cells % self.columns + 0.5) * wide, dtype=np.float64)
        y = np.asarray(south + (cells // self.columns + 0.5) * high, dtype=np.float64)
        return self._turned(x), y

    def outline(self, at: int) -> NDArray[np.float64]:
        """The corners of one cell, one row each, against the clock."""
        row, column = divmod(range(len(self))[at], self.columns)
        west, south, _, _ = self._placed
        wide, high = self.cell_size
        corners = np.array([(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)], dtype=float)
        corners = corners * (wide, high) + (west, south)
        corners[:, 0] = self._turned(corners[:, 0])
        return corners

    @property
    def _placed(self) -> tuple[float, float, float, float]:
        if self.bounds is None:
            raise InvalidParameter(
                "This grid has no `bounds`, so nobody knows where its cells lie.",
                "Make it with bounds=(west, south, east, north).",
            )
        return self.bounds

    @property
    def _width(self) -> float:
        west, _, east, _ = self._placed
        return east - west if east > west else east - west + 360.0

    def _turned(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Longitudes beyond the 180th meridian as people write them."""
        return np.where(x > 180.0, x - 360.0, x) if self.coordinates == "degrees" else x

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


def _checked(bounds: tuple[float, float, float, float], coordinates: Coordinates) -> tuple[float, float, float, float]:
    try:
        west, south, east, north = (float(number) for number in bounds)
    except (TypeError, ValueError):
        raise InvalidParameter(f"`bounds` must be four numbers, west, south, east, north; got {bounds!r}.") from None
    degrees = coordinates == "degrees"
    if degrees and not (abs(west) <= 180 and abs(east) <= 180 and abs(south) <= 90 and abs(north) <= 90):
        raise InvalidParameter(
            f"`bounds` in degrees must lie within 180 of longitude and 90 of latitude; got {bounds!r}.",
            "Give (west, south, east, north), longitude before latitude; or use plain coordinates.",
        )
    ordered = west != east if degrees else west < east
    if not all(map(math.isfinite, (west, south, east, north))) or not ordered or south >= north:
        raise InvalidParameter(
            f"`bounds` must run from west to east and from south to north; got {bounds!r}.",
            "Give (west, south, east, north); longitude comes before latitude.",
        )
    return west, south, east, north
