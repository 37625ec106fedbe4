"""Several days together against the month before them: what C1 to C3 miss in noisy counts.

| symbol | here | meaning |
|---|---|---|
| w | 1 to `longest` | how many days, today the last, are looked at together |
| m | – | the usual level: the mean of `BASELINE` days, of which the last lies `GUARD` days before those |
| f | `weekday_levels` | what the weekday has of the usual level; 0 on closed days, which then say nothing |
| phi | – | scatter beyond noise and Poisson: a count of mean u has the variance u + phi u^2 (negative binomial) |
| z(w) | – | sum of the days' scores times f, over the root of their information; 1 + w/BASELINE for the error of m |
| v(w) | `_swing` | the mean of z(w)^2 on the rising side in the last `MEMORY` days; 1 under noise and chance alone |

The statistic is the largest z(w)/sqrt(v(w)). An outbreak of a dozen cases a day is invisible in one day of noise of
±28, and less so in two weeks. Everything but the released values is public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.detectors.ears import WEEKS, weekday_levels
from hubbub.detectors.limits import Limits
from hubbub.detectors.scores import information, score
from hubbub.errors import InvalidParameter

Array = NDArray[np.float64]

BASELINE = 28
"""Whole weeks, so that every weekday is in it as often as the others; 27 degrees of freedom."""
GUARD = 2
"""Days between the baseline and the days that are looked at, as in C2: an onset must not become usual."""
LEAST_SCATTER = 0.5
"""A standard deviation below half a case is never believed (as in EARS)."""
LARGEST = 3.0
"""A single day counts for at most so many standard errors: holidays and faults are no outbreaks."""
_LAPLACE_KURTOSIS = 6
_MOST_SHARE = 7.0
_LEAST = 1e-12
MEMORY = 56
"""Days in which it shows how far a series strays by itself, seasons and all."""
PRIOR_DAYS = 21.0
"""How many days of that memory the model of noise and counts is worth."""
_LARGEST_SQUARE = 25.0
"""A past outbreak must not hide the next."""


@dataclass(frozen=True, slots=True)
class PooledSettings:
    """`longest`: most days looked at together. `threshold`: a day alarms above it; left out, each series' own
    limit, which is moved so that about `hubbub.detectors.limits.RATE` of days alarm. `knows_weekdays`: as for EARS."""

    longest: int = 14
    threshold: float | None = None
    knows_weekdays: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.longest, bool) or not isinstance(self.longest, int) or not 1 <= self.longest <= BASELINE:
            raise InvalidParameter(f"`longest` must be 1 to {BASELINE} days; got {self.longest!r}.", "14 is usual.")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise InvalidParameter(
                f"`threshold` must be a number; got {self.threshold}.", "Leave it out for a limit that is learned."
            )

    @property
    def spans(self) -> tuple[int, ...]:
        """The numbers of days that are tried: a few, since neighbours tell much the same."""
        return tuple(w for w in (1, 2, 3, 5, 7, 10, 14, 21, 28) if w <= self.longest)

    @property
    def days(self) -> int:
        """How many days before a day its statistic looks at."""
        own = BASELINE + GUARD + self.spans[-1] - 1 + MEMORY + self.spans[-1]
        return own + 7 * WEEKS if self.knows_weekdays else own


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """For every day and series: the statistic (NaN without a baseline), its days, what is usual, the excess, and the
    limit above which the day alarms."""

    statistic: Array
    span: NDArray[np.int64]
    usual: Array
    excess: Array
    limit: Array


def pooled_statistics(
    values: Array, settings: PooledSettings, noise_variance: Array | float = 0.0, *, laplace: bool = True
) -> Pooled:
    """`values` has a row per day and a column per series; `laplace`: the known noise is Laplace, not Gaussian.

    >>> quiet = np.tile([[20.0], [22], [19], [21], [18], [20], [23]], (6, 1))
    >>> rising = np.vstack([quiet, [[30.0], [31], [33]]])
    >>> seen = pooled_statistics(rising, PooledSettings())
    >>> [round(float(z), 1) for z in seen.statistic[-4:, 0]], int(seen.span[-1, 0]), round(float(seen.excess[-1, 0]))
    ([0.7, 2.5, 3.7, 4.7], 3, 33)
    """
    values = np.asarray(values, dtype=np.float64)
    noise = np.broadcast_to(np.asarray(noise_variance, dtype=np.float64), values.shape)
    factors = _shares(values, noise) if settings.knows_weekdays else np.ones_like(values)
    level, extra = _baselines(values, noise, factors, laplace)
    shape = values.shape
    best, usual, excess = np.full(shape, -np.inf), np.full(shape, np.nan), np.full(shape, np.nan)
    span = np.zeros(shape, dtype=np.int64)
    for w in settings.spans:
        base, over = _later(level, w - 1 + GUARD), _later(extra, w - 1 + GUARD)
        total, told, above = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for back in range(w):
            share = _later(factors, back)
            off = _later(values, back) - base * share
            scores, tells = _scored(off, _variance(base * share, over), _later(noise, back), laplace)
            # A rise is a rise in proportion: a closed day says nothing of it, and must not water the others down.
            total, told, above = total + share * scores, told + share**2 * tells, above + off
        z = total / np.sqrt(np.maximum(told, _LEAST) * (1 + w / BASELINE))
        z = z / np.sqrt(_swing(z, w))
        better = z > best
        best, span = np.where(better, z, best), np.where(better, w, span)
        usual, excess = np.where(better, base, usual), np.where(better, above, excess)
    statistic = np.where(np.isfinite(best), best, np.nan)
    return Pooled(statistic, span, usual, excess, _limits(statistic, settings))


def _shares(values: Array, noise: Array) -> Array:
    """What each day's weekday has of the usual level; 1 while unknown."""
    above, usual = weekday_levels(values, noise)
    known = usual > 0
    return np.where(known, np.clip(1 + above / np.where(known, usual, 1.0), 0.0, _MOST_SHARE), 1.0)


def _swing(z: Array, w: int) -> Array:
    """v(w): the mean square of z on the rising side, of `MEMORY` days before those that are looked at now."""
    squares = np.minimum(np.where(z > 0, z, 0.0) ** 2, _LARGEST_SQUARE)
    nothing = np.zeros((1, z.shape[1]))
    summed, counted = (np.vstack([nothing, np.cumsum(part, axis=0)]) for part in (squares, ~np.isnan(z)))
    end = np.maximum(np.arange(len(z)) - w, 0)
    begin = np.maximum(end - MEMORY, 0)
    # Half of all days lie on the rising side where nothing rises.
    seen = 2 * (summed[end] - summed[begin]) + PRIOR_DAYS
    return np.asarray(seen / (counted[end] - counted[begin] + PRIOR_DAYS))


def _limits(statistic: Array, settings: PooledSettings) -> Array:
    """The limit of each day, as days before it left it."""
    if settings.threshold is not None:
        return np.full(statistic.shape, settings.threshold)
    limits, rows = Limits(statistic.shape[1]), np.empty_like(statistic)
    for day, row in enumerate(statistic):
        rows[day] = limits.now
        limits.learn(row)
    return rows


def _variance(expected: Array, over: Array) -> Array:
    """Of a count around what is expected, without the noise."""
    return expected + over * expected**2


def _baselines(values: Array, noise: Array, factors: Array, laplace: bool) -> tuple[Array, Array]:
    """For each day, of the baseline that ends the day before: the level m, and phi.

    What 28 noisy days show beyond the known noise is mostly luck, so one standard error of that noise's own variance is
    taken off before it counts. The level is their mean, then two steps towards the likeliest one: under Laplace noise
    a mean is as good as that of half as many days.
    """
    level, extra = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    if len(values) > BASELINE:
        seen, shares, known = (
            np.lib.stride_tricks.sliding_window_view(a, BASELINE, axis=0)[:-1] for a in (values, factors, noise)
        )
        mean = np.maximum(seen.sum(axis=-1) / np.maximum(shares.sum(axis=-1), _LEAST), 0.0)
        variance = ((seen - mean[..., None] * shares) ** 2).sum(axis=-1) / (BASELINE - 1)
        expected = known.mean(axis=-1)
        luck = expected * math.sqrt((_LAPLACE_KURTOSIS - 1) / BASELINE)
        over = np.maximum(variance - expected - mean - luck, 0.0) / np.maximum(
            mean**2 * (shares**2).mean(axis=-1), _LEAST
        )
        for _ in range(2 if noise.any() else 0):
            off = seen - mean[..., None] * shares
            scores, tells = _scored(off, _variance(mean[..., None] * shares, over[..., None]), known, laplace)
            step = (shares * scores).sum(axis=-1) / np.maximum((shares**2 * tells).sum(axis=-1), _LEAST)
            mean = np.maximum(mean + step, 0.0)
        level[BASELINE:], extra[BASELINE:] = mean, over
    return level, extra


def _scored(off: Array, variance: Array, noise: Array, laplace: bool) -> tuple[Array, Array]:
    """The score of each residual, no day's beyond `LARGEST` standard errors, and its information."""
    scale = np.sqrt(noise / 2) if laplace else np.zeros_like(noise)
    scatter = np.sqrt(np.maximum(variance if laplace else variance + noise, LEAST_SCATTER**2))
    tells = information(scatter, scale)
    root = np.sqrt(tells)
    return np.clip(score(off, scatter, scale) / root, -LARGEST, LARGEST) * root, tells


def _later(table: Array, days: int) -> Array:
    """What was so many days ago; NaN where nothing was."""
    if days == 0:
        return table
    moved = np.full(table.shape, np.nan)
    moved[days:] = table[:-days]
    return moved
