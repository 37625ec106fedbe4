"""A bank of shapes that a series of counts may have, all relative to its level.

| symbol | here | meaning |
|---|---|---|
| y(t) | – | the logarithm of the count: y = level + deviation + season + white |
| s | `drift` | the level's step a tick, a random walk |
| f, d | `decay`, `deviation` | the deviation is an AR(1) with factor f a tick and standard deviation d |
| w | `white` | what changes from tick to tick without memory |
| a | `seasonal` | 1 where the shape has the public periods, 0 where not |
| o, p | `offset`, `spread` | where the level starts, relative to what is thought of most shapes, and how surely |

On a logarithm all sizes are shares of the level, so one bank serves a village and a country.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter

Array = NDArray[np.float64]

DRIFTS = ((0.002, 0.4), (0.006, 0.25), (0.018, 0.2), (0.05, 0.1), (0.13, 0.05))
"""Steps of the level a tick, with their prior weight: most levels are slow, a few leap."""
WHITES = ((0.03, 0.6), (0.12, 0.28), (0.4, 0.12))
DEVIATING = 0.3
"""The prior weight of all shapes with a deviation. Their level is slow, or the deviation would say nothing new."""
DEVIATIONS = ((3, 0.3, 0.3), (12, 0.4, 0.2), (12, 1.0, 0.2), (50, 0.3, 0.15), (50, 1.0, 0.15))
"""Time constants in ticks, sizes and weights of deviations from the level."""
DEVIATING_DRIFTS = ((0.002, 0.7), (0.015, 0.3))
LOW = ((0.006, 0.12), (0.018, 0.4))
"""Drift and white noise of the shapes of a series that lies far below the noise."""
LOW_WEIGHT = 0.25
"""Their prior weight together. Without them a series nobody can see would be released at the noise's size, many times
too high, and with an interval that excludes the truth; a series that can be seen refutes them at once."""
LOW_FIRST, LOW_STEP, LOW_SPREAD = -3.0, -2.0, 1.0
"""Where they start, relative to other shapes: e^3 times lower, e^5 times, and so on. Each keeps to its own stretch: one
wide belief would be narrowed from above by every measurement that sees nothing, as though each had told something."""
USUAL_SPREAD = 2.0
"""The standard deviation of where all other shapes start."""
SEASON_SIZE = 0.5
"""How large a season's first harmonic is thought to be; the k-th is thought to be a k-th of it."""
MOST_HARMONICS = 3


@dataclass(frozen=True, slots=True)
class Period:
    """A public rhythm: its length in ticks and how many harmonics describe it.

    >>> Period.of(7)
    Period(length=7.0, harmonics=3)
    """

    length: float
    harmonics: int

    @classmethod
    def of(cls, length: float) -> Period:
        if isinstance(length, bool) or not isinstance(length, (int, float)) or not 2 <= length < math.inf:
            raise InvalidParameter(
                f"A period must be at least 2 ticks long; got {length!r}.", "A week of daily ticks is 7."
            )
        return cls(float(length), min(MOST_HARMONICS if length <= 7 else 2, int(length // 2)))


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """The parameters of every model of the bank, one entry per model, and the periods they share.

    >>> Shapes.usual().count, Shapes.usual([7]).count, Shapes.usual([7]).size
    (51, 102, 8)
    """

    drift: Array
    decay: Array
    deviation: Array
    white: Array
    seasonal: Array
    offset: Array
    spread: Array
    log_prior: Array
    periods: tuple[Period, ...] = ()

    @classmethod
    def usual(cls, periods: Sequence[float] = (), centre: float = 7.0) -> Shapes:
        """The default bank: slow to quick levels, with and without deviations, much or little white noise, seasons.

        `centre` is where most levels are thought to start, as a logarithm: low shapes reach from there down to one.
        """
        seen = 1 - LOW_WEIGHT
        wide = USUAL_SPREAD
        without: list[tuple[float, ...]] = []
        for (drift, a), (white, b) in product(DRIFTS, WHITES):
            without.append((drift, 0.0, 0.0, white, 0.0, 0.0, wide, seen * (1 - DEVIATING) * a * b))
        for (drift, a), (white, b), (time, size, c) in product(DEVIATING_DRIFTS, WHITES, DEVIATIONS):
            without.append((drift, math.exp(-1 / time), size, white, 0.0, 0.0, wide, seen * DEVIATING * a * b * c))
        steps = max(math.ceil((centre + LOW_FIRST) / -LOW_STEP), 0) + 1
        for step, (drift, white) in product(range(steps), LOW):
            offset = LOW_FIRST + step * LOW_STEP
            without.append((drift, 0.0, 0.0, white, 0.0, offset, LOW_SPREAD, LOW_WEIGHT / len(LOW) / steps))
        rows = np.array(without)
        if periods:
            with_season = rows.copy()
            with_season[:, 4] = 1.0
            rows = np.concatenate([rows, with_season])
        drift, decay, deviation, white, seasonal, offset, spread, weight = rows.T
        prior = np.log(weight / weight.sum())
        return cls(
            drift, decay, deviation, white, seasonal, offset, spread, prior, tuple(Period.of(p) for p in periods)
        )

    @property
    def count(self) -> int:
        return len(self.drift)

    @property
    def size(self) -> int:
        """Numbers in one model's state: level, deviation, and two a harmonic."""
        return 2 + 2 * sum(period.harmonics for period in self.periods)

    def season_variances(self) -> Array:
        """What is thought of a seasonal shape's coefficients before anything was seen."""
        sizes = [SEASON_SIZE / k for p in self.periods for k in range(1, p.harmonics + 1) for _ in range(2)]
        return np.array(sizes) ** 2 / 2

    def phase(self, tick: int) -> Array:
        """What each number of the state adds to y at `tick`: itself for level and deviation, a wave for seasons."""
        angles = np.array([2 * math.pi * k * tick / p.length for p in self.periods for k in range(1, p.harmonics + 1)])
        return np.concatenate([np.ones(2), np.column_stack([np.cos(angles), np.sin(angles)]).ravel()])
