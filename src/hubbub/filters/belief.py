"""What is told of a belief: a value, its standard error, and an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.filters.noises import Noise
from hubbub.filters.track import Track

Array = NDArray[np.float64]
ENDS = (0.025, 0.975)
_NORMAL = 1.959963984540054
_SURE = 0.95
_NARROW = 0.3
"""A belief this much narrower than the noise (in scales) stays Gaussian to within a thousandth of its coverage."""


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """One entry per key. Values and intervals are cut at zero: counts are never below it, so a cut only helps."""

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
    level: Array, calm: Track, after: Track, others: Track, where: NDArray[np.intp], weights: Array, measured: Array,
    noise: Noise, response: Array, shift: float, scale_variance: float,
) -> Belief:  # fmt: skip
    """The interval of the mixture of hypotheses, each with its exact quantiles under the noise.

    `calm` and `others` are tracks *before* the measurement and `after` is the calm one after it, moved by
    `response * shift`, which is what learning the site's scale added; `response**2 * scale_variance` is what is still
    unknown of it.
    """
    variance = after.level_variance
    reach = _NORMAL * np.sqrt(variance)
    lower, upper = after.level - reach, after.level + reach
    wide = np.flatnonzero(calm.level_variance > (_NARROW * noise.scale) ** 2)
    if len(wide):
        moved = response[wide] * shift
        ends = noise.at(wide).quantiles(calm.level[wide], calm.level_variance[wide], measured[wide], ENDS)
        lower[wide], upper[wide] = ends[0] + moved, ends[1] + moved
    unsure = np.flatnonzero(weights[0] < _SURE) if len(where) else where
    if len(unsure):
        at, w = where[unsure], weights[:, unsure]
        prior, z = calm.at(at).stacked_on(others.at(unsure)), measured[at]
        posterior = prior.corrected(noise.at(at).observe(prior.level, prior.level_variance, z))
        variance = variance.copy()
        variance[at] = posterior.merged(w).level_variance
        ends = noise.at(at).mixed_quantiles(w, prior.level, prior.level_variance, z, ENDS)
        moved = response[at] * shift
        lower[at], upper[at] = ends[0] + moved, ends[1] + moved
    if scale_variance > 0:
        # The error of the scale is independent of the rest: half-widths add in squares.
        shared = scale_variance * response**2
        down, up = np.maximum(level - lower, 0.0), np.maximum(upper - level, 0.0)
        lower = np.minimum(level - np.sqrt(down**2 + _NORMAL**2 * shared), lower)
        upper = np.maximum(level + np.sqrt(up**2 + _NORMAL**2 * shared), upper)
        variance = variance + shared
    return Belief.cut(level, np.sqrt(variance), lower, upper)
