"""Which method to take if nobody says otherwise."""

from __future__ import annotations

from hubbub.privacy import Guarantee
from hubbub.released import Domain
from hubbub.spatial import RoadCells

QUIET = 2
"""Noise of this scale or less changes counts by one or two: a filter hardly gains, and can lose (docs/series.md)."""


def usual_method(guarantee: Guarantee, keys: int, *, modelled: bool = False) -> str:
    """The method to take if nobody says otherwise, from the promise and the number of keys alone.

    A person's budget has to last for a horizon: there looks must be few, and `adaptive` plans them. Events, sessions
    and windows are measured at every tick. Noise that is small anyway is left alone; many keys get `navigation`, which
    learns how visitors move between them; a single series gets `adaptive`, which smooths only where its noise exceeds
    its own movement. Whoever brings a model of how visitors move (`modelled`) wants it used.

    >>> from hubbub.privacy import Event, Session, User
    >>> usual_method(Guarantee.pure(User(horizon=52), 1), 3), usual_method(Guarantee.pure(Session(max_ticks=20), 1), 3)
    ('adaptive', 'navigation')
    >>> usual_method(Guarantee.pure(Event(), 1), keys=1), usual_method(Guarantee.pure(Event(), "0.1"), keys=1)
    ('lpa', 'adaptive')
    """
    if modelled:
        return "navigation"
    if guarantee.unit.horizon is not None:
        return "adaptive"
    unit = guarantee.unit
    # Gaussian noise of variance l c / (2 rho) is compared by its standard deviation over the root of two.
    reach = unit.max_ticks * unit.max_items / guarantee.budget
    small = reach <= QUIET if guarantee.kind == "pure" else reach / 4 <= QUIET**2
    if small:
        return "lpa"
    return "adaptive" if keys == 1 else "navigation"


def usual_on_map(keys: Domain) -> str:
    """The method for a public map: by its roads where they are known, otherwise by a tree of areas.

    >>> from hubbub.released import Grid
    >>> usual_on_map(Grid(16, 16))
    'areas'
    """
    return "roads" if isinstance(keys, RoadCells) else "areas"
