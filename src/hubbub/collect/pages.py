"""What the collector counts by: keys that somebody listed, pages that nobody did, or places of a map."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hubbub.collect.calendar import Calendar, microseconds
from hubbub.collect.domain import UNKNOWN, KeyDomain
from hubbub.collect.ended import PeriodEnded
from hubbub.collect.filters import Filters
from hubbub.collect.finder import Finder
from hubbub.collect.person_bound import full
from hubbub.collect.rows import Rows
from hubbub.collect.vocabulary import UNLISTED, Vocabulary
from hubbub.confidential import Counts, Sealed
from hubbub.errors import InvalidParameter
from hubbub.released import Discovered, Domain, Map, Tick
from hubbub.released.axes import Axes

Codes = NDArray[np.int32]
Used = Callable[[], Sequence[Codes]]


class Pages(Protocol):
    """Gives each place a number below `size`, and counts by number the vector of a tick."""

    size: int
    unknown: int
    """The number of what has no key of its own; `UNKNOWN` where that is dropped."""

    @property
    def keys(self) -> Domain:
        """What is counted at present."""

    def find(self, events: pl.DataFrame, filters: Filters) -> tuple[Codes, NDArray[np.bool_]]:
        """Of each event, the number of its place, and whether it is of no interest to anybody: an image, a script."""

    def advance(self, rows: Rows, complete: int) -> None:
        """All rows since the last call, none of which happened at `complete` or later."""

    def before(self, tick: Tick, used: Used) -> Iterator[PeriodEnded]:
        """The periods that are over before this tick is given out. `used` tells which numbers are still needed."""

    def count(self, tick: Tick, codes: NDArray[np.int64], numbers: NDArray[np.int64]) -> Counts:
        """The vector of a tick, from the numbers that were counted in it."""


class OfPaths:
    """Whatever finds places by their paths."""

    @abstractmethod
    def places(self, paths: pl.Series) -> pl.Series:
        """The paths as they are looked up."""

    @abstractmethod
    def codes(self, places: pl.Series) -> Codes:
        """The number of each place."""

    def find(self, events: pl.DataFrame, filters: Filters) -> tuple[Codes, NDArray[np.bool_]]:
        """Look each different path up once: there are far fewer than events."""
        paths = events.get_column("path")
        different = paths.unique()
        places = self.places(different)
        assets = filters.assets_among(places)
        codes = np.full(len(places), UNKNOWN, np.int32)
        codes[~assets] = self.codes(places.filter(~assets))
        number = paths.replace_strict(different, np.arange(len(different), dtype=np.uint32)).to_numpy()
        return codes[number], assets[number]


class NeverChanging:
    """Whatever is counted by the same keys for ever."""

    size: int

    @property
    @abstractmethod
    def keys(self) -> Domain:
        """What is counted."""

    def advance(self, rows: Rows, complete: int) -> None:
        pass

    def before(self, tick: Tick, used: Used) -> Iterator[PeriodEnded]:  # noqa: ARG002
        return iter(())

    def count(self, tick: Tick, codes: NDArray[np.int64], numbers: NDArray[np.int64]) -> Counts:
        vector = np.zeros(self.size, np.int64)
        vector[codes] = numbers
        return Counts.of(self.keys, tick, vector)


class OnMap(NeverChanging):
    """Places of a public map. A position off it counts nowhere, whoever it belongs to.

    >>> from hubbub.released import Grid
    >>> city = OnMap(Grid(4, 2, bounds=(0, 0, 400, 200)))
    >>> city.find(pl.DataFrame({"x": [150.0, 401.0], "y": [120.0, 0.0]}), Filters.none())[0].tolist()
    [5, -1]
    """

    unknown = UNKNOWN
    swapped = False
    """Whether what came lately lies on the map with x for y. For the owner: nobody counts otherwise because of it."""

    def __init__(self, place: Domain) -> None:
        if not isinstance(place, Map):
            raise InvalidParameter(
                f"{place!r} does not say where its keys lie.",
                "Count positions on a Grid with bounds, on RoadCells, Hexagons or Zones.",
            )
        place.cells(np.empty(0), np.empty(0))  # a grid without bounds lies nowhere, and says so
        self.map, self._keys, self.size = place, place, len(place)
        self._axes = Axes(place)

    @property
    def keys(self) -> Domain:
        return self._keys

    def find(self, events: pl.DataFrame, filters: Filters) -> tuple[Codes, NDArray[np.bool_]]:  # noqa: ARG002
        x, y = (events.get_column(name).to_numpy() for name in ("x", "y"))
        cells = self.map.cells(x, y)
        self.swapped = self._axes.look(x, y, cells)
        return cells.astype(np.int32), np.zeros(len(x), np.bool_)


class Listed(OfPaths, NeverChanging):
    """Keys that are known beforehand, and stay."""

    def __init__(self, domain: KeyDomain) -> None:
        self.domain, self.size = domain, len(domain.keys)
        self.unknown = UNKNOWN if domain.other is None else domain.keys.position(domain.other)

    @property
    def keys(self) -> Domain:
        return self.domain.keys

    def places(self, paths: pl.Series) -> pl.Series:
        return self.domain.places(paths)

    def codes(self, places: pl.Series) -> Codes:
        return self.domain.codes_of_places(places)


class Found(OfPaths, Sealed):
    """Pages that nobody listed: each has a number as long as somebody needs it, and is counted by the keys of the day.

    At the end of each period its sessions are handed out (`PeriodEnded`), before any tick of the next one is. What a
    list finds in them becomes the keys (`count_by`) of the ticks that follow; all else is `other`. Bounds are enforced
    on the pages themselves, so the keys may change in the midst of a session: how often it counts stays the same.
    """

    size = 2**31
    unknown = UNLISTED

    def __init__(
        self,
        periods: Calendar,
        timeout: int,
        keys: Discovered,
        *,
        given: int = -1,
        max_open: int = 10_000_000,
        max_pages: int = 10_000_000,
    ) -> None:
        self.periods = periods
        self._timeout, self._max_pages = timeout, max_pages
        self._vocabulary = Vocabulary()
        self._finder = Finder(periods, timeout, max_open=max_open, given=given)
        self._given = given
        self._sound: set[int] = set()
        self.count_by(keys)

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def keys(self) -> Discovered:
        return self._keys

    def count_by(self, keys: Discovered) -> None:
        """From now on these are the keys; a name with a `*` is a pattern."""
        self._keys = keys
        self._domain = KeyDomain({name: name for name in keys.names[:-1]}, other=keys.other)
        self._key_of = np.empty(0, np.int32)

    def places(self, paths: pl.Series) -> pl.Series:
        return self._domain.places(paths)

    def codes(self, places: pl.Series) -> Codes:
        codes = self._vocabulary.codes(places)
        if len(self._vocabulary) > self._max_pages:
            raise full("different pages in a period", self._max_pages, "max_pages")
        return codes

    def count(self, tick: Tick, codes: NDArray[np.int64], numbers: NDArray[np.int64]) -> Counts:
        vector = np.zeros(len(self._keys), np.int64)
        np.add.at(vector, self._keys_of(codes), numbers)
        return Counts.of(self._keys, tick, vector)

    def _keys_of(self, codes: NDArray[np.int64]) -> Codes:
        """The key of each number. Those that were looked up before are not looked up again."""
        if len(codes) and int(codes.max()) >= len(self._key_of):
            longer = np.full(2 * int(codes.max()) + 1, UNKNOWN, np.int32)
            longer[: len(self._key_of)] = self._key_of
            longer[UNLISTED] = len(self._keys) - 1
            self._key_of = longer
        new = codes[self._key_of[codes] == UNKNOWN]
        if len(new):
            names = pl.Series(self._vocabulary.names(new.astype(np.int32)), dtype=pl.String)
            self._key_of[new] = self._domain.codes_of_places(names)
        return np.asarray(self._key_of[codes])

    # ── periods ──────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def open(self) -> int:
        """How many sessions are remembered for lists."""
        return self._finder.open

    @property
    def held(self) -> int:
        """How many pairs of a session and a page are held."""
        return self._finder.held

    @property
    def needed_from(self) -> int:
        """From which moment on everything must be read for the next list to be whole."""
        return self.periods.begins(self._given + 1) - self._timeout

    def read_again(self, tick: Tick, known: int | None) -> None:
        """After a restart: ticks up to this one were given out before, and who is first seen from `known` on is known.

        A period that is read again from its beginning has a list, whatever became of its ticks.
        """
        period = self._period(tick)
        if known is None or known <= self.periods.begins(period):
            self._sound.add(period)

    def distrust(self, until: int) -> None:
        self._finder.distrust(until)

    def advance(self, rows: Rows, complete: int) -> None:
        self._finder.advance(rows, complete)

    def measured(self, tick: Tick) -> None:
        """Nobody doubts this tick: its period has a list."""
        self._sound.add(self._period(tick))

    def before(self, tick: Tick, used: Used) -> Iterator[PeriodEnded]:
        while self._given + 1 < self._period(tick):
            self._given += 1
            looked = self._finder.take(self._given)
            pages, which = np.unique(looked.pages, return_inverse=True)
            people, who = np.unique(looked.sessions, return_inverse=True)
            names = self._vocabulary.names(pages) if len(people) else []
            self._vocabulary.forget_all_but([np.array([UNLISTED], np.int32), *used(), *self._finder.pages])
            self._key_of = np.empty(0, np.int32)
            yield PeriodEnded(
                self.periods.tick(self._given), who.astype(np.uint32), which.astype(np.uint32), names,
                doubtful=self._given not in self._sound,
            )  # fmt: skip
            self._sound = {period for period in self._sound if period > self._given}

    def _period(self, tick: Tick) -> int:
        assert tick.start is not None
        return self.periods.index(microseconds(tick.start))

    def __repr__(self) -> str:
        return "Found(<confidential>)"
