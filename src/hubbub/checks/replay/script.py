"""Two neighbouring streams of counts, and what happens to the mechanism while it reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.privacy import Unit, Window
from hubbub.released import Domain, Tick

What: TypeAlias = Literal["release", "predict", "lose", "again", "restart"]
"""A tick is released; predicted; lost in a crash after it was debited; asked for twice; or the process is restarted."""

Step: TypeAlias = tuple[What, int]

CROWDS = (0, 2, 50, 3000)
"""How many others there may be about: nobody, so few that a count is often 0, some, many."""


@dataclass(frozen=True)
class CountPair:
    """Counts of the same ticks with one unit and without it, row by row, and the steps that both go through."""

    keys: Domain
    steps: Sequence[Step]
    one: NDArray[np.int64]
    two: NDArray[np.int64]

    def counts(self, table: NDArray[np.int64], tick: Tick, keys: Domain) -> Counts:
        """The counts of a tick by `keys`: those of the pair, or some of them and one for all others.

        Whoever counts under several of these others counts once: a bound holds in the domain that is counted by.
        Beyond the horizon there are no counts; the last ones are as good, for they are refused.
        """
        row = min(tick.index, len(table) - 1)
        if keys == self.keys:
            return Counts.of(keys, tick, table[row])
        crowd = np.minimum(self.one[row], self.two[row])
        unit = table[row] - crowd
        kept = [self.keys.position(name) for name in keys if name in self.keys]
        rest = np.setdiff1d(np.arange(len(self.keys)), kept)
        other = crowd[rest].sum() + unit[rest].max(initial=0)
        return Counts.of(keys, tick, [table[row, self.keys.position(n)] if n in self.keys else other for n in keys])

    def name(self, step: int) -> str:
        what, tick = self.steps[step]
        return f"step {step} ({what} at tick {tick})"


def draw_pair(generator: np.random.Generator, unit: Unit, keys: Domain, ticks: int) -> CountPair:  # not for privacy
    """Random others, a unit that makes the most of its bound more often than not, gaps, restarts, lost ticks."""
    steps = _steps(generator, ticks, unit)
    crowd = generator.choice(CROWDS)
    others = generator.poisson(crowd, (ticks, len(keys))) + generator.integers(0, 3, (ticks, len(keys)))
    if generator.random() < 0.3:
        others[generator.random(ticks) < 0.2] *= 20  # now and then a rush
    one, two = others.copy(), others.copy()
    counted = [tick for what, tick in steps if what in ("release", "lose") and tick < ticks]
    for tick in presence(generator, unit, counted):
        most = min(unit.max_items, len(keys))
        items = most if generator.random() < 0.8 else int(generator.integers(1, most + 1))
        one[tick, generator.choice(len(keys), items, replace=False)] += 1
    if generator.random() < 0.5:
        one, two = two, one
    return CountPair(keys, steps, one, two)


def _steps(generator: np.random.Generator, ticks: int, unit: Unit) -> list[Step]:  # not for privacy
    steps: list[Step] = []
    restless = generator.random() < 0.7
    for tick in range(ticks):
        chance = generator.random() if restless else 1.0
        if chance < 0.06:
            continue  # a gap
        if chance < 0.12:
            steps.append(("predict", tick))
        elif chance < 0.16:
            steps.append(("lose", tick))
        else:
            steps.append(("release", tick))
        if chance > 0.94:
            steps.append(("again", tick))
        if generator.random() < 0.1:
            steps.append(("restart", tick))
    if unit.horizon == ticks:
        steps.append(("release", ticks))  # beyond the horizon: refused
    return steps


def presence(
    generator: np.random.Generator,  # not for privacy
    unit: Unit,
    counted: Sequence[int],
) -> Sequence[int]:
    """The ticks in which the unit is there, of those that are counted."""
    if isinstance(unit, Window):
        first = int(generator.integers(max(counted, default=0) + 1))
        return [tick for tick in counted if first <= tick < first + unit.ticks]
    most = min(unit.max_ticks, len(counted))
    if generator.random() < 0.5:  # one after the other
        first = int(generator.integers(len(counted) - most + 1))
        return counted[first : first + most]
    return sorted(generator.choice(counted, most, replace=False).tolist()) if most else []
