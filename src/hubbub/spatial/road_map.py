"""Roads laid on a grid: all cells with what is known of them, or those alone that a road touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import distance_transform_edt

from hubbub.errors import InvalidParameter
from hubbub.released import Domain, Grid
from hubbub.released.grid import Coordinates
from hubbub.spatial.maps import MOST_LAID_OUT
from hubbub.spatial.road_network import RoadNetwork
from hubbub.spatial.supercover import Touched, supercover

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


class RoadGrid(Grid):
    """A grid that knows the roads under it: cells that a road touches are *dense*, the others *sparse*.

    Both are said by the map alone, before anybody was counted. All cells are keys, as in Fan 2014, section 5.4.

    >>> from hubbub.spatial import made_up
    >>> city = RoadGrid.over(made_up(100), 64, 64)
    >>> city, int(city.dense.sum())
    (RoadGrid(64 x 64, 99 junctions, 156 roads), 1137)
    """

    kind: ClassVar[str] = "road-grid"

    def __init__(
        self,
        columns: int,
        rows: int,
        *,
        network: RoadNetwork,
        bounds: tuple[float, float, float, float] | None = None,
        coordinates: Coordinates = "plain",
    ) -> None:
        super().__init__(columns, rows, bounds=bounds or network.bounds, coordinates=coordinates)
        self.network = network

    @classmethod
    def over(cls, network: RoadNetwork, columns: int, rows: int) -> RoadGrid:
        """A grid just large enough for all roads."""
        return cls(columns, rows, network=network)

    @cached_property
    def touched(self) -> Touched:
        """Which road touches which cell."""
        n = self.network
        return supercover(self, (n.x[n.start], n.y[n.start]), (n.x[n.end], n.y[n.end]))

    @cached_property
    def dense(self) -> NDArray[np.bool_]:
        """For each cell, whether a road touches it."""
        mask = np.zeros(len(self), dtype=bool)
        mask[self.touched.cell] = True
        return mask

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "network": self.network.to_dict()}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> RoadGrid:
        return cls(
            facts["columns"],
            facts["rows"],
            network=RoadNetwork.from_dict(facts["network"]),
            bounds=tuple(facts["bounds"]),
            coordinates=facts.get("coordinates", "plain"),
        )

    def __repr__(self) -> str:
        inside = repr(self.network).removeprefix("RoadNetwork(")
        return f"RoadGrid({self.columns:,} x {self.rows:,}, {inside}"


class RoadCells(Domain):
    """The cells of a grid that a road touches, and no others: nothing can be anywhere else, so nothing is spent there.

    Vectors are as long as there are such cells, in the order of the grid; `spread` lays them out on all of it. A
    position in a cell without a road is off the map, whoever it belongs to: no position ever draws a road. With `snap`
    one that lies up to so many cells beside a road counts in the nearest cell that has one: receivers are never exact.

    >>> from hubbub.spatial import made_up
    >>> roads = RoadCells(RoadGrid.over(made_up(100), 64, 64))
    >>> roads, roads.names[0], roads.spread(np.ones(len(roads))).shape
    (RoadCells(1,137 of 64 x 64 cells), '1,0', (64, 64))
    """

    kind: ClassVar[str] = "road-cells"

    def __init__(self, grid: RoadGrid, *, snap: int = 0) -> None:
        if isinstance(snap, bool) or not isinstance(snap, int) or snap < 0:
            raise InvalidParameter(f"`snap` is a whole number of cells from 0 on; got {snap!r}.")
        if snap and len(grid) > MOST_LAID_OUT:
            raise InvalidParameter(
                f"`snap` looks up the nearest road of every cell, and {len(grid):,} are too many for that.",
                f"Use at most {MOST_LAID_OUT:,} cells.",
            )
        self.grid, self.snap = grid, snap
        self.codes: Whole = np.unique(grid.touched.cell)
        if not len(self.codes):
            raise InvalidParameter(
                "No road touches this grid, so there is no place to count at.",
                "Compare its `bounds` (west, south, east, north) with where the roads lie; the axes may be swapped.",
            )
        self.codes.setflags(write=False)

    @property
    def network(self) -> RoadNetwork:
        return self.grid.network

    @cached_property
    def touched(self) -> Touched:
        """Which road touches which of these cells."""
        line, cell, share = self.grid.touched
        return Touched(line, self._places(cell), share)

    @cached_property
    def _table(self) -> NDArray[np.int32] | None:
        """For each cell of the grid its place among these, or -1; None where that would be a table of gigabytes."""
        if len(self.grid) > MOST_LAID_OUT:
            return None
        table = np.full(len(self.grid), -1, dtype=np.int32)
        table[self.codes] = np.arange(len(self.codes), dtype=np.int32)
        table.setflags(write=False)
        return table

    def _places(self, codes: Whole) -> Whole:
        """The place of each cell of the grid among these cells; -1 for those without a road."""
        if self._table is not None:
            return self._table[codes].astype(np.int64)
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[at] == codes, at, -1).astype(np.int64)

    @property
    def names(self) -> Sequence[str]:
        return _Names(self)

    def position(self, name: str) -> int:
        if name not in self.grid:
            raise self.unknown(name)
        at = int(self._places(np.array([self.grid.position(name)]))[0])
        if at < 0:
            raise self.unknown(name)
        return at

    @property
    def noun(self) -> str:
        return "cell"

    def cells(self, x: ArrayLike, y: ArrayLike) -> Whole:
        """See `Map.cells`."""
        if self.snap:
            return self._snapped(x, y)
        codes = self.grid.cells(x, y)
        return np.where(codes < 0, -1, self._places(codes)).astype(np.int64)

    def _snapped(self, x: ArrayLike, y: ArrayLike) -> Whole:
        """Also of positions that lie beside the grid: its border may be the outermost road."""
        grid, snap = self.grid, self.snap
        with np.errstate(invalid="ignore", over="ignore"):
            across, upward = grid.scaled(x, y)
            near = (
                (across >= -snap) & (across <= grid.columns + snap) & (upward >= -snap) & (upward <= grid.rows + snap)
            )
        # The grid's own eastern and northern border belong to its last cells.
        column = np.where(across == grid.columns, grid.columns - 1, np.floor(np.where(near, across, 0.0)))
        row = np.where(upward == grid.rows, grid.rows - 1, np.floor(np.where(near, upward, 0.0)))
        wide, high = grid.columns + 2 * snap, grid.rows + 2 * snap
        at = np.minimum(row.astype(np.int64) + snap, high - 1) * wide + np.minimum(
            column.astype(np.int64) + snap, wide - 1
        )
        return np.where(near, self._nearest[np.where(near, at, 0)], -1).astype(np.int64)

    @cached_property
    def _nearest(self) -> NDArray[np.int32]:
        """For each cell of the grid, and of a rim of `snap` cells around it, the place of the nearest one with a road;
        -1 where that is too far away."""
        assert self._table is not None
        table = np.pad(self._table.reshape(self.grid.shape), self.snap, constant_values=-1)
        away, (row, column) = distance_transform_edt(table < 0, return_indices=True)
        near: NDArray[np.int32] = np.where(away <= self.snap, table[row, column], -1).astype(np.int32).ravel()
        near.setflags(write=False)
        return near

    def centres(self, at: ArrayLike) -> tuple[Array, Array]:
        return self.grid.centres(self.codes[np.asarray(at, dtype=np.int64)])

    def outline(self, at: int) -> Array:
        return self.grid.outline(int(self.codes[at]))

    def spread(self, values: ArrayLike) -> Array:
        """A vector of these cells as a table of the whole grid, the southernmost row first; 0 without a road."""
        table = np.zeros(len(self.grid))
        table[self.codes] = values
        return table.reshape(self.grid.shape)

    def to_dict(self) -> dict[str, Any]:
        facts = {"kind": self.kind, "grid": self.grid.to_dict()}
        return {**facts, "snap": self.snap} if self.snap else facts

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> RoadCells:
        return cls(RoadGrid.from_dict(facts["grid"]), snap=facts.get("snap", 0))

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"RoadCells({len(self):,} of {self.grid.columns:,} x {self.grid.rows:,} cells)"


class _Names(Sequence[str]):
    """Each name made when it is asked for."""

    def __init__(self, cells: RoadCells) -> None:
        self._codes, self._all = cells.codes, cells.grid.names

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice):
            return tuple(self._all[code] for code in self._codes[at].tolist())
        return self._all[int(self._codes[at])]

    def __len__(self) -> int:
        return len(self._codes)
