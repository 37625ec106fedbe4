"""The two kinds of measurement noise, each with what a filter asks of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from hubbub.filters.observation import Observation, observe_gaussian, observe_laplace

Array = NDArray[np.float64]


class Noise(Protocol):
    """Noise of known size on a measurement z of x ~ N(mean, variance)."""

    @property
    def scale(self) -> float:
        """The scale b of Laplace noise of this variance: sqrt(variance/2)."""

    @property
    def variance(self) -> float: ...

    def observe(self, mean: Array, variance: Array, measured: Array) -> Observation: ...

    def chance_below(self, mean: Array, variance: Array, measured: Array, point: Array) -> Array:
        """P(x <= point), given z."""

    def quantile(self, mean: Array, variance: Array, measured: Array, chance: float) -> Array:
        """The point with P(x <= point) = chance, given z."""


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Normal noise: the belief stays Gaussian.

    >>> GaussianNoise(4.0).quantile(np.array([0.0]), np.array([4.0]), np.array([2.0]), 0.5).tolist()
    [1.0]
    """

    variance: float

    @property
    def scale(self) -> float:
        return math.sqrt(self.variance / 2)

    def observe(self, mean: Array, variance: Array, measured: Array) -> Observation:
        return observe_gaussian(mean, variance, measured, self.variance)

    def _after(self, mean: Array, variance: Array, measured: Array) -> tuple[Array, Array]:
        gain = variance / (variance + self.variance)
        return mean + gain * (measured - mean), np.sqrt(gain * self.variance)

    def chance_below(self, mean: Array, variance: Array, measured: Array, point: Array) -> Array:
        centre, deviation = self._after(mean, variance, measured)
        below: Array = ndtr((point - centre) / deviation)
        return below

    def quantile(self, mean: Array, variance: Array, measured: Array, chance: float) -> Array:
        centre, deviation = self._after(mean, variance, measured)
        point: Array = centre + deviation * ndtri(chance)
        return point


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Laplace noise: the belief becomes two halves of Gaussians, joined at z (see `observe_laplace`).

    >>> flat = LaplaceNoise(1.0).quantile(np.array([0.0]), np.array([900.0]), np.array([2.0]), 0.975)
    >>> flat.round(1).tolist()  # a flat prior leaves the Laplace quantile ln 20 = 3.0 around z
    [5.0]
    """

    scale: float

    @property
    def variance(self) -> float:
        return 2 * self.scale**2

    def observe(self, mean: Array, variance: Array, measured: Array) -> Observation:
        return observe_laplace(mean, variance, measured, self.scale)

    def _halves(self, mean: Array, variance: Array, measured: Array) -> tuple[Array, ...]:
        """sqrt(P), r, and the logarithms of both halves' factors after normalising, and of the chance of x < z."""
        deviation = np.sqrt(np.clip(variance, 1e-12 * self.scale**2, None))
        ratio = deviation / self.scale
        unit = (measured - mean) / deviation
        half, lean = 0.5 * ratio * ratio, ratio * unit
        below = half - lean + log_ndtr(unit - ratio)
        above = half + lean + log_ndtr(-unit - ratio)
        both = np.logaddexp(below, above)
        return deviation, ratio, half - lean - both, half + lean - both, below - both

    def chance_below(self, mean: Array, variance: Array, measured: Array, point: Array) -> Array:
        deviation, ratio, lower, upper, _ = self._halves(mean, variance, measured)
        unit = (point - mean) / deviation
        under: Array = np.exp(np.minimum(lower + log_ndtr(unit - ratio), 0.0))
        over: Array = -np.expm1(np.minimum(upper + log_ndtr(-unit - ratio), 0.0))
        return np.where(point <= measured, under, over)

    def quantile(self, mean: Array, variance: Array, measured: Array, chance: float) -> Array:
        deviation, ratio, lower, upper, below = self._halves(mean, variance, measured)
        log_chance, log_rest = math.log(chance), math.log1p(-chance)
        under = mean + deviation * (ratio + ndtri_exp(np.minimum(log_chance - lower, 0.0)))
        over = mean - deviation * (ratio + ndtri_exp(np.minimum(log_rest - upper, 0.0)))
        return np.where(log_chance <= below, np.minimum(under, measured), np.maximum(over, measured))
