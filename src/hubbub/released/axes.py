"""Whether positions look as if x and y were the wrong way round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.released.maps import Map

FEW = 20
"""Of fewer positions nobody can say that their axes are swapped: a few may simply lie off the map."""

MANY = 1000
"""After so many the count begins anew: a feed that goes wrong one day is not measured by the year before."""

SWAPPED = "The axes of these positions seem to be swapped: most lie off the map, and on it the other way round."
WHAT_TO_DO = "Give x before y, and longitude before latitude."


class Axes:
    """Counts how many positions lie on a map, and how many would with x for y; it keeps none of them.

    >>> from hubbub.released import Grid
    >>> city = Grid(10, 10, bounds=(8.1, 53.0, 8.3, 53.2), coordinates="degrees")
    >>> axes, (x, y) = Axes(city), (np.full(30, 8.2), np.full(30, 53.1))
    >>> axes.look(y, x, city.cells(y, x)), axes.look(x, y, city.cells(x, y))
    (True, False)
    """

    def __init__(self, place: Map) -> None:
        self._place = place
        self._seen = self._on = self._other_way = 0

    def look(self, x: NDArray[np.float64], y: NDArray[np.float64], cells: NDArray[np.integer]) -> bool:
        """Whether what came lately seems to be swapped; `cells` is where the map says that each position lies."""
        if self._seen >= MANY:
            self._seen = self._on = self._other_way = 0
        on = int(np.count_nonzero(cells >= 0))
        self._seen += len(cells)
        self._on += on
        if 2 * on < len(cells):  # otherwise most lie where they should, and nobody needs to look
            self._other_way += int(np.count_nonzero(self._place.cells(y, x) >= 0))
        return self._seen >= FEW and self._other_way > self._on and 2 * self._other_way >= self._seen
