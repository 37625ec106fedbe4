"""A map by a few large areas, for those who read a table: decided by the map alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Domain, Map
from hubbub.spatial.hexagons import Hexagons
from hubbub.spatial.outlines import raster_of
from hubbub.spatial.zones import Zones

SIDE = 8
"""Blocks of a raster along each side."""

MOST = 100
"""Areas at most: a table is read by people."""


class Districts(NamedTuple):
    """Areas that hold every place of a map once. `of` names the area of each place; `words` say what an area is."""

    names: Sequence[str]
    of: NDArray[np.int64]
    words: str

    def cells(self, at: int) -> NDArray[np.int64]:
        return np.flatnonzero(self.of == at)


def districts_of(place: Map) -> Districts:
    """The zones themselves if they are few, coarser hexagons, or blocks of a raster named as on a chess board.

    >>> from hubbub.released import Grid
    >>> town = districts_of(Grid(16, 16, bounds=(0, 0, 16, 16)))
    >>> town.names[town.of[0]], town.names[town.of[-1]], len(town.names)
    ('A8', 'H1', 64)
    """
    assert isinstance(place, Domain)
    raster = raster_of(place)
    if raster is not None:
        grid, codes = raster
        codes = np.arange(len(grid)) if codes is None else codes
        across, upward = min(SIDE, grid.columns), min(SIDE, grid.rows)
        column = codes % grid.columns * across // grid.columns
        row = upward - 1 - codes // grid.columns * upward // grid.rows
        used, of = np.unique(row * across + column, return_inverse=True)
        names = [f"{chr(ord('A') + one % across)}{one // across + 1}" for one in used.tolist()]
        return Districts(names, of.astype(np.int64), "blocks of the map: letters from west to east, numbers from north")
    if isinstance(place, Hexagons):
        parents, of = place, np.arange(len(place))
        while len(parents) > MOST and parents.resolution > 0:
            parents, of = place.parents(parents.resolution - 1)
        return Districts(parents.names, of, f"hexagons of H3, resolution {parents.resolution}")
    if isinstance(place, Zones) and len(place) <= MOST:
        return Districts(place.names, np.arange(len(place)), "zones")
    return _by_block(place)


def _by_block(place: Domain) -> Districts:
    """Many places with borders of their own, by the block that a point inside them lies in."""
    x, y = place.centres(np.arange(len(place)))  # type: ignore[attr-defined]
    west, south, wide, high = x.min(), y.min(), np.ptp(x) or 1.0, np.ptp(y) or 1.0
    column = np.minimum((x - west) / wide * SIDE, SIDE - 1).astype(np.int64)
    row = SIDE - 1 - np.minimum((y - south) / high * SIDE, SIDE - 1).astype(np.int64)
    used, of = np.unique(row * SIDE + column, return_inverse=True)
    names = [f"{chr(ord('A') + one % SIDE)}{one // SIDE + 1}" for one in used.tolist()]
    return Districts(names, of.astype(np.int64), "blocks of the map: letters from west to east, numbers from north")
