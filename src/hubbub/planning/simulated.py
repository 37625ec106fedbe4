"""A made-up series to plan with, where no public one is at hand."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter


def simulated_series(level: float, ticks: int, seed: int) -> NDArray[np.int64]:
    """Counts about `level` that wander by 1 % a tick, have a rhythm of 7 ticks, and scatter like a Poisson number."""
    if not 0 < level < 2**40:
        raise InvalidParameter(
            f"`level` must lie between 0 and 2^40; got {level}.", "About how many are counted per tick?"
        )
    rng = np.random.default_rng(seed)  # not for privacy: nobody is in a made-up series
    t = np.arange(ticks)
    logs = math.log(level) + rng.normal(0, 0.01, ticks).cumsum() + 0.15 * np.sin(2 * math.pi * t / 7)
    return rng.poisson(np.exp(logs)).astype(np.int64)
