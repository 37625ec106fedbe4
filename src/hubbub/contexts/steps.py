"""A chain in numbers that planners and adversaries reckon with: in floating point with a proved margin, or exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidModel

Array: TypeAlias = NDArray[Any]
"""Either floating-point numbers, or objects that are all `Fraction`."""

MARGIN = 1e-9
"""What a comparison in floating point leaves free, so that it holds in exact arithmetic too (proofs/contexts.md, 4)."""

TINY = 1e-200
"""A possible output that is less likely than this (beside its alternatives) counts as a breach: numbers near the
smallest that floating point knows have lost their digits."""

_LARGEST = 1_000_000


@dataclass(frozen=True)
class Steps:
    """`first[i]` = Pr[X_0 = i], `moves[t - 1][i, j]` = Pr[X_t = j | X_{t-1} = i], `prior[t, i]` = Pr[X_t = i]."""

    first: Array
    moves: Array
    exact: bool = False
    prior: Array = field(init=False)

    def __post_init__(self) -> None:
        # Each step of a reckoning sums n products; all terms are at least 0, so relative errors only add up.
        if not self.exact and (self.ticks + 2) * (2 * self.size + 8) > _LARGEST:
            raise InvalidModel(
                f"A chain of {self.size} contexts and {self.ticks} ticks is larger than what the margin against "
                "rounding is proved for.",
                "Take fewer ticks a day, or join contexts.",
            )
        prior = [self.first]
        for move in self.moves:
            prior.append(prior[-1] @ move)
        object.__setattr__(self, "prior", np.array(prior))

    @property
    def size(self) -> int:
        return int(self.first.shape[0])

    @property
    def ticks(self) -> int:
        return len(self.moves) + 1

    @property
    def margin(self) -> float | Fraction:
        return Fraction(0) if self.exact else MARGIN

    def number(self, value: Fraction) -> float | Fraction:
        return value if self.exact else float(value)

    def zeros(self, *shape: int) -> Array:
        return np.full(shape, Fraction(0), dtype=object) if self.exact else np.zeros(shape)

    def backwards(self) -> Steps:
        """The same days told from their end: also a Markov chain, by Bayes' rule."""
        moves = []
        for tick in range(self.ticks - 1, 0, -1):
            joint = self.prior[tick - 1][:, None] * self.moves[tick - 1]
            total = joint.sum(axis=0)
            safe = np.where(total > 0, total, 1)
            moves.append((joint / safe).T)
        shape = (self.ticks - 1, self.size, self.size)
        return Steps(self.prior[-1], np.array(moves, dtype=self.first.dtype).reshape(shape), self.exact)
