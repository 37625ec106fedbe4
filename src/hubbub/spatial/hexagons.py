"""Hexagons of the H3 grid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import InvalidParameter
from hubbub.extras import missing
from hubbub.released import Domain
from hubbub.released.positions import positions

MOST_HEXAGONS = 2**24
_FINEST = 15


class Hexagons(Domain):
    """Cells of the H3 grid, all of one size: what a city shares with others that count by hexagons.

    They are given one by one, or found by `Hexagons.covering`. A key's name is the cell's H3 index.

    >>> town = Hexagons.covering((8.15, 53.10, 8.25, 53.16), resolution=8)
    >>> town
    Hexagons(92 of resolution 8)
    >>> town.names[town.cells(8.2, 53.13)]
    '881f142a69fffff'
    """

    kind: ClassVar[str] = "hexagons"

    def __init__(self, names: Iterable[str]) -> None:
        h3 = _h3()
        given = list(names)
        for name in given:
            if not isinstance(name, str) or not _is_cell(h3, name):
                raise InvalidParameter(f"{name!r} is not the index of an H3 cell.", "Give 15 hexadecimal digits.")
        self._indexes: NDArray[np.int64] = np.unique(np.array([int(name, 16) for name in given], dtype=np.int64))
        sizes = {h3.get_resolution(int(index)) for index in self._indexes}
        if len(sizes) != 1 or len(self._indexes) != len(given):
            raise InvalidParameter(
                f"A map of hexagons needs at least one, each once, and all of one resolution; got resolutions "
                f"{sorted(sizes)} and {len(given) - len(self._indexes):,} twice.",
                "One position must lie in one hexagon: use Hexagons.covering(bounds, resolution).",
            )
        self.resolution: int = sizes.pop()
        self._names = tuple(f"{index:x}" for index in self._indexes.tolist())

    @classmethod
    def covering(cls, bounds: tuple[float, float, float, float], resolution: int) -> Hexagons:
        """Every hexagon that touches the box (west, south, east, north), in degrees."""
        h3 = _h3()
        if isinstance(resolution, bool) or not isinstance(resolution, int) or not 0 <= resolution <= _FINEST:
            raise InvalidParameter(f"A resolution of H3 is a whole number from 0 to 15; got {resolution!r}.")
        west, south, east, north = bounds
        if not (-180 <= west < east <= 180 and -90 <= south < north <= 90):
            raise InvalidParameter(
                f"`bounds` must be (west, south, east, north) in degrees; got {bounds!r}.",
                "Longitude comes before latitude.",
            )
        about = (east - west) * (north - south) * 12_400 / h3.average_hexagon_area(resolution, unit="km^2")
        if about > MOST_HEXAGONS:
            raise InvalidParameter(
                f"These bounds hold about {about:,.0f} hexagons of resolution {resolution}, more than 2^24.",
                "Use a smaller resolution.",
            )
        box = h3.LatLngPoly([(south, west), (south, east), (north, east), (north, west)])
        found = h3.h3shape_to_cells_experimental(box, resolution, contain="overlap")
        return cls(f"{index:x}" for index in found)

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def position(self, name: str) -> int:
        try:
            at = int(np.searchsorted(self._indexes, int(name, 16)))
        except (TypeError, ValueError, OverflowError):
            raise self.unknown(name) from None
        if at >= len(self) or self._names[at] != name:
            raise self.unknown(name)
        return at

    @property
    def noun(self) -> str:
        return "hexagon"

    def cells(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.int64]:
        """See `Map.cells`; `x` is longitude and `y` latitude, in degrees."""
        find, size = _h3().latlng_to_cell, self.resolution
        across, upward = positions(x, y)
        with np.errstate(invalid="ignore"):
            on = np.isfinite(across) & (np.abs(upward) <= 90) & (np.abs(across) <= 360)
        # H3 has no way to ask for many at once; a call is well below a microsecond.
        asked = zip(upward[on].tolist(), across[on].tolist(), strict=True)
        found = np.array([find(*at, size) for at in asked], dtype=np.int64)
        at = np.minimum(np.searchsorted(self._indexes, found), len(self) - 1)
        codes = np.full(across.shape, -1, dtype=np.int64)
        codes[on] = np.where(self._indexes[at] == found, at, -1)
        return codes

    def centres(self, at: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        where = _h3().cell_to_latlng
        asked = self._indexes[np.asarray(at, dtype=np.int64)]
        points = np.array([where(index) for index in asked.ravel().tolist()], dtype=np.float64).reshape(-1, 2)
        return points[:, 1].reshape(asked.shape), points[:, 0].reshape(asked.shape)

    def outline(self, at: int) -> NDArray[np.float64]:
        corners = np.array(_h3().cell_to_boundary(int(self._indexes[at])), dtype=np.float64)
        return np.ascontiguousarray(corners[:, ::-1])

    def parents(self, resolution: int) -> tuple[Hexagons, NDArray[np.int64]]:
        """The coarser hexagons of this resolution that these lie in, and for each of these the one it lies in.

        Hexagons do not tile larger ones exactly: a finer one belongs to the coarser that H3 says is its parent.
        """
        if not 0 <= resolution <= self.resolution:
            raise InvalidParameter(
                f"Coarser hexagons have a resolution from 0 to {self.resolution}; got {resolution!r}."
            )
        up = _h3().cell_to_parent
        above = np.array([up(index, resolution) for index in self._indexes.tolist()], dtype=np.int64)
        indexes, at = np.unique(above, return_inverse=True)
        return Hexagons(f"{index:x}" for index in indexes.tolist()), at.astype(np.int64)

    def inside(self, name: str) -> NDArray[np.int64]:
        """Those of these hexagons that lie in the one of this name, which is a coarser one, by its H3 index.

        >>> town = Hexagons.covering((8.15, 53.10, 8.25, 53.16), resolution=8)
        >>> len(town.inside("861f142a7ffffff"))
        35
        """
        h3 = _h3()
        if not isinstance(name, str) or not _is_cell(h3, name) or h3.get_resolution(int(name, 16)) > self.resolution:
            raise self.unknown(name)
        coarse = int(name, 16)
        up, size = h3.cell_to_parent, h3.get_resolution(coarse)
        return np.flatnonzero([up(index, size) == coarse for index in self._indexes.tolist()])

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "names": list(self._names)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Hexagons:
        return cls(facts["names"])

    def __len__(self) -> int:
        return len(self._indexes)

    def __repr__(self) -> str:
        return f"Hexagons({len(self):,} of resolution {self.resolution})"


def _h3() -> Any:
    try:
        import h3.api.basic_int as h3
    except ModuleNotFoundError as error:
        raise missing(error) or error from None
    return h3


def _is_cell(h3: Any, name: str) -> bool:
    try:
        return bool(h3.is_valid_cell(int(name, 16))) and name == f"{int(name, 16):x}"
    except (ValueError, OverflowError):
        return False
