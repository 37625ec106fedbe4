"""EARS C1, C2 and C3 on released series (Hutwagner et al. 2003; Fan 2014, Eq. 4.4 and 4.5).

| symbol | here | meaning |
|---|---|---|
| r(k) | `values[k]` | the count of day k, as released; the noisy measurement where there is one |
| mu, s | – | mean and standard deviation (n - 1 = 6 degrees of freedom) of the seven days of the baseline |
| v | `noise_variance` | of the noise in r, which is public |

C1 compares with the seven days before, C2 leaves two days in between, C3 adds up what C2 had above 1 on three days.
A day whose baseline is not complete has no statistic (NaN) and never alarms. Where the baseline has no deviation at all
the statistic would be infinite after the smallest rise; s is never taken below `least`, by default half a case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter

Array = NDArray[np.float64]

KINDS = ("C1", "C2", "C3")
THRESHOLDS = {"C1": 3.0, "C2": 3.0, "C3": 2.0}
BASELINE = 7
GAPS = {"C1": 0, "C2": 2, "C3": 2}
WEEKS = 8
_FEWEST_WEEKS = 4
_PRIOR_DAYS = 6.0
"""How many degrees of freedom the known variance is worth beside the six of the baseline."""


@dataclass(frozen=True, slots=True)
class EarsSettings:
    """Which statistic, and what it may know.

    `knows_noise`: pool the baseline's variance with what is known before any baseline, the variance of the noise and of
    a Poisson count, and never go below that of the noise: seven noisy days say little about a deviation.
    `knows_weekdays`: take off each day what its weekday was above the others in the last eight weeks.
    """

    kind: str = "C2"
    knows_noise: bool = True
    knows_weekdays: bool = False
    threshold: float | None = None
    least: float = 0.5

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidParameter(f"`kind` must be one of {', '.join(KINDS)}; got {self.kind!r}.")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise InvalidParameter(f"`threshold` must be a number; got {self.threshold}.", "3 is usual, 2 for C3.")
        if not 0 < self.least < math.inf:
            raise InvalidParameter(f"`least` must be above 0; got {self.least}.", "0.5 cases is the default.")

    @property
    def limit(self) -> float:
        """The statistic above which a day alarms."""
        return THRESHOLDS[self.kind] if self.threshold is None else self.threshold

    @property
    def days(self) -> int:
        """How many days before a day its statistic looks at."""
        own = BASELINE + GAPS[self.kind] + (2 if self.kind == "C3" else 0)
        return own + 7 * WEEKS if self.knows_weekdays else own


def ears_statistics(values: Array, settings: EarsSettings, noise_variance: Array | float = 0.0) -> Array:
    """The statistic of every day and series; `values` has a row per day and a column per series.

    >>> quiet = np.array([[5.0], [6], [5], [4], [5], [6], [4], [5], [5], [20]])
    >>> ears_statistics(quiet, EarsSettings("C1", knows_noise=False)).ravel().round(1).tolist()[7:]
    [0.0, 0.0, 21.9]
    """
    values = np.asarray(values, dtype=np.float64)
    noise = np.broadcast_to(np.asarray(noise_variance, dtype=np.float64), values.shape)
    if settings.knows_weekdays:
        values = values - weekday_levels(values, noise)[0]
    days = len(values)
    gap = GAPS[settings.kind]
    mean, variance, known = (np.full(values.shape, np.nan) for _ in range(3))
    first = BASELINE + gap
    if days > first:
        windows = np.lib.stride_tricks.sliding_window_view(values, BASELINE, axis=0)[: days - first]
        mean[first:], variance[first:] = windows.mean(axis=-1), windows.var(axis=-1, ddof=1)
        known[first:] = np.lib.stride_tricks.sliding_window_view(noise, BASELINE, axis=0)[: days - first].mean(axis=-1)
    if settings.knows_noise:
        expected = known + np.maximum(mean, 0.0)
        variance = ((BASELINE - 1) * variance + _PRIOR_DAYS * expected) / (BASELINE - 1 + _PRIOR_DAYS)
        variance = np.maximum(variance, known)
    statistic = (values - mean) / np.maximum(np.sqrt(variance), settings.least)
    if settings.kind != "C3":
        return np.asarray(statistic)
    excess = np.maximum(statistic - 1.0, 0.0)
    summed = np.full(values.shape, np.nan)
    if days > 2:
        summed[2:] = excess[2:] + excess[1:-1] + excess[:-2]
    return summed


def weekday_levels(values: Array, noise: Array) -> tuple[Array, Array]:
    """For each day, how far its weekday lies above the mean of all days, and that mean, in up to eight weeks before.

    Levels, not factors: to divide by what a closed day shows would make its noise many times larger. How much the seven
    differ beyond what noise and chance explain says how much of each is believed. Both are 0 while nothing is known.
    """
    above, usual = np.zeros_like(values), np.zeros_like(values)
    for day in range(7 * _FEWEST_WEEKS, len(values)):
        weeks = min(day // 7, WEEKS)
        # Row 0 of each block of seven is this day's own weekday.
        by_weekday = values[day - 7 * weeks : day].reshape(weeks, 7, -1).mean(axis=0)
        mean = by_weekday.mean(axis=0)
        chance = (noise[day - 7 * weeks : day].mean(axis=0) + np.maximum(mean, 0.0)) / weeks
        apart = np.maximum(((by_weekday - mean) ** 2).sum(axis=0) / 6 - chance, 0.0)
        believed = np.divide(apart, apart + chance, out=np.zeros_like(apart), where=apart > 0)
        above[day], usual[day] = believed * (by_weekday[0] - mean), mean
    return above, usual
