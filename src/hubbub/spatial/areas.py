"""Which places of a map lie in an area, and how many are in them together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import InvalidParameter
from hubbub.released import Domain, Release
from hubbub.released.value import Value
from hubbub.spatial.maps import Map

Whole = NDArray[np.int64]
_NORMAL = 1.959963984540054


def in_rectangle(place: Map, bounds: tuple[float, float, float, float]) -> Whole:
    """The places whose centre lies in the box (west, south, east, north), as positions in the domain.

    >>> from hubbub.released import Grid
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


def total(release: Release, cells: ArrayLike) -> Value:
    """How many are in these places together, from any release, with an interval that is never too narrow for its noise.

    Where errors of different keys go together they are taken to do so fully. `Roads.area` knows how they go together,
    and is much narrower.

    >>> from hubbub.released import Grid, Tick
    >>> one, grid = np.ones(6), Grid(3, 2)
    >>> release = Release(Tick(0), grid, 4 * one, one, 2 * one, 6 * one, np.full(6, 4), 1.0)
    >>> print(total(release, [0, 1, 2, 3]))
    16.0 ± 2.0
    """
    some = np.unique(np.asarray(cells, dtype=np.int64))
    if some.size and not 0 <= some[0] <= some[-1] < len(release.keys):
        raise InvalidParameter(
            f"The stream has {len(release.keys):,} {release.keys.noun}s, and the area asks for others.",
            "Give positions in the stream's domain, such as those of `in_rectangle`.",
        )
    errors = release.standard_errors[some]
    together = release.correlated or release.is_predicted
    error = float(errors.sum()) if together else float(np.sqrt((errors**2).sum()))
    value = float(release.values[some].sum())
    reach = _NORMAL * error
    return Value(value, error, max(value - reach, 0.0), value + reach, predicted=release.is_predicted)


def _centres(place: Map) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    assert isinstance(place, Domain)
    return place.centres(np.arange(len(place)))
