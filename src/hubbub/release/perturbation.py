"""The one place where a tick's counts meet noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter, NoiseOverflow
from hubbub.noise import ByteSource, DiscreteGaussian, DiscreteLaplace
from hubbub.privacy import Guarantee
from hubbub.released import Cost

FARTHEST = 2**62


class Perturbation:
    """Adds exact integer noise to a tick's counts at a given cost.

    | symbol | here | meaning |
    |---|---|---|
    | c | `unit.max_items` | how many counts one unit changes in a tick, each by at most one |
    | e | `cost.epsilon` | Laplace scale c/e: the tick is e-DP for a unit present in it |
    | r | `cost.rho` | Gaussian variance c/(2 r): the tick is r-zCDP for a unit present in it |

    Proof: docs/proofs/perturbation.md (proved).
    """

    def __init__(self, guarantee: Guarantee, source: ByteSource | None = None) -> None:
        self._items = guarantee.unit.max_items
        self._source = source
        self._noises: dict[Cost, DiscreteLaplace | DiscreteGaussian] = {}
        self._priced = Cost.nothing(), 0.0

    def noise(self, cost: Cost) -> DiscreteLaplace | DiscreteGaussian:
        """The distribution added at this cost; a stream uses few costs, so their tables are kept."""
        if cost not in self._noises:
            if cost.is_free:
                raise InvalidParameter("A tick that costs nothing cannot be measured.", "Let it be predicted.")
            if len(self._noises) >= 64:
                self._noises.clear()
            self._noises[cost] = (
                DiscreteLaplace(self._items / cost.epsilon, source=self._source)
                if cost.epsilon
                else DiscreteGaussian(Fraction(self._items) / (2 * cost.rho), source=self._source)
            )
        return self._noises[cost]

    def variance(self, cost: Cost) -> float:
        """Of the noise added at this cost."""
        if cost != self._priced[0]:  # the same at every tick, for nearly every stream
            self._priced = cost, self.noise(cost).variance
        return self._priced[1]

    def measure(self, counts: Counts, cost: Cost) -> NDArray[np.int64]:
        """The noisy counts. This draws: whoever calls it has charged `cost` before."""
        measured: NDArray[np.int64] = self.noise(cost).sample(len(counts.keys))
        # A count is at most 2^52, so below this no sum can wrap. No scale that is allowed comes near it.
        if measured.size and int(np.abs(measured).max()) > FARTHEST:
            raise NoiseOverflow("A noise value is too large to be added to a count.", "Use a larger epsilon or rho.")
        measured += counts.values.reveal()
        return measured
