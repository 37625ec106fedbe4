"""A small made-up town, released for real into a real store: what the tests of maps look at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.confidential import Counts
from hubbub.methods import make_mechanism
from hubbub.privacy import Guarantee, User
from hubbub.released import Domain, Grid, Release, Tick
from hubbub.spatial import Hexagons, RoadCells, RoadGrid, RoadNetwork, Zones, made_up
from hubbub.store import Store

LENGTH = timedelta(minutes=1)
START = datetime(2026, 3, 4, 8, 0, tzinfo=UTC)
TICKS = 6


def square(west: float, south: float, east: float, north: float) -> dict[str, Any]:
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {"type": "Polygon", "coordinates": [ring]}


ZONES = {"harbour": square(0, 0, 2, 2), "market & more": square(2, 0, 4, 2), "<b>hill": square(0, 2, 4, 3)}
ROADS = RoadCells(RoadGrid.over(made_up(60), 48, 48))
MAPS: dict[str, tuple[Domain, str]] = {
    "roads": (ROADS, "roads"),
    "grid": (Grid(40, 30, bounds=(8.1, 53.0, 8.3, 53.2), coordinates="degrees"), "temporal"),
    "tree": (Grid(32, 32, bounds=(0, 0, 320, 320)), "quadtree"),
    "hexagons": (Hexagons.covering((8.15, 53.10, 8.22, 53.14), 8), "lpa"),
    "zones": (Zones(ZONES), "lpa"),
}
"""A map of every kind, with a method that releases it."""
ONE_ROAD = RoadNetwork([0, 3000], [0, 1000], start=[0], end=[1])
EXTREMES: dict[str, tuple[Domain, str]] = {
    "one cell": (Grid(1, 1, bounds=(0, 0, 10, 10)), "areas"),
    "very fine": (RoadCells(RoadGrid.over(ONE_ROAD, 16_384, 16_384)), "roads"),
}
"""The smallest map, and one that is too fine for a picture."""


class City:
    """`tick()` releases one more tick. How many are where is seeded; the noise of the releases is real."""

    def __init__(
        self, folder: Path, kind: str = "roads", *, epsilon: float = 2, start: datetime = START, clock: bool = True
    ) -> None:
        self.place, method = (MAPS | EXTREMES)[kind]
        self.store = Store.open(folder / f"{kind}.db")
        self.name, self._start, self._clock = "city", start, clock
        guarantee = Guarantee.pure(User(horizon=100), epsilon)
        self._curator = self.store.curate(self.name, make_mechanism(method, self.place, guarantee))
        weights = np.random.default_rng(3).lognormal(1, 1.5, len(self.place))
        self._rate = np.where(np.arange(len(self.place)) % 7 < 3, weights * 20, 0)

    def at(self, index: int) -> Tick:
        return Tick(index, self._start + index * LENGTH, LENGTH) if self._clock else Tick(index)

    def tick(self) -> Release:
        index = self._curator.next_tick
        counts = np.random.default_rng(index).poisson(self._rate)
        return self._curator.release(Counts.of(self.place, self.at(index), counts))

    def miss(self) -> Release:
        """A tick that was not measured."""
        return self._curator.predict(self.at(self._curator.next_tick))

    def run(self, ticks: int) -> City:
        for _ in range(ticks):
            self.tick()
        return self

    def close(self) -> None:
        self._curator.close()
        self.store.close()
