"""What a map looks like: its frame, the cells of a raster that it uses, its roads, the borders of its places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Domain, Grid, Map
from hubbub.spatial.hexagons import Hexagons
from hubbub.spatial.road_map import RoadCells, RoadGrid
from hubbub.spatial.road_network import RoadNetwork
from hubbub.spatial.zones import Zones

Box = tuple[float, float, float, float]
Rings = list[NDArray[np.float64]]


class Raster(NamedTuple):
    """A map of cells in columns and rows; `codes` are the cells that are keys, None where all of them are."""

    grid: Grid
    codes: NDArray[np.int64] | None


def raster_of(place: Map) -> Raster | None:
    """The cells of this map, or None where its places have borders of their own."""
    if isinstance(place, RoadCells):
        return Raster(place.grid, place.codes)
    return Raster(place, None) if isinstance(place, Grid) else None


def roads_of(place: Map) -> RoadNetwork | None:
    """The roads under this map, if it knows any."""
    return place.network if isinstance(place, (RoadCells, RoadGrid)) else None


def in_degrees(place: Map) -> bool:
    """Whether positions are longitude and latitude. Of zones nobody says so: theirs are taken as they are drawn, and
    GeoJSON is in degrees, so they are, unless one lies where no degree can."""
    raster = raster_of(place)
    if raster is not None:
        return raster.grid.coordinates == "degrees"
    if isinstance(place, Hexagons):
        return True
    west, south, east, north = frame_of(place)
    return -180 <= west <= east <= 180 and -90 <= south <= north <= 90


def frame_of(place: Map) -> Box:
    """The box that holds the map: west, south, east, north. East is beyond 180 where a map crosses that meridian."""
    raster = raster_of(place)
    if raster is not None and raster.grid.bounds is not None:
        west, south, east, north = raster.grid.bounds
        return west, south, (east if east > west else east + 360.0), north
    corners = np.concatenate([ring for rings in borders(place) for ring in rings])
    (west, south), (east, north) = corners.min(axis=0), corners.max(axis=0)
    return float(west), float(south), float(east), float(north)


def borders(place: Map) -> Iterator[Rings]:
    """The border of each place in turn: rings of corners, none of them twice. A second ring is another part or a hole.

    >>> square = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]]}
    >>> [[len(ring) for ring in rings] for rings in borders(Zones({"harbour": square}))]
    [[4]]
    """
    if isinstance(place, Zones):
        for facts in geometries(place):
            parts = facts["coordinates"] if facts["type"] == "MultiPolygon" else [facts["coordinates"]]
            yield [np.array(ring[:-1], dtype=np.float64)[:, :2] for part in parts for ring in part]
        return
    assert isinstance(place, Domain)
    for at in range(len(place)):
        yield [place.outline(at)]


def geometries(place: Map) -> Iterator[dict[str, Any]]:
    """The shape of each place in turn, as GeoJSON."""
    assert isinstance(place, Domain)
    if isinstance(place, Zones):
        facts = json.loads(json.dumps(place.to_dict()))
        for name in place.names:
            yield facts["shapes"][name]
        return
    for at in range(len(place)):
        corners = place.outline(at).tolist()
        yield {"type": "Polygon", "coordinates": [[*corners, corners[0]]]}
