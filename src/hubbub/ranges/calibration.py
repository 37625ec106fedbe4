"""Which noise each level of a strategy needs under a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.noise import ByteSource, DiscreteGaussian, DiscreteLaplace
from hubbub.privacy import Account, Guarantee
from hubbub.ranges.strategy import Strategy
from hubbub.ranges.walk import Walk

_KEPT = 256


@dataclass(frozen=True)
class Prepared:
    """A strategy with its noises, ready to be walked."""

    strategy: Strategy
    noises: tuple[DiscreteLaplace | DiscreteGaussian, ...]
    variances: tuple[float, ...]

    def walk(self, keys: int) -> Walk:
        """A fresh segment's mechanism."""
        return self.strategy.walk(self.noises, keys)


class Calibration:
    """Noise such that a unit present in k ticks of a segment loses at most k times the cost of a tick there.

    | symbol | here | meaning |
    |---|---|---|
    | e, r | the account's even cost | what a tick costs: budget / max_ticks; r is a little less under a delta |
    | c | `unit.max_items` | counts that a unit changes in a tick |
    | f(j) | `strategy.shares` | part of level j |

    Pure: Laplace of scale c/(f(j) e). zCDP: Gaussian of variance c q(j)/(2 f(j) r), q(j) = `square_weights`: a
    node over many ticks of one session changes by more than one.

    Proof: docs/proofs/ranges.md (proved).
    """

    def __init__(self, guarantee: Guarantee, source: ByteSource | None = None) -> None:
        self.guarantee = guarantee
        self.pure = guarantee.kind == "pure"
        self._cost = Account(guarantee).even_cost
        # Counts may be chosen by someone who saw earlier releases. Where noise looks ahead, that leaves the divergence
        # bounded for whole orders alone; for a delta they are enough, with a rho that is hardly smaller (proof,
        # "zCDP: streams that answer back").
        self._rho = self._cost.rho
        if guarantee.kind == "approximate":
            self._rho = min(self._rho, guarantee.divisible / guarantee.unit.max_ticks)
        self._source = source
        self._noises: dict[Fraction, DiscreteLaplace | DiscreteGaussian] = {}
        self._prepared: dict[Strategy, Prepared] = {}

    def prepare(self, strategy: Strategy) -> Prepared:
        """The strategy with its noises; those of the last strategies are kept, since their tables take time to make."""
        prepared = self._prepared.get(strategy)
        if prepared is None:
            if len(self._prepared) >= _KEPT:
                self._prepared.clear()
            prepared = self._prepared[strategy] = self._prepare(strategy)
        return prepared

    def _prepare(self, strategy: Strategy) -> Prepared:
        if self.pure and not strategy.for_pure:
            raise InvalidParameter(
                f"The strategy '{strategy}' needs Gaussian noise, which gives no pure guarantee.",
                "Use Guarantee.zcdp or Guarantee.approximate, or a tree.",
            )
        noises = tuple(self._noise(parameter) for parameter in self.parameters(strategy))
        unit = 1 << strategy.fraction_bits
        variances = tuple(noise.variance / unit**2 for noise in noises)
        if not strategy.must_fit(math.sqrt(max(noise.variance for noise in noises))):
            raise InvalidParameter(
                f"The strategy '{strategy}' with so little budget needs noise that 64 bits cannot hold.",
                "Use a smaller tree, a larger epsilon, or a smaller `max_ticks`.",
            )
        return Prepared(strategy, noises, variances)

    def parameters(self, strategy: Strategy) -> list[Fraction]:
        """The exact scale (pure) or variance parameter (zCDP) of each level, in the strategy's units."""
        items = Fraction(self.guarantee.unit.max_items)
        if self.pure:
            return [items / (share * self._cost.epsilon) for share in strategy.shares]
        weights = strategy.square_weights(self.guarantee.unit.max_ticks)
        wanted = [
            items * Fraction(weight) / (2 * share * self._rho)
            for weight, share in zip(weights, strategy.shares, strict=True)
        ]
        if not strategy.fraction_bits:
            return wanted
        # On a fine grid; rounded up to a whole number, which is drawn faster.
        return [Fraction(math.ceil(parameter * 4**strategy.fraction_bits)) for parameter in wanted]

    def _noise(self, parameter: Fraction) -> DiscreteLaplace | DiscreteGaussian:
        if parameter not in self._noises:
            # Kept apart from the strategies: shares on a grid lead to few noises, whose tables take longest to make.
            if len(self._noises) >= _KEPT:
                self._noises.clear()
            kind = DiscreteLaplace if self.pure else DiscreteGaussian
            self._noises[parameter] = kind(parameter, source=self._source)
        return self._noises[parameter]

    def error(self, strategy: Strategy, uses: NDArray[np.float64]) -> float:
        """The expected squared error of a published range that uses level j `uses[j]` times, for choosing.

        As it will be published: whole-number Laplace noise has less variance than the real-valued one, and trees with
        fractions are rounded at both ends.
        """
        variances = self.unit_variance(strategy)
        if self.pure:
            variances = tuple(_laplace_variance(math.sqrt(variance / 2)) for variance in variances)
        return float(uses @ np.array(variances)) + strategy.rounding(1, 2)

    def unit_variance(self, strategy: Strategy) -> tuple[float, ...]:
        """The variances of real-valued noise of the same parameters: the papers' figures."""
        power = 2 if self.pure else 1
        parameters = [float(parameter) for parameter in self.parameters(strategy)]
        unit = 4.0**strategy.fraction_bits
        return tuple((2 if self.pure else 1) * parameter**power / unit for parameter in parameters)


def _laplace_variance(scale: float) -> float:
    """Of the discrete Laplace distribution."""
    rate = 1 / scale
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2 if rate < 700 else 0.0
