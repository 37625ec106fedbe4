"""What the Map page shows before its script has drawn anything: the total, the busiest areas, what cells are."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.released import Domain, Map, Tick, total
from hubbub.server import clock
from hubbub.spatial.outlines import in_degrees, raster_of
from hubbub.store import Stream

if TYPE_CHECKING:
    from hubbub.server.desk import Desk

MOST_DRAWN = 2**24
"""Cells of a picture that a browser can hold."""

ROWS = 12
"""Areas in the table; the data hold all."""

ROUND_TIMES = tuple(timedelta(seconds=one) for one in (60, 600, 3600, 6 * 3600, 86400, 7 * 86400))

_METRES = 111_320.0
"""A degree of latitude, and of longitude at the equator."""


def facts(desk: Desk, stream: Stream) -> dict[str, Any]:
    """Everything on the page. Adds up areas, and may read the store: called in a worker thread."""
    channel = desk.feed.channel(stream.name)
    if not channel.history or channel.is_bare:
        return {"map": None, "total": None}
    release = channel.history[-1]
    place, told = desk.maps.place(stream), desk.maps.told(stream, release)
    raster = raster_of(place)
    cells = len(channel.keys) if raster is None else raster.grid.columns * raster.grid.rows
    return {
        "total": total(release, np.arange(len(release.keys))),
        "map": {
            "drawable": cells <= MOST_DRAWN,
            "table_of": f"{cells:,} cells" if raster is not None else f"{cells:,} {channel.keys.noun}s",
            "first": desk.maps.oldest(stream),
            "spans": spans_of(release.tick, desk.maps.longest_span(release)),
            "areas": told["areas"],
            "rows": ROWS,
            "words": desk.maps.districts(release).words,
            "size": size_words(place),
            "blank": blank_words(place, channel.keys),
        },
    }


def spans_of(tick: Tick, most: int) -> list[tuple[int, str]]:
    """Over how many ticks a page offers to ask, in words: round times, or round numbers where ticks have none.

    >>> from datetime import UTC, datetime, timedelta
    >>> spans_of(Tick(0, datetime(2026, 1, 1, tzinfo=UTC), timedelta(minutes=1)), 1500)
    [(10, '10 minutes'), (60, '1 hour'), (360, '6 hours'), (1440, '1 day')]
    >>> spans_of(Tick(0), 40)
    [(10, '10 ticks')]
    """
    if tick.length is None:
        offered = [10, 100, 1000]
    else:
        offered = [time // tick.length for time in ROUND_TIMES if not time % tick.length]
    return [(ticks, clock.ticks(ticks, tick)) for ticks in offered if 2 <= ticks <= most]


def size_words(place: Map) -> str:
    """How large a cell is, for people; nothing where places have sizes of their own.

    >>> from hubbub.released import Grid
    >>> size_words(Grid(100, 100, bounds=(8.1, 53.0, 8.3, 53.2), coordinates="degrees"))
    '134 x 223 m'
    >>> size_words(Grid(100, 50, bounds=(0, 0, 1000, 1000)))
    "10 x 20, in the map's own units"
    """
    raster = raster_of(place)
    if raster is None:
        return ""
    wide, high = raster.grid.cell_size
    if not in_degrees(place):
        return f"{wide:.3g} x {high:.3g}, in the map's own units"  # often metres, but a plane does not say
    _, south, _, north = raster.grid.bounds or (0.0, 0.0, 0.0, 0.0)
    wide, high = wide * _METRES * math.cos(math.radians((south + north) / 2)), high * _METRES
    return f"{_round(wide)} x {_round(high)} m"


def _round(metres: float) -> str:
    return f"{metres:,.0f}" if metres >= 10 else f"{metres:.1f}"


def blank_words(place: Map, keys: Domain) -> str:
    """What it means where the picture is empty."""
    raster = raster_of(place)
    if raster is not None and raster.codes is not None:
        return "blank: no road, so nothing is counted there"
    return f"blank: off the map, or a {keys.noun} that is known to be empty"
