"""The two kinds of measurement noise, each with what a filter asks of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from hubbub.filters.observation import FLAT, Observation, observe_gaussian, observe_laplace

Array = NDArray[np.float64]
_HALVINGS = 12


class Noise(Protocol):
    """Noise of known size on a measurement z of x ~ N(mean, variance); one size for all keys, or one per key."""

    @property
    def scale(self) -> float | Array:
        """The scale b of Laplace noise of this variance: sqrt(variance/2)."""

    @property
    def variance(self) -> float | Array: ...

    def at(self, where: NDArray[np.intp]) -> Noise:
        """The noise of some keys."""

    def observe(self, mean: Array, variance: Array, measured: Array) -> Observation: ...

    def quantiles(self, mean: Array, variance: Array, measured: Array, chances: Sequence[float]) -> list[Array]:
        """For each chance the point with P(x <= point) = chance, given z."""

    def mixed_quantiles(
        self, weights: Array, mean: Array, variance: Array, measured: Array, chances: Sequence[float]
    ) -> list[Array]:
        """The same for a mixture of beliefs over the first axis."""


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Normal noise: the belief stays Gaussian.

    >>> GaussianNoise(4.0).quantiles(np.array([0.0]), np.array([4.0]), np.array([2.0]), [0.5])[0].tolist()
    [1.0]
    """

    variance: float | Array

    @property
    def scale(self) -> float | Array:
        return self.variance**0.5 / math.sqrt(2)

    def at(self, where: NDArray[np.intp]) -> GaussianNoise:
        return GaussianNoise(self.variance[where]) if isinstance(self.variance, np.ndarray) else self

    def observe(self, mean: Array, variance: Array, measured: Array) -> Observation:
        return observe_gaussian(mean, variance, measured, self.variance)

    def _after(self, mean: Array, variance: Array, measured: Array) -> tuple[Array, Array]:
        gain = variance / (variance + self.variance)
        return mean + gain * (measured - mean), np.sqrt(gain * self.variance)

    def quantiles(self, mean: Array, variance: Array, measured: Array, chances: Sequence[float]) -> list[Array]:
        centre, deviation = self._after(mean, variance, measured)
        return [centre + deviation * ndtri(chance) for chance in chances]

    def mixed_quantiles(
        self, weights: Array, mean: Array, variance: Array, measured: Array, chances: Sequence[float]
    ) -> list[Array]:
        centre, deviation = self._after(mean, variance, measured)

        def below(point: Array) -> Array:
            chance: Array = (weights * ndtr((point - centre) / deviation)).sum(0)
            return chance

        each = self.quantiles(mean, variance, measured, chances)
        return [_halve(below, points, chance) for points, chance in zip(each, chances, strict=True)]


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Laplace noise: the belief becomes two halves of Gaussians, joined at z (see `observe_laplace`).

    >>> flat = LaplaceNoise(1.0).quantiles(np.array([0.0]), np.array([900.0]), np.array([2.0]), [0.975])[0]
    >>> flat.round(1).tolist()  # a flat prior leaves the Laplace quantile ln 20 = 3.0 around z
    [5.0]
    """

    scale: float | Array

    @property
    def variance(self) -> float | Array:
        return 2 * self.scale**2

    def at(self, where: NDArray[np.intp]) -> LaplaceNoise:
        return LaplaceNoise(self.scale[where]) if isinstance(self.scale, np.ndarray) else self

    def observe(self, mean: Array, variance: Array, measured: Array) -> Observation:
        return observe_laplace(mean, variance, measured, self.scale)

    def _halves(self, mean: Array, variance: Array, measured: Array) -> tuple[Array, ...]:
        """mu, sqrt(P), r, the logarithms of both halves' factors after normalising, and that of the chance of x < z.

        A prior so wide that it is flat around z is replaced by a narrower one with the same slope there: the belief
        is the same, and no digits are lost.
        """
        widest = (FLAT * self.scale) ** 2
        if (variance > widest).any():
            mean = measured - (measured - mean) * np.minimum(widest / variance, 1.0)
            variance = np.minimum(variance, widest)
        deviation = np.sqrt(np.clip(variance, 1e-12 * self.scale**2, None))
        ratio = deviation / self.scale
        unit = (measured - mean) / deviation
        half, lean = 0.5 * ratio * ratio, ratio * unit
        below = half - lean + log_ndtr(unit - ratio)
        above = half + lean + log_ndtr(-unit - ratio)
        both = np.logaddexp(below, above)
        return mean, deviation, ratio, half - lean - both, half + lean - both, below - both

    def quantiles(self, mean: Array, variance: Array, measured: Array, chances: Sequence[float]) -> list[Array]:
        return self._points(measured, self._halves(mean, variance, measured), chances)

    def _points(self, measured: Array, halves: tuple[Array, ...], chances: Sequence[float]) -> list[Array]:
        mean, deviation, ratio, lower, upper, below = halves
        points = []
        for chance in chances:
            log_chance, log_rest = math.log(chance), math.log1p(-chance)
            under = mean + deviation * (ratio + ndtri_exp(np.minimum(log_chance - lower, 0.0)))
            over = mean - deviation * (ratio + ndtri_exp(np.minimum(log_rest - upper, 0.0)))
            points.append(np.where(log_chance <= below, np.minimum(under, measured), np.maximum(over, measured)))
        return points

    def mixed_quantiles(
        self, weights: Array, mean: Array, variance: Array, measured: Array, chances: Sequence[float]
    ) -> list[Array]:
        halves = self._halves(mean, variance, measured)
        mean, deviation, ratio, lower, upper, _ = halves

        def below(point: Array) -> Array:
            unit = (point - mean) / deviation
            side = point <= measured
            part = np.exp(np.minimum(np.where(side, lower, upper) + log_ndtr(np.where(side, unit, -unit) - ratio), 0.0))
            chance: Array = (weights * np.where(side, part, 1.0 - part)).sum(0)
            return chance

        each = self._points(measured, halves, chances)
        return [_halve(below, points, chance) for points, chance in zip(each, chances, strict=True)]


def _halve(below: Callable[[Array], Array], points: Array, chance: float) -> Array:
    """A quantile of a mixture, by halving between the least and the largest quantile of its parts."""
    low, high = points.min(0), points.max(0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        short = below(middle) < chance
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    result: Array = 0.5 * (low + high)
    return result
