"""A small simulated news site, released for real into a real store: what the server's tests and benchmarks look at."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from hubbub.confidential import Counts
from hubbub.monitor.paired import RangePlan, open_curator
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Keys, Release, Tick
from hubbub.store import Store

SECTIONS = (
    "front page", "news", "sports", "opinion", "business", "technology", "science", "health", "culture", "travel",
    "local", "weather", "living", "games", "jobs", "archive", "newsletter",
)  # fmt: skip

LENGTH = timedelta(seconds=10)


class Site:
    """`tick()` releases one more tick. The simulation's randomness is seeded; the noise of the releases is real."""

    def __init__(
        self,
        folder: Path,
        keys: tuple[str, ...] = SECTIONS,
        *,
        epsilon: float = 1.0,
        length: timedelta = LENGTH,
        start: datetime | None = None,
        name: str = "site",
        clock: bool = True,
        ranges: int | None = None,
    ) -> None:
        self.path = folder / "site.db"
        self.store = Store.open(self.path)
        self.keys = Keys(keys)
        self.name = name
        self.clock = clock
        self.start = start or datetime.now(UTC) - timedelta(hours=2)
        self.length = length
        self._random = np.random.default_rng(7)
        self._sizes = [4200 * 0.74**i for i in range(len(keys))]
        guarantee = Guarantee.pure(Session(max_ticks=20), epsilon)
        if ranges is None:
            self._curator = self.store.curate(name, Lpa(self.keys, guarantee), reserve_ahead=50)
        else:
            self._curator = open_curator(self.store, name, self.keys, guarantee, Lpa, RangePlan(ranges))

    @property
    def next_tick(self) -> int:
        return self._curator.next_tick

    def at(self, index: int) -> Tick:
        return Tick(index, self.start + index * self.length, self.length) if self.clock else Tick(index)

    def truth(self, index: int) -> list[int]:
        """A slow wave, and a crowd on the third key in ticks 150 to 169 of every 400."""
        wave = 1 + 0.25 * math.sin(index / 90)
        crowd = {2: 3.5} if 150 <= index % 400 < 170 else {}
        return [int(self._random.poisson(size * wave * crowd.get(i, 1))) for i, size in enumerate(self._sizes)]

    def tick(self, counts: list[int] | None = None) -> Release:
        index = self.next_tick
        return self._curator.release(
            Counts.of(self.keys, self.at(index), self.truth(index) if counts is None else counts)
        )

    def predict(self) -> Release:
        return self._curator.predict(self.at(self.next_tick))

    def run(self, ticks: int) -> Site:
        for _ in range(ticks):
            self.tick()
        return self

    def close(self) -> None:
        self._curator.close()
        self.store.close()
