"""A news site with nobody behind it: visitors who come, read, wander and leave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

SECTIONS = (
    "front page", "news", "politics", "business", "technology", "science", "health", "sports", "weather",
    "local", "opinion", "culture", "travel", "food", "video", "games", "search",
)  # fmt: skip
POPULARITY = np.array([30, 16, 9, 6, 6, 3, 5, 12, 7, 5, 4, 3, 1.5, 2, 4, 2.5, 4])


@dataclass(frozen=True, slots=True)
class Requests:
    """One tick's requests, in no particular order: who (a number per session) asked for which section."""

    at: datetime
    sessions: NDArray[np.int64]
    sections: NDArray[np.int64]


@dataclass(slots=True)
class _Crowd:
    """Something happened: one section draws visitors from outside for a while."""

    section: int
    strength: float
    ticks_left: int


class NewsSite:
    """A simulated site of 17 sections with a daily cycle and a flash crowd every few minutes.

    Each visitor arrives at a section, stays a geometric number of ticks on a page, moves on by popularity, and leaves.
    The randomness here invents people; it has nothing to do with privacy.

    >>> from datetime import UTC
    >>> site = NewsSite(seed=1, visitors=10_000)
    >>> requests = [site.step(datetime(2026, 1, 1, tzinfo=UTC)) for _ in range(30)]
    >>> 8_000 < site.present < 12_000
    True
    """

    def __init__(
        self, seed: int, visitors: int = 10_000, ticks_a_day: int = 360, ticks_between_crowds: int = 60
    ) -> None:
        self._random = np.random.default_rng(seed)
        self._visitors = visitors
        self._ticks_a_day = ticks_a_day
        self._ticks_between_crowds = ticks_between_crowds
        self._popularity = POPULARITY / POPULARITY.sum()
        self._leave, self._move = 0.10, 0.30
        self._tick = 0
        self._next_session = 0
        self._crowd: _Crowd | None = None
        # The site is already busy when we look at it first.
        self._session = self._new_sessions(round(visitors * self._cycle()))
        self._section = self._random.choice(len(SECTIONS), size=len(self._session), p=self._popularity)
        # … and all of them ask for their page in the first tick: a curve that begins now must not look like a rush.
        self._fresh = np.ones(len(self._session), dtype=bool)

    @property
    def present(self) -> int:
        """How many visitors are on the site now."""
        return len(self._session)

    @property
    def crowd(self) -> str | None:
        """The section that a flash crowd is on, if there is one."""
        return None if self._crowd is None else SECTIONS[self._crowd.section]

    def step(self, at: datetime) -> Requests:
        """One tick: some leave, some move on, some arrive; their requests."""
        staying = self._random.random(len(self._session)) >= self._leave
        session, section = self._session[staying], self._section[staying].copy()
        asks = self._fresh[staying].copy()

        moving = ~asks & (self._random.random(len(session)) < self._move)
        section[moving] = self._random.choice(len(SECTIONS), size=int(moving.sum()), p=self._popularity)
        asks |= moving

        rates = self._visitors * self._leave * self._cycle() * self._popularity
        rates = rates * self._crowd_factor()
        arrivals = self._random.poisson(rates)
        self._session = np.concatenate([session, self._new_sessions(int(arrivals.sum()))])
        self._section = np.concatenate([section, np.repeat(np.arange(len(SECTIONS)), arrivals)])
        asks = np.concatenate([asks, np.ones(int(arrivals.sum()), dtype=bool)])
        self._fresh = np.zeros(len(self._session), dtype=bool)
        self._tick += 1
        return Requests(at, self._session[asks], self._section[asks])

    def _cycle(self) -> float:
        return 1 + 0.3 * math.sin(2 * math.pi * self._tick / self._ticks_a_day)

    def _crowd_factor(self) -> NDArray[np.float64]:
        """Tenfold arrivals at one section, fading over ten to twenty ticks."""
        if self._crowd is None and self._random.random() < 1 / self._ticks_between_crowds:
            chosen = int(self._random.integers(1, len(SECTIONS)))
            self._crowd = _Crowd(chosen, strength=9.0, ticks_left=int(self._random.integers(10, 21)))
        factor = np.ones(len(SECTIONS))
        if self._crowd is not None:
            factor[self._crowd.section] += self._crowd.strength
            self._crowd.strength *= 0.93
            self._crowd.ticks_left -= 1
            if self._crowd.ticks_left == 0:
                self._crowd = None
        return factor

    def _new_sessions(self, count: int) -> NDArray[np.int64]:
        first, self._next_session = self._next_session, self._next_session + count
        return np.arange(first, self._next_session)
