"""Streams whose keys are places: their pictures for the Map page, and what is asked of areas."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Map, Release, SpanTotal, Value, total, total_over
from hubbub.server import clock
from hubbub.server.errors import InvalidRequest, NotFound
from hubbub.server.feed import Feed
from hubbub.server.frames import Frame
from hubbub.server.picture import FROM_EARLIER, NO_NUMBERS
from hubbub.server.ranking import Ranking
from hubbub.server.shapes import shape_of
from hubbub.spatial.areas import in_polygon, in_rectangle
from hubbub.spatial.districts import Districts, districts_of
from hubbub.spatial.maps import map_of
from hubbub.spatial.outlines import Box, frame_of, in_degrees
from hubbub.store import Store, Stream

MOST_BYTES = 64 * 2**20
"""Packed frames that stay in memory, of all streams together: an hour of a million cells."""

MOST_CELLS = 4 * 2**20
"""Cells of frames that are not packed, kept to say what changed since."""

MOST_SPAN_TICKS, MOST_SPAN_CELLS = 1_500, 40 * 2**20
"""Ticks of a span that is added up for a page: a day of minutes, of a million cells forty."""

Made = TypeVar("Made")


def described(value: Value) -> dict[str, Any]:
    """A number of a map in numbers and words. An interval that ends at zero, with an error, is not called "none": of so
    many places some end there by chance.

    >>> described(Value(0, 4, 0, 0))["words"], described(Value(0, 0, 0, 0))["words"]
    ('within the noise: may be zero', 'none')
    """
    told = value.described()
    if value.state != "zero" or value.standard_error <= 0:
        return told
    nearly = replace(value, upper=math.inf)
    return told | {"state": nearly.state, "words": nearly.words}


class _Shelf(Generic[Made]):
    """What was made lately, up to a size; two who ask for the same wait for one making."""

    def __init__(self, most: int, size: Callable[[Made], int]) -> None:
        self._kept: OrderedDict[Hashable, Made] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._most, self._size, self._held = most, size, 0
        self._lock = threading.Lock()

    def get(self, name: Hashable, make: Callable[[], Made]) -> Made:
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
            turn = self._making.setdefault(name, threading.Lock())
        with turn:
            with self._lock:
                if name in self._kept:
                    return self._kept[name]
            try:
                made = make()
            finally:
                with self._lock:
                    self._making.pop(name, None)
            with self._lock:
                self._kept[name] = made
                self._held += self._size(made)
                while self._held > self._most and len(self._kept) > 1:
                    self._held -= self._size(self._kept.popitem(last=False)[1])
        return made


class Maps:
    """Draws each tick of a map once for all viewers, from released values alone. Called from worker threads.

    Viewers fetch frames by their ticks, and one who falls behind asks for the newest: nothing is queued for anyone.
    """

    def __init__(self, store: Store, feed: Feed) -> None:
        self._store, self._feed = store, feed
        self._packed: _Shelf[bytes] = _Shelf(MOST_BYTES, len)
        self._frames: _Shelf[Frame] = _Shelf(MOST_CELLS, lambda frame: len(frame.codes))
        self._shapes: _Shelf[bytes] = _Shelf(MOST_BYTES, len)
        self._districts: _Shelf[Districts] = _Shelf(MOST_CELLS, lambda one: len(one.of))

    def place(self, stream: Stream) -> Map:
        """The map that the stream counts by now."""
        return self._is_map(map_of(self._feed.keys(stream.name)))

    def bounds(self, place: Map) -> Box:
        return frame_of(place)

    def shape(self, stream: Stream) -> bytes:
        keys = self._feed.keys(stream.name)
        return self._shapes.get(keys.digest, lambda: shape_of(self.place(stream)))

    def districts(self, release: Release) -> Districts:
        place = self._is_map(map_of(release.keys))
        return self._districts.get(release.keys.digest, lambda: districts_of(place))

    def release(self, stream: Stream, tick: int | None) -> Release:
        """What was released of that tick; of the newest, if None."""
        history = self._feed.channel(stream.name).history
        if not history:
            raise NotFound("Nothing has been released yet.", "Ask again after the first tick.")
        newest = history[-1].tick.index
        if tick is None:
            return history[-1]
        found = next((one for one in reversed(history) if one.tick.index == tick), None)
        if found is None and tick <= newest:
            found = next(iter(self._store.releases(stream, first=tick, last=tick)), None)
        if found is None:
            raise NotFound("There is no such tick.", f"The newest is {newest}.")
        return found

    def frame(self, stream: Stream, tick: int, base: int | None) -> bytes:
        """A tick for the page; with a `base`, as what changed since that tick, where that is shorter."""

        def encode() -> bytes:
            wanted = self._frame(stream, tick)
            try:
                before = None if base is None or base == tick else self._frame(stream, base)
            except NotFound:
                before = None
            if before is not None and before.facts["map"] != wanted.facts["map"]:
                before = None
            return wanted.encode(before)

        return self._packed.get((stream.name, tick, base), encode)

    def _frame(self, stream: Stream, tick: int) -> Frame:
        def make() -> Frame:
            release = self.release(stream, tick)
            return Frame.of(release, self.facts(release))

        return self._frames.get((stream.name, tick), make)

    def told(self, stream: Stream, release: Release) -> dict[str, Any]:
        """The facts of a tick, made once for the page and for its frame."""
        return dict(self._frame(stream, release.tick.index).facts)

    def oldest(self, stream: Stream) -> int:
        """The first tick that can still be read: old ones are let go while the server runs."""
        return self._store.first_tick(stream) or 0

    def facts(self, release: Release) -> dict[str, Any]:
        """What is told of a tick besides its cells: the total, and the busiest areas."""
        tick, whole = release.tick, total(release, np.arange(len(release.keys)))
        notice = ""
        if release.is_predicted:
            notice = FROM_EARLIER if whole.has_number else NO_NUMBERS
        return {
            "map": release.keys.digest,
            "start": None if tick.start is None else tick.start.isoformat(),
            "length_seconds": None if tick.length is None else tick.length.total_seconds(),
            "moment": clock.moment(tick),
            "predicted": release.is_predicted,
            "notice": notice,
            "total": described(whole),
            "areas": self.areas(release),
        }

    def areas(self, release: Release) -> list[dict[str, Any]]:
        """Every district with its total, the busiest first; those that the noise ties share a bracket."""
        districts = self.districts(release)
        values = [total(release, districts.cells(at)) for at in range(len(districts.names))]
        known = [(one.lower, one.upper) if one.has_number else (np.nan, np.nan) for one in values]
        ranking = Ranking(*np.array(known).T)
        order = sorted(range(len(values)), key=lambda at: -values[at].value if values[at].has_number else np.inf)
        return [
            {"area": districts.names[at], "place": None if (rank := ranking.of(at)) is None else str(rank)}
            | described(values[at])
            for at in order
        ]

    # ── questions ────────────────────────────────────────────────────────────────────────────────────────────────

    def in_box(self, release: Release, bounds: Box) -> NDArray[np.int64]:
        """The places of a rectangle: west, south, east, north, as the map's frame counts them."""
        place = self._is_map(map_of(release.keys))
        west, south, east, north = bounds
        found = in_rectangle(place, bounds)
        if not _turns_over(place):
            return found
        return np.union1d(found, in_rectangle(place, (west - 360.0, south, east - 360.0, north)))

    def in_corners(self, release: Release, corners: Sequence[tuple[float, float]]) -> NDArray[np.int64]:
        """The places of a polygon, given by its corners in turn."""
        place = self._is_map(map_of(release.keys))
        found = in_polygon(place, _polygon(corners))
        if not _turns_over(place):
            return found
        return np.union1d(found, in_polygon(place, _polygon([(x - 360.0, y) for x, y in corners])))

    def in_district(self, release: Release, name: str) -> NDArray[np.int64]:
        districts = self.districts(release)
        if name not in districts.names:
            raise NotFound("The map has no such area.", "Every frame lists the areas.")
        return districts.cells(list(districts.names).index(name))

    def total(self, release: Release, cells: NDArray[np.int64]) -> Value:
        return total(release, cells)

    def span(self, stream: Stream, last: Release, ticks: int, cells: NDArray[np.int64]) -> SpanTotal:
        """The same over so many ticks up to one, as far as they can still be read."""
        most = self.longest_span(last)
        if ticks > most:
            raise InvalidRequest(
                f"A span of this map has at most {most:,} ticks here; {ticks:,} were asked for.",
                "Ask for fewer, or add up releases with `hubbub.spatial.total_over`.",
            )
        newest = last.tick.index
        return total_over(self._store.releases(stream, first=max(0, newest - ticks + 1), last=newest), cells)

    def longest_span(self, release: Release) -> int:
        return max(1, min(MOST_SPAN_TICKS, MOST_SPAN_CELLS // len(release.keys)))

    def _is_map(self, place: Map | None) -> Map:
        if place is None:
            raise NotFound("This stream is no map.", "Its keys have names, not places: read its releases.")
        return place


def _turns_over(place: Map) -> bool:
    """Whether the map crosses the 180th meridian: its frame goes on counting there, and places are written anew."""
    return in_degrees(place) and frame_of(place)[2] > 180


def _polygon(corners: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": [[list(corner) for corner in (*corners, corners[0])]]}
