"""Where a tick's counts, added up by parts of a map, meet noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter, NoiseOverflow
from hubbub.noise import ByteSource, DiscreteGaussian, DiscreteLaplace
from hubbub.privacy import Guarantee
from hubbub.released import Cost
from hubbub.spatial.blocks import Blocks

FARTHEST = 2**62
Whole = NDArray[np.int64]


class Parts:
    """A partition of the keys: `of` says for each key which part it belongs to; every part has a key.

    Where all keys of each square of `blocks` are in one part, sums are made of squares: faster, and the same.
    """

    def __init__(self, of: Whole, many: int, blocks: Blocks | None = None) -> None:
        self.of = of
        self.many = many
        self._blocks = blocks
        self._square = of if blocks is None else blocks.first(of)
        self._order = np.argsort(self._square, kind="stable")
        self._starts = np.searchsorted(self._square[self._order], np.arange(many))
        if len(self._starts) != many or (np.diff(self._starts, append=len(self._square)) <= 0).any():
            # Of a part without keys `reduceat` would tell the count of another one, a second time.
            raise InvalidParameter("Every part of a map must have a key.", "Number parts without gaps, from 0 on.")
        self._alone = many == len(self._square) and bool((self._order == np.arange(many)).all())

    def sums(self, values: Whole) -> Whole:
        """Added up exactly, in whole numbers: a sum of floats would round, and rounding can hide or show someone."""
        folded = values if self._blocks is None else self._blocks.sums(values)
        if self._alone:
            return folded.copy()
        return np.add.reduceat(folded[self._order], self._starts)

    def laid_out(self, of_parts: NDArray[Any]) -> NDArray[Any]:
        """For each key what its part has, in an array of its own; of several vectors, one a row, in one array."""
        squares = of_parts.take(self._square, axis=-1)
        return squares if self._blocks is None else self._blocks.laid_out(squares)


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
