"""What a selector chose, and how good it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NOTHING = -1


@dataclass(frozen=True, eq=False)
class Choice:
    """At most k results for one generalised context, the most useful first.

    `value` is what they are expected to bring, less what sending them costs; `bound` is what no choice of at most as
    many can exceed; `everything` what sending all results that are not banned would bring, before cost. `best[c]` says
    which of the results is the best in context c, or -1 where none is worth showing.
    """

    results: tuple[str, ...]
    value: float
    bound: float
    everything: float
    gains: tuple[float, ...]
    best: NDArray[np.int16]

    @property
    def quality(self) -> float:
        """At least this part of the best possible choice; never below 1 - 1/e where sending costs nothing."""
        return min(1.0, self.value / self.bound) if self.bound > 0 else 1.0

    def __repr__(self) -> str:
        return f"Choice({len(self.results)} results, value {self.value:.4g}, at least {self.quality:.0%} of the best)"
