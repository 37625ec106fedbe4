"""What a demonstration simulates: a news site, or a city's traffic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime, timedelta

import numpy as np

from hubbub.collect import KeyDomain
from hubbub.collect.layout import PATHS, POSITIONS, Layout
from hubbub.lab.moving import Traffic
from hubbub.lab.site import SECTIONS, NewsSite
from hubbub.lab.truth import Truth
from hubbub.monitor.paired import RangePlan
from hubbub.privacy import Session, Trip, Unit
from hubbub.released import Domain
from hubbub.server import ServerSettings
from hubbub.spatial import RoadCells, RoadGrid, made_up


class World(ABC):
    """Somebody's data, without anybody."""

    stream: str
    tick: timedelta
    lateness: timedelta
    history: timedelta
    """How much of the past is played through before the door opens, so that the pages do not start empty."""
    stay: bool | timedelta
    unit: Unit
    layout: Layout
    method: str
    plan: RangePlan | None
    truth: Truth | None
    """The truth beside what is released, where a page can show both."""

    counted: KeyDomain | Domain

    @abstractmethod
    def settings(self, port: int) -> ServerSettings: ...

    @abstractmethod
    def step(self, now: datetime) -> bytes:
        """What is sent in one tick: lines of JSON."""


class NewsWorld(World):
    """Visitors of a news site, who move between its sections."""

    stream, method = "daily-example", "navigation"
    tick, lateness = timedelta(seconds=1), timedelta(milliseconds=300)
    history, stay = timedelta(minutes=2), timedelta(seconds=8)
    unit = Session(max_ticks=20, timeout=timedelta(seconds=60))
    layout = PATHS
    plan = RangePlan(timedelta(hours=1) // tick)

    def __init__(self, seed: int, visitors: int) -> None:
        self._site = NewsSite(seed, visitors)
        listed = KeyDomain(list(SECTIONS), other=None)
        self.counted, self.truth = listed, Truth(listed.keys)

    def settings(self, port: int) -> ServerSettings:
        return ServerSettings(title="Daily Example", noun="sections", public=True, port=port)

    def step(self, now: datetime) -> bytes:
        """One line a request. All parts are plain words and numbers, so that none needs escaping."""
        requests = self._site.step(now)
        at = requests.at.isoformat()
        return "\n".join(
            f'{{"time": "{at}", "session": "{session}", "key": "{SECTIONS[section]}"}}'
            for session, section in zip(requests.sessions.tolist(), requests.sections.tolist(), strict=True)
        ).encode()


class CityWorld(World):
    """Vehicles on the roads of a city that does not exist; each sends where it is, every two seconds."""

    stream, method = "example-city", "roads"
    tick, lateness = timedelta(seconds=2), timedelta(milliseconds=1500)
    history, stay = timedelta(minutes=2), False
    unit = Trip(max_ticks=25, timeout=timedelta(seconds=60))
    layout = POSITIONS
    plan = truth = None

    def __init__(self, seed: int, vehicles: int) -> None:
        network = made_up(_JUNCTIONS, seed=seed)
        self.counted = RoadCells(RoadGrid.over(network, _SIDE, _SIDE))
        leave = max(vehicles // _TRIP, 1)
        self._trips = Traffic(network, first=vehicles, new=leave, trip=_TRIP, ticks=10**9).trips(seed)

    def settings(self, port: int) -> ServerSettings:
        return ServerSettings(
            title="Example City", noun="places", caption="vehicles on the road", public=True, port=port
        )

    def step(self, now: datetime) -> bytes:
        numbers, x, y = next(self._trips)
        at = now.isoformat()
        return "\n".join(
            f'{{"time": "{at}", "trip": "{number}", "x": {east}, "y": {north}}}'
            for number, east, north in zip(
                numbers.tolist(), np.round(x, 1).tolist(), np.round(y, 1).tolist(), strict=True
            )
        ).encode()


_JUNCTIONS, _SIDE, _TRIP = 1_200, 160, 12
