"""Where a tick's counts, added up by parts of a map, meet noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.errors import NoiseOverflow
from hubbub.noise import ByteSource, DiscreteGaussian, DiscreteLaplace
from hubbub.privacy import Guarantee
from hubbub.released import Cost

FARTHEST = 2**62
Whole = NDArray[np.int64]


class Parts:
    """A partition of the keys: `of` says for each key which part it belongs to; every part has a key."""

    def __init__(self, of: Whole, many: int) -> None:
        self.of = of
        self.many = many
        self._order = np.argsort(of, kind="stable")
        self._starts = np.searchsorted(of[self._order], np.arange(many))
        self._alone = many == len(of) and bool((self._order == np.arange(many)).all())

    def sums(self, values: Whole) -> Whole:
        """Added up exactly, in whole numbers: a sum of floats would round, and rounding can hide or show someone."""
        if self._alone:
            return values.copy()
        return np.add.reduceat(values[self._order], self._starts)


class NoisySums:
    """Adds exact integer noise to sums over the parts of a partition.

    | symbol | here | meaning |
    |---|---|---|
    | c | `unit.max_items` | how many counts one unit changes in a tick, each by at most one |
    | e | `cost.epsilon` | Laplace scale c/e: sums change by c in all, so this is e-DP for a unit present |
    | r | `cost.rho` | Gaussian variance c²/(2 r): all c may lie in one part, so squares add up to c², not to c |

    Proof: docs/proofs/spatial.md (proved).
    """

    def __init__(self, guarantee: Guarantee, source: ByteSource | None = None) -> None:
        self._items = guarantee.unit.max_items
        self._source = source
        self._noises: dict[Cost, DiscreteLaplace | DiscreteGaussian] = {}

    def noise(self, cost: Cost) -> DiscreteLaplace | DiscreteGaussian:
        if cost not in self._noises:
            self._noises[cost] = (
                DiscreteLaplace(self._items / cost.epsilon, source=self._source)
                if cost.epsilon
                else DiscreteGaussian(Fraction(self._items**2) / (2 * cost.rho), source=self._source)
            )
        return self._noises[cost]

    def variance(self, cost: Cost) -> float:
        return self.noise(cost).variance

    def measure(self, counts: Counts, parts: Parts, cost: Cost) -> Whole:
        """The noisy sums. This draws: whoever calls it has charged `cost` before."""
        measured: Whole = self.noise(cost).sample(parts.many)
        if int(np.abs(measured).max()) > FARTHEST:
            raise NoiseOverflow("A noise value is too large to be added to a sum.", "Use a larger epsilon or rho.")
        measured += parts.sums(counts.values.reveal())
        return measured
