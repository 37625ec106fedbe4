"""The table `[grid]`: a map whose places are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from hubbub.monitor.table import Table
from hubbub.released import Domain, Grid
from hubbub.spatial import Hexagons, RoadCells, RoadGrid, RoadNetwork, Zones, read_lines, read_tables
from hubbub.spatial.maps import expect_few


class GridSettings(Table):
    """A map whose places are counted, in place of [keys]: cells, cells with a road, hexagons, or zones.

    Events are then positions: a time, a vehicle, `x` and `y` (or longitude and latitude). The map is public and fixed.
    """

    columns: int | None = Field(None, ge=1, strict=True, description="How many cells from west to east.")
    rows: int | None = Field(None, ge=1, strict=True, description="How many cells from south to north.")
    bounds: tuple[float, float, float, float] | None = Field(
        None, description="West, south, east, north. With roads it may be left out: as large as they are."
    )
    coordinates: Literal["degrees", "plain"] = Field(
        "degrees", description="Longitude and latitude, or metres (or anything else) of a plane."
    )
    roads: Path | list[Path] | None = Field(
        None,
        description="The road network: a GeoJSON file of lines, or two CSV files with nodes and edges. Cells without a "
        "road then count nothing and cost nothing.",
    )
    snap: int = Field(
        0,
        ge=0,
        le=100,
        strict=True,
        description="With roads: how many cells beside a road a position may lie and still count on it. A receiver is "
        "off by some metres.",
    )
    hexagons: int | None = Field(
        None,
        ge=0,
        le=15,
        strict=True,
        description="In place of cells: H3 hexagons of this resolution, over `bounds`.",
    )
    zones: Path | None = Field(None, description="In place of cells: a GeoJSON file of polygons.")
    zone_name: str = Field("name", description="With zones: the property that names each.")

    @model_validator(mode="after")
    def _one_map(self) -> GridSettings:
        cells = self.columns is not None or self.rows is not None
        if sum((cells, self.hexagons is not None, self.zones is not None)) != 1:
            raise ValueError("give `columns` and `rows`, or `hexagons`, or `zones`")
        if cells and (self.columns is None or self.rows is None):
            raise ValueError("`columns` and `rows` belong together")
        if self.roads is not None and not cells:
            raise ValueError("`roads` are laid on cells: give `columns` and `rows`")
        if isinstance(self.roads, list) and len(self.roads) != 2:
            raise ValueError("`roads` is one GeoJSON file, or two CSV files: nodes, then edges")
        if self.snap and self.roads is None:
            raise ValueError("`snap` belongs to `roads`, which are not given")
        if self.bounds is None and self.roads is None and self.zones is None:
            raise ValueError("`bounds` say which part of the world is counted: west, south, east, north")
        if self.hexagons is not None and self.coordinates != "degrees":
            raise ValueError("hexagons of H3 lie on the earth: leave `coordinates` out")
        return self

    def domain(self) -> Domain:
        """The map. Files are read now, and refused if they are none."""
        if self.zones is not None:
            return Zones.read(self.zones, self.zone_name)
        if self.hexagons is not None:
            assert self.bounds is not None
            return Hexagons.covering(self.bounds, self.hexagons)
        assert self.columns is not None
        assert self.rows is not None
        if self.roads is None:
            grid = Grid(self.columns, self.rows, bounds=self.bounds, coordinates=self.coordinates)
            expect_few(grid, "hubbub monitor")  # whatever the method: each tick is a vector of all cells
            return grid
        network = _network(self.roads)
        city = RoadGrid(
            self.columns, self.rows, network=network, bounds=self.bounds, coordinates=self.coordinates
        )  # fmt: skip
        return RoadCells(city, snap=self.snap)


def _network(roads: Path | list[Path]) -> RoadNetwork:
    return read_lines(roads) if isinstance(roads, Path) else read_tables(*roads)
