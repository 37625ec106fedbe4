"""Discrete Laplace noise: what pure differential privacy asks for."""

from __future__ import annotations

import math
from fractions import Fraction

from hubbub.exact import Exact, positive
from hubbub.noise.decay import Decay
from hubbub.noise.distribution import IntegerNoise, cell_shift, checked_scale
from hubbub.noise.source import ByteSource

WIDEST = 64
"""Larger scales are drawn in cells, so many to a scale."""


class DiscreteLaplace(IntegerNoise):
    """P(k) is proportional to exp(-|k| / scale), on all integers, exactly.

    A float is taken as the decimal that it is written as. The scale goes from 1/1000 to 2^40.

    Proof: docs/proofs/noise.md (proved). Not covered: how long a draw takes, and what other programs see of it.

    >>> noise = DiscreteLaplace("20")
    >>> noise.sample(3).dtype, round(noise.variance, 2), noise.quantile(0.975)
    (dtype('int64'), 799.83, 60)
    """

    def __init__(self, scale: Exact, source: ByteSource | None = None) -> None:
        self.scale = checked_scale(positive(scale, "scale"), scale, "scale")
        super().__init__(Decay(1 / self.scale, Fraction(0)), cell_shift(self.scale, WIDEST), source)
        self._rate = float(1 / self.scale)

    @property
    def _parameter(self) -> Fraction:
        return self.scale

    @property
    def variance(self) -> float:
        return 2 * math.exp(-self._rate) / math.expm1(-self._rate) ** 2

    def log_probability(self, k: int) -> float:
        return math.log(math.tanh(self._rate / 2)) - abs(k) * self._rate

    def cdf(self, k: int) -> float:
        if k < 0:
            return math.exp(k * self._rate) / (1 + math.exp(-self._rate))
        return 1 - math.exp(-(k + 1) * self._rate) / (1 + math.exp(-self._rate))

    def _guess(self, p: float) -> int:
        return min(-1, math.ceil((math.log(p) + math.log1p(math.exp(-self._rate))) / self._rate))

    def __repr__(self) -> str:
        return f"DiscreteLaplace(scale={self.scale})"
