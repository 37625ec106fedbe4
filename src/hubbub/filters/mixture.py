"""A belief about one count: a mixture of lognormal distributions, a component a model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Array = NDArray[np.float64]

_ROUNDS = 60
_CLOSE = 1e-4
"""Of the value: far below what any interval knows of it."""
_PEAK = 1 / math.sqrt(2 * math.pi)
_LIGHTEST = -9.0
"""Models lighter than e^-9 together move no quantile that is asked for here by anything that shows."""


@dataclass(frozen=True, slots=True, eq=False)
class LogMixture:
    """Mean and variance of the logarithm, a row per series and a column per model, and the models' log weights."""

    mean: Array
    variance: Array
    log_weights: Array

    def quantiles(self, shares: Array, lean: Array) -> Array:
        """The points below which the mixture has each of `shares`, a row per share and a column per series.

        `lean`, one a share or a row per share and a column per series, weighs the mixture by count^-lean first: 0 gives
        plain quantiles, 1 with a share of 1/2 the point of least expected *relative* error. A lognormal weighed so
        stays lognormal, its mean moved by -lean variance.

        >>> one = LogMixture(np.log([[100.0]]), np.array([[0.01]]), np.zeros((1, 1)))
        >>> one.quantiles(np.array([0.5, 0.975]), np.zeros(2)).round(1).tolist()
        [[100.0], [121.7]]
        """
        by = lean.reshape(len(shares), -1, 1)
        kept = np.flatnonzero((self.log_weights > _LIGHTEST).any(axis=0))
        mean, variance = self.mean[:, kept], self.variance[:, kept]
        deviation = np.sqrt(variance)
        centre = mean - by * variance
        logs = self.log_weights[:, kept] - by * mean + 0.5 * by * by * variance
        weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        # A mixture's quantile lies between the smallest and the largest of its components' quantiles.
        each = centre + deviation * ndtri(shares)[:, None, None]
        low, high = each.min(axis=-1), each.max(axis=-1)
        at = (weights * each).sum(axis=-1)
        for _ in range(_ROUNDS):
            away = (at[..., None] - centre) / deviation
            excess = (weights * ndtr(away)).sum(axis=-1) - shares[:, None]
            slope = (weights * np.exp(-0.5 * away * away) / deviation).sum(axis=-1) * _PEAK
            low, high = np.where(excess < 0, at, low), np.where(excess > 0, at, high)
            step = at - excess / np.maximum(slope, 1e-12)
            # Newton's step where it stays within what is known; else half way.
            after = np.where((step > low) & (step < high), step, 0.5 * (low + high))
            moved = float(np.abs(after - at).max())
            at = after
            if moved < _CLOSE:
                break
        points: Array = np.exp(np.minimum(at, 600.0))
        return points

    def relative_error(self, values: Array) -> Array:
        """What |r - x|/max(x, 1) is expected to be if `values` r are said, one a series.

        >>> one = LogMixture(np.log([[100.0]]), np.array([[0.01]]), np.zeros((1, 1)))
        >>> one.relative_error(np.array([100.0])).round(3)
        array([0.08])
        """
        said = np.maximum(values, 1.0)[:, None]
        mean, variance = self.mean, self.variance
        deviation = np.sqrt(variance)
        one, there = -mean / deviation, (np.log(said) - mean) / deviation  # where the count is 1, and where it is said
        inverse = said * np.exp(np.minimum(0.5 * variance - mean, 500.0))
        below_one = said * ndtr(one) - np.exp(mean + 0.5 * variance) * ndtr(one - deviation)
        under = inverse * (ndtr(-one - deviation) - ndtr(-there - deviation)) - ndtr(there) + ndtr(one)
        over = ndtr(-there) - inverse * ndtr(-there - deviation)
        errors: Array = (np.exp(self.log_weights) * (below_one + under + over)).sum(axis=-1)
        return errors

    def spread(self) -> Array:
        """The variance of the logarithm under the whole mixture, a series."""
        weights = np.exp(self.log_weights)
        centre = (weights * self.mean).sum(axis=-1, keepdims=True)
        spread: Array = (weights * (self.variance + (self.mean - centre) ** 2)).sum(axis=-1)
        return spread
