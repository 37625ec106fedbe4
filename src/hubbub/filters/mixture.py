"""A belief about one count: a mixture of lognormal distributions, a component a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]

_REACH = 6.0
_LIGHTEST = -9.0
"""Models lighter than e^-9 together move no quantile that is asked for here by anything that shows."""


@dataclass(frozen=True, slots=True, eq=False)
class LogMixture:
    """Mean and variance of the logarithm, a row a series and a column a model, and the models' log weights."""

    mean: Array
    variance: Array
    log_weights: Array

    def quantiles(self, shares: Array, lean: Array) -> Array:
        """The points below which the mixture has each of `shares`, a row a share and a column a series.

        `lean` weighs the mixture by count^-lean first: 0 gives plain quantiles, 1 with a share of 1/2 the point of
        least expected *relative* error. A lognormal weighed so stays lognormal, its mean moved by -lean variance.

        >>> one = LogMixture(np.log([[100.0]]), np.array([[0.01]]), np.zeros((1, 1)))
        >>> one.quantiles(np.array([0.5, 0.975]), np.zeros(2)).round(1).tolist()
        [[100.0], [121.7]]
        """
        by = lean[:, None, None]
        kept = np.flatnonzero((self.log_weights > _LIGHTEST).any(axis=0))
        mean, variance = self.mean[:, kept], self.variance[:, kept]
        deviation = np.sqrt(variance)
        centre = mean - by * variance
        logs = self.log_weights[:, kept] - by * mean + 0.5 * by * by * variance
        weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        low = np.min(centre - _REACH * deviation, axis=-1)
        width = np.max(centre + _REACH * deviation, axis=-1) - low
        # Few series: cut into many parts at once, since calls cost more than numbers. Many series: halve.
        parts, rounds = (16, 5) if len(mean) <= 8 else (2, 20)
        inside = np.arange(1, parts) / parts
        for _ in range(rounds):
            at = low[..., None] + width[..., None] * inside
            below = ndtr((at[..., None] - centre[..., None, :]) / deviation[..., None, :])
            passed = ((below @ weights[..., None])[..., 0] < shares[:, None, None]).sum(axis=-1)
            low = low + width * passed / parts
            width = width / parts
        points: Array = np.exp(np.minimum(low + 0.5 * width, 600.0))
        return points

    def spread(self) -> Array:
        """The standard deviation of the logarithm under the whole mixture, a series."""
        weights = np.exp(self.log_weights)
        centre = (weights * self.mean).sum(axis=-1, keepdims=True)
        spread: Array = np.sqrt((weights * (self.variance + (self.mean - centre) ** 2)).sum(axis=-1))
        return spread
