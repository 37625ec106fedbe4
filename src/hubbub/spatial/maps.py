"""What every public map can do."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import InvalidInput
from hubbub.released.positions import positions

FEW = 20
"""Of fewer positions nobody can say that their axes are swapped: a few may simply lie off the map."""


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


def expect_axes(place: Map, x: ArrayLike, y: ArrayLike) -> None:
    """Refuse positions of a whole file whose axes are swapped: they lie off the map, and on it the other way round.

    Latitude before longitude is the commonest mistake with positions, and silently gives a map of nobody. This is for
    the owner, who reads a file at once; a running stream never asks. Nothing of a position is in the message.

    >>> from hubbub.released import Grid
    >>> city = Grid(10, 10, bounds=(8.1, 53.0, 8.3, 53.2), coordinates="degrees")
    >>> expect_axes(city, [53.1] * 30, [8.2] * 30)
    Traceback (most recent call last):
    ...
    hubbub.errors.InvalidInput: The axes of these positions seem to be swapped: ...
    """
    across, upward = positions(x, y)
    if across.size < FEW:
        return
    on = np.count_nonzero(place.cells(across, upward) >= 0)
    swapped = np.count_nonzero(place.cells(upward, across) >= 0)
    if swapped > on and swapped * 2 >= across.size:
        raise InvalidInput(
            "The axes of these positions seem to be swapped: most lie off the map, and on it the other way round.",
            "Give x before y, and longitude before latitude.",
        )
