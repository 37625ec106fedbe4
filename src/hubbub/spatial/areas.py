"""Which places of a map lie in an area: a box, a shape, roads, a zone, a coarser hexagon. Free of charge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.released import Domain, Grid
from hubbub.released.maps import Map
from hubbub.spatial.hexagons import Hexagons
from hubbub.spatial.road_map import RoadCells, RoadGrid
from hubbub.spatial.supercover import supercover

Whole = NDArray[np.int64]
Area: TypeAlias = "str | Sequence[float] | Sequence[str] | Mapping[str, Any]"

_SHAPES, _LINES = ("Polygon", "MultiPolygon"), ("LineString", "MultiLineString")


def area(place: Map, what: Area) -> Whole:
    """The places of a map that lie in an area, as positions in the domain: `total` and `total_over` take them.

    | `what` | which places |
    |---|---|
    | `(west, south, east, north)` | those whose centre lies in the box |
    | a Polygon or MultiPolygon of GeoJSON | those whose centre lies in it |
    | a LineString or MultiLineString of GeoJSON | cells that it touches |
    | `{"roads": [3, 17]}` | cells that these roads of the network touch, by their numbers |
    | `"harbour"` | the place of that name |
    | `"861f142a7ffffff"` | the hexagon, or all that lie in it where it is a coarser one (`Hexagons.parents`) |
    | `["harbour", "market"]` | all of them |

    >>> grid = Grid(4, 3, bounds=(0, 0, 4, 3))
    >>> [grid.names[cell] for cell in area(grid, {"type": "LineString", "coordinates": [[0.5, 0.5], [2.5, 0.5]]})]
    ['0,0', '1,0', '2,0']
    """
    assert isinstance(place, Domain)
    found = np.unique(_found(place, what))
    if not found.size:
        raise InvalidParameter(
            f"No {place.noun} of the map lies in this area: of nobody there is nothing to tell.",
            "Check its coordinates: x comes before y, and longitude before latitude.",
        )
    return found


def _found(place: Any, what: Any) -> Whole:
    if isinstance(what, str):
        return _named(place, what)
    if isinstance(what, Mapping):
        if "roads" in what:
            return _of_roads(place, what["roads"])
        shape: Any = what.get("geometry") if what.get("type") == "Feature" else what
        kind = shape.get("type") if isinstance(shape, Mapping) else None
        if kind in _SHAPES:
            return in_polygon(place, shape)
        if kind in _LINES:
            return _on_lines(place, shape)
        raise _strange(what)
    given = list(what) if isinstance(what, Sequence | np.ndarray) else []
    if given and all(isinstance(one, str) for one in given):
        return np.concatenate([_named(place, name) for name in given])
    numbers = all(isinstance(one, int | float | np.number) and not isinstance(one, bool) for one in given)
    if len(given) != 4 or not numbers:
        raise _strange(what)
    return in_rectangle(place, (given[0], given[1], given[2], given[3]))


def in_rectangle(place: Map, bounds: tuple[float, float, float, float]) -> Whole:
    """The places whose centre lies in the box (west, south, east, north), as positions in the domain.

    >>> grid = Grid(4, 3, bounds=(0, 0, 4, 3))
    >>> [grid.names[cell] for cell in in_rectangle(grid, (1, 0, 3, 1))]
    ['1,0', '2,0']
    """
    west, south, east, north = bounds
    if not (west <= east and south <= north):
        raise InvalidParameter(
            f"An area must run from west to east and from south to north; got {bounds!r}.",
            "Give (west, south, east, north).",
        )
    x, y = _centres(place)
    return np.flatnonzero((west <= x) & (x <= east) & (south <= y) & (y <= north))


def in_polygon(place: Map, shape: Mapping[str, Any]) -> Whole:
    """The places whose centre lies in a Polygon or MultiPolygon of GeoJSON, as positions in the domain."""
    from hubbub.spatial.zones import Zones

    return np.flatnonzero(Zones({"area": json.loads(json.dumps(dict(shape)))}).cells(*_centres(place)) == 0)


def _named(place: Domain, name: str) -> Whole:
    if isinstance(place, Hexagons) and name not in place:
        return place.inside(name)
    return np.array([place.position(name)], dtype=np.int64)


def _of_roads(place: Domain, numbers: Any) -> Whole:
    if not isinstance(place, RoadCells | RoadGrid):
        raise InvalidParameter(
            f"A map of {place.noun}s has no network, so nobody knows road numbers.",
            "Give a polygon; roads are known by RoadCells and RoadGrid.",
        )
    try:
        asked = np.atleast_1d(np.asarray(numbers))
        known = asked.dtype.kind in "iu" and bool(((asked >= 0) & (asked < len(place.network.start))).all())
    except (TypeError, ValueError):
        known = False
    if not known:
        raise InvalidParameter(
            f"Roads are told by their numbers in the network, from 0 to {len(place.network.start) - 1:,}.",
            "They are numbered as in `RoadNetwork.start` and `end`.",
        )
    touched = place.touched
    return touched.cell[np.isin(touched.line, asked)]


def _on_lines(place: Domain, shape: Mapping[str, Any]) -> Whole:
    grid = place.grid if isinstance(place, RoadCells) else place
    if not isinstance(grid, Grid):
        raise InvalidParameter(
            f"A line has no width, and a map of {place.noun}s no cells that it could be drawn on.",
            "Give a polygon around it; lines are for grids.",
        )
    try:
        lines = [shape["coordinates"]] if shape["type"] == "LineString" else shape["coordinates"]
        points = [np.array([corner[:2] for corner in line], dtype=np.float64).reshape(-1, 2) for line in lines]
        right = bool(points) and all(len(line) > 1 and np.isfinite(line).all() for line in points)
    except (KeyError, TypeError, ValueError):
        right = False
    if not right:
        raise _strange(shape)
    begin, end = (np.concatenate([line[some] for line in points]).T for some in (slice(None, -1), slice(1, None)))
    cells = supercover(grid, (begin[0], begin[1]), (end[0], end[1])).cell
    if isinstance(place, RoadCells):  # what lies beside all roads holds nobody
        return np.flatnonzero(np.isin(place.codes, cells))
    return cells


def _strange(what: Any) -> InvalidParameter:
    kind = f" of type {str(what['type'])[:40]!r}" if isinstance(what, Mapping) and "type" in what else ""
    return InvalidParameter(
        f"This {type(what).__name__}{kind} is no area that could be looked up on a map.",
        "Give (west, south, east, north), a Polygon or LineString of GeoJSON, {'roads': [numbers]}, or names.",
    )


def _centres(place: Map) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    assert isinstance(place, Domain)
    return place.centres(np.arange(len(place)))
