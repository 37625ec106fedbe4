"""Whether positions fit a map."""

from __future__ import annotations

from numpy.typing import ArrayLike

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.released import Domain, Grid
from hubbub.released.axes import SWAPPED, WHAT_TO_DO, Axes
from hubbub.released.maps import Map
from hubbub.released.positions import positions

MOST_LAID_OUT = 2**24
"""Cells, 4,096 a side, for which numbers of every cell are kept; half a dozen vectors of them take a gigabyte."""


def expect_few(keys: Domain, method: str) -> None:
    """Refuse a map of so many cells that a method which keeps numbers of each would take many gigabytes."""
    if len(keys) > MOST_LAID_OUT:
        raise InvalidParameter(
            f"`{method}` keeps numbers of every {keys.noun}, and {len(keys):,} of them take many gigabytes.",
            f"Use at most {MOST_LAID_OUT:,}, or `roads` on a road map, which keeps those with a road.",
        )


def map_of(domain: Domain) -> Map | None:
    """The domain as a map; None where nobody knows where its keys lie, as of names or of a grid without bounds.

    >>> from hubbub.released import Keys
    >>> map_of(Keys(["front"])), map_of(Grid(2, 2)), map_of(Grid(2, 2, bounds=(0, 0, 1, 1)))
    (None, None, Grid(2 x 2))
    """
    if not isinstance(domain, Map) or (isinstance(domain, Grid) and domain.bounds is None):
        return None
    return domain


def expect_axes(place: Map, x: ArrayLike, y: ArrayLike) -> None:
    """Refuse positions of a whole file whose axes are swapped: they lie off the map, and on it the other way round.

    Latitude before longitude is the commonest mistake with positions, and silently gives a map of nobody. A collector
    asks by itself: a file that is read once is refused before its first tick, of a live stream its owner is told.
    Nothing of a position is in the message.

    >>> from hubbub.released import Grid
    >>> city = Grid(10, 10, bounds=(8.1, 53.0, 8.3, 53.2), coordinates="degrees")
    >>> expect_axes(city, [53.1] * 30, [8.2] * 30)
    Traceback (most recent call last):
    ...
    hubbub.errors.InvalidInput: The axes of these positions seem to be swapped: ...
    """
    across, upward = (one.ravel() for one in positions(x, y))
    if Axes(place).look(across, upward, place.cells(across, upward)):
        raise InvalidInput(SWAPPED, WHAT_TO_DO)
