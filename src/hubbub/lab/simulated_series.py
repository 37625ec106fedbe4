"""Families of simulated counts: what a series may look like when nobody has tuned anything to it.

A family and a seed give one series. The seed draws the parameters too, from the ranges beside each family, so that two
seeds of a family are two different series and not two copies of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput
from hubbub.lab.public_series import PublicSeries

Array = NDArray[np.float64]
Draw = np.random.Generator  # of simulated truths: it protects nobody

TICKS = 400


def walk(rng: Draw) -> Array:
    """The logarithm is a random walk, by 0.5 to 5 % a tick."""
    return _level(rng) + rng.normal(0, _between(rng, 0.005, 0.05), TICKS).cumsum()


def jumps(rng: Draw) -> Array:
    """Constant, but for a jump every 60 ticks on average, by a factor of about two."""
    sizes = rng.normal(0, 0.7, TICKS) * (rng.random(TICKS) < 1 / 60)
    return _level(rng) + sizes.cumsum()


def returning(rng: Draw) -> Array:
    """Deviations of 10 to 60 % that fade within 3 to 50 ticks."""
    return _level(rng) + _fading(rng, _between(rng, 3, 50), _between(rng, 0.1, 0.6))


def trend(rng: Draw) -> Array:
    """Growth or decline by a factor of 1.6 to 12 over the whole series, with 2 to 10 % of white noise."""
    change = rng.choice([-1, 1]) * _between(rng, 0.5, 2.5)
    return np.asarray(_level(rng) + np.linspace(0, change, TICKS) + rng.normal(0, _between(rng, 0.02, 0.1), TICKS))


def weekly(rng: Draw) -> Array:
    """A week of seven days that differ by 20 to 60 %, on a slow walk."""
    days = rng.normal(0, _between(rng, 0.2, 0.6), 7)
    drift = rng.normal(0, 0.01, TICKS).cumsum()
    return np.asarray(_level(rng) + days[np.arange(TICKS) % 7] + drift + rng.normal(0, 0.08, TICKS))


def hidden_rhythm(rng: Draw) -> Array:
    """A wave of a period that no calendar tells."""
    period, size, phase = rng.uniform(8, 60), _between(rng, 0.2, 0.6), rng.uniform(0, 2 * math.pi)
    wave = size * np.sin(2 * math.pi * np.arange(TICKS) / period + phase)
    return np.asarray(_level(rng) + wave + rng.normal(0, 0.05, TICKS))


def few(rng: Draw) -> Array:
    """Two to fifteen a tick."""
    return math.log(_between(rng, 2, 15)) + rng.normal(0, 0.02, TICKS).cumsum()


def bursts(rng: Draw) -> Array:
    """A steady level with a flash crowd every 80 ticks on average, gone after some five ticks."""
    crowd, now = np.empty(TICKS), 0.0
    for t in range(TICKS):
        now *= math.exp(-1 / 5)
        now += _between(rng, 0.7, 2) if rng.random() < 1 / 80 else 0.0
        crowd[t] = now
    return np.asarray(_level(rng) + crowd + rng.normal(0, 0.005, TICKS).cumsum())


FAMILIES: Mapping[str, Callable[[Draw], Array]] = MappingProxyType(
    {
        "walk": walk,
        "jumps": jumps,
        "returning": returning,
        "trend": trend,
        "weekly": weekly,
        "hidden rhythm": hidden_rhythm,
        "few": few,
        "bursts": bursts,
    }
)


def simulated(family: str, seed: int) -> PublicSeries:
    """One series of a family; counts scatter about their level like Poisson numbers.

    >>> len(simulated("walk", 1))
    400
    """
    if family not in FAMILIES:
        raise InvalidInput(f"There is no family {family!r}.", f"Known: {', '.join(FAMILIES)}.")
    rng = np.random.default_rng([seed, list(FAMILIES).index(family)])
    counts = rng.poisson(np.exp(np.minimum(FAMILIES[family](rng), 20))).astype(np.int64)
    return PublicSeries(f"{family} {seed}", counts, timedelta(days=1) if family == "weekly" else None)


def _between(rng: Draw, low: float, high: float) -> float:
    """Evenly on a logarithm."""
    return float(math.exp(rng.uniform(math.log(low), math.log(high))))


def _level(rng: Draw) -> float:
    return float(rng.normal(math.log(1000), 1))


def _fading(rng: Draw, time: float, size: float) -> Array:
    factor, now, values = math.exp(-1 / time), rng.normal(0, size), np.empty(TICKS)
    for t in range(TICKS):
        values[t] = now
        now = factor * now + rng.normal(0, size * math.sqrt(1 - factor**2))
    return values
