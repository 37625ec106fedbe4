"""Discrete Gaussian noise: what zero-concentrated differential privacy asks for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from hubbub.exact import Exact, positive
from hubbub.noise.decay import Decay
from hubbub.noise.distribution import IntegerNoise, cell_shift, checked_scale
from hubbub.noise.source import ByteSource

SUMMED = 100.0
"""Up to this sigma sums are taken term by term; above, Euler-Maclaurin is exact to the last digits."""

WIDEST = 128
"""Larger sigmas are drawn in cells, so many to a sigma."""


class DiscreteGaussian(IntegerNoise):
    """P(k) is proportional to exp(-k^2 / (2 variance)), on all integers, exactly.

    A float is taken as the decimal that it is written as. The square root of the variance goes from 1/1000 to 2^40.
    `variance_parameter` is what was given; `variance` is the variance of the discrete distribution, which is smaller
    when the parameter is below 1.

    Proof: docs/proofs/noise.md (proved). Not covered: how long a draw takes, and what other programs see of it.

    >>> noise = DiscreteGaussian(400)
    >>> noise.sample(3).dtype, noise.variance, noise.quantile(0.975)
    (dtype('int64'), 400.0, 39)
    """

    def __init__(self, variance: Exact, source: ByteSource | None = None) -> None:
        self.variance_parameter = checked_scale(positive(variance, "variance"), variance, "variance", 2)
        half = 1 / (2 * self.variance_parameter)
        super().__init__(Decay(Fraction(0), half), cell_shift(self.variance_parameter, WIDEST**2, 2), source)
        self._sigma = math.sqrt(self.variance_parameter)
        self._tails: NDArray[np.float64] | None = None
        if self._sigma <= SUMMED:
            k = np.arange(math.ceil(40 * self._sigma) + 2)
            weights = np.exp(-(k**2) / (2 * float(self.variance_parameter)))
            self._tails = np.cumsum(weights[::-1])[::-1]  # from the far end on, so that small sums stay accurate
            self._total = float(2 * self._tails[0] - 1)
            self._variance = float(2 * np.sum(k**2 * weights) / self._total)
        else:
            self._total = self._sigma * math.sqrt(2 * math.pi)
            self._variance = float(self.variance_parameter)

    @property
    def _parameter(self) -> Fraction:
        return self.variance_parameter

    @property
    def variance(self) -> float:
        return self._variance

    def log_probability(self, k: int) -> float:
        return -float(k * k / (2 * self.variance_parameter)) - math.log(self._total)

    def cdf(self, k: int) -> float:
        return self._tail(-k) if k < 0 else 1 - self._tail(k + 1)

    def _tail(self, k: int) -> float:
        """P(X >= k) for k >= 1."""
        if self._tails is not None:
            return float(self._tails[k]) / self._total if k < len(self._tails) else 0.0
        z = (k - 0.5) / self._sigma
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        # A sum is the integral from half a step before, less a 24th of the slope there (Euler-Maclaurin, midpoints).
        return float(ndtr(-z)) - z * density / (24 * float(self.variance_parameter))

    def _guess(self, p: float) -> int:
        return min(-1, math.ceil(self._sigma * float(ndtri(p)) - 0.5))

    def __repr__(self) -> str:
        return f"DiscreteGaussian(variance={self.variance_parameter})"
