"""What is told of a belief: a value, its standard error, and an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.filters.noises import Noise
from hubbub.filters.track import Track

Array = NDArray[np.float64]
OUTSIDE = 0.05
_NORMAL = 1.959963984540054
_SURE = 0.995
_HALVINGS = 30


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """One entry a key. Values and intervals are cut at zero: counts are never below it, so a cut only helps."""

    values: Array
    errors: Array
    lower: Array
    upper: Array

    @classmethod
    def gaussian(cls, level: Array, variance: Array) -> Belief:
        error = np.sqrt(variance)
        return cls.cut(level, error, level - _NORMAL * error, level + _NORMAL * error)

    @classmethod
    def cut(cls, level: Array, error: Array, lower: Array, upper: Array) -> Belief:
        return cls(np.maximum(level, 0.0), error, np.maximum(lower, 0.0), np.maximum(upper, 0.0))


def believe(
    level: Array, calm: Track, others: Track, where: NDArray[np.intp], weights: Array, measured: Array,
    noise: Noise, response: Array, shift: float, scale_variance: float,
) -> Belief:  # fmt: skip
    """The interval of the mixture of hypotheses, each with its exact quantiles under the noise.

    `calm` and `others` are the tracks *before* the measurement; `response * shift` is what learning the site's scale
    moved afterwards, and `response**2 * scale_variance` what is still unknown of it.
    """
    after = calm.corrected(noise.observe(calm.level, calm.level_variance, measured))
    variance = after.level_variance
    moved = response * shift
    lower = noise.quantile(calm.level, calm.level_variance, measured, OUTSIDE / 2) + moved
    upper = noise.quantile(calm.level, calm.level_variance, measured, 1 - OUTSIDE / 2) + moved
    unsure = np.flatnonzero(weights[0] < _SURE) if len(where) else where
    if len(unsure):
        at, w = where[unsure], weights[:, unsure]
        prior = calm.at(at).stacked_on(others.at(unsure))
        z = measured[at]
        variance = variance.copy()
        posterior = prior.corrected(noise.observe(prior.level, prior.level_variance, z))
        variance[at] = posterior.merged(w).level_variance
        lower[at] = _mixed(prior, w, z, noise, OUTSIDE / 2) + moved[at]
        upper[at] = _mixed(prior, w, z, noise, 1 - OUTSIDE / 2) + moved[at]
    shared = response**2 * scale_variance
    if scale_variance > 0:
        # The error of the scale is independent of the rest: half-widths add in squares.
        down, up = np.maximum(level - lower, 0.0), np.maximum(upper - level, 0.0)
        lower = np.minimum(level - np.sqrt(down**2 + _NORMAL**2 * shared), lower)
        upper = np.maximum(level + np.sqrt(up**2 + _NORMAL**2 * shared), upper)
    return Belief.cut(level, np.sqrt(variance + shared), lower, upper)


def _mixed(prior: Track, weights: Array, measured: Array, noise: Noise, chance: float) -> Array:
    """A quantile of a mixture, by halving between the least and the largest quantile of its parts."""
    each = noise.quantile(prior.level, prior.level_variance, measured, chance)
    low, high = each.min(0), each.max(0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        below = (weights * noise.chance_below(prior.level, prior.level_variance, measured, middle)).sum(0) < chance
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    point: Array = 0.5 * (low + high)
    return point
