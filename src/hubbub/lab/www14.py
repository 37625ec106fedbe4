"""The simulation of Fan et al. 2014, section 5.1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.models.sessions import Sessions


@dataclass(frozen=True, slots=True)
class Www14:
    """The paper's setting; its defaults are the paper's.

    Not simulated is its 18th "page", the symbol "$" of inactive sessions: one session changes that count in up to
    T - l ticks, so noise of scale l/epsilon does not protect it.
    """

    ticks: int = 100
    first: int = 100_000
    arrivals: float = 10_000.0
    most_arrivals: int = 20_000
    max_ticks: int = 20
    training: float = 0.05
    test: float = 0.10

    def simulate(self, pool: Sessions, rng: np.random.Generator) -> Sessions:
        """Sessions drawn from `pool` (already cut to `max_ticks`), with the tick at which each begins."""
        new = np.minimum(rng.poisson(self.arrivals, self.ticks - 1), self.most_arrivals)
        starts = np.repeat(np.arange(self.ticks), np.concatenate([[self.first], new]))
        return pool.chosen(rng.integers(len(pool), size=len(starts)), starts)

    def part(self, sessions: Sessions, share: float, rng: np.random.Generator) -> Sessions:
        """A random `share` of the sessions, without repeats."""
        which = rng.choice(len(sessions), round(share * len(sessions)), replace=False)
        return sessions.chosen(which)

    def counts(self, sessions: Sessions) -> NDArray[np.int64]:
        """How many sessions are on each page at each tick: one row per tick."""
        assert sessions.starts is not None
        keys = len(sessions.keys)
        place = np.arange(len(sessions.visits)) - np.repeat(sessions.bounds[:-1] - sessions.starts, sessions.lengths)
        inside = place < self.ticks
        flat = place[inside] * keys + sessions.visits[inside]
        return np.bincount(flat, minlength=self.ticks * keys).reshape(self.ticks, keys)
