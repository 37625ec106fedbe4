"""What every public map can do."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray


@runtime_checkable
class Map(Protocol):
    """A domain whose keys are places: `Grid` with bounds, `Hexagons`, `Zones`, `RoadCells`.

    A map is public: it is made before the first position is seen, and no position ever changes it.
    """

    def cells(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.int64]:
        """For each position, which entry of the vector it counts in; -1 where it lies off the map or is no position.

        It never raises because of where somebody is: one strange position must not stop a stream.
        """

    def centres(self, at: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A point inside each of these places, as x and y."""

    def outline(self, at: int) -> NDArray[np.float64]:
        """The corners of one place, one row each."""
