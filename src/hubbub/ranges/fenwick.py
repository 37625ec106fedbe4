"""Fenwick trees: the paper's strategy, and no tree at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.noise import IntegerNoise
from hubbub.ranges.fenwick_walk import FenwickWalk
from hubbub.ranges.strategy import Strategy, checked_shares
from hubbub.ranges.walk import Walk

HIGHEST = 40


@dataclass(frozen=True)
class Fenwick(Strategy):
    """A Fenwick tree of `height` over 2^(height-1) ticks (Wu 2019, section 3.1); height 1 is noise per tick, no tree.

    The node that ends at tick t sums as many ticks as the lowest set bit of t says; a tick lies under at most `height`
    nodes, one per level. The prefix of p ticks takes one node for each set bit of p, and equal leading bits of a and b
    are the same nodes, which cancel in N(b) - N(a).

    A range can need more nodes than the height: positions 4 to 7 need five at height 4 (Wu 2019 says it cannot). The
    sensitivity is the height all the same.

    >>> Fenwick(3).variance(0, 8, [18.0] * 3), Fenwick(4).variance(0, 8, [32.0] * 4)
    (36.0, 32.0)
    >>> sum(Fenwick(4).uses(3, 7))
    5.0
    """

    height: int
    shares: tuple[Fraction, ...] = ()
    kind: ClassVar[str] = "fenwick"

    def __post_init__(self) -> None:
        if whole(self.height, "height") > HIGHEST:
            raise InvalidParameter(f"`height` must be at most {HIGHEST}; got {self.height}.", "Use a smaller window.")
        object.__setattr__(self, "shares", checked_shares(self.shares, self.height))

    @property
    def size(self) -> int:  # type: ignore[override]
        return 1 << (self.height - 1)

    @property
    def spans(self) -> tuple[int, ...]:
        return tuple(1 << j for j in range(self.height))

    def walk(self, noises: Sequence[IntegerNoise], keys: int) -> Walk:
        return FenwickWalk(self, noises, keys)

    @property
    def title(self) -> str:
        return "no tree" if self.height == 1 else f"fenwick of height {self.height}"

    def uses(self, a: int, b: int) -> list[float]:
        top = self.height - 1
        trees_a, trees_b = a >> top, b >> top
        a &= self.size - 1
        b &= self.size - 1
        # Inside one tree the bits above the highest differing one are common nodes.
        counted = top if trees_a != trees_b else (a ^ b).bit_length()
        uses = [0.0] * top
        for j in range(counted):
            uses[j] = float((a >> j & 1) + (b >> j & 1))
        uses.append(float(trees_b - trees_a))
        return uses

    def mean_uses(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """In closed form: min(1, length/2^j) nodes of level j < height-1, and length/2^(height-1) whole trees.

        Level j counts if a and b differ above bit j-1, and then its bits of a and b are 1 half of the time each; if the
        range is shorter than 2^j they differ with chance length/2^j, and then exactly one of the two bits is 1. This
        stands in place of Wu 2019, Eq. 16, which as printed always prefers height 1.
        """
        spans = np.array(self.spans, dtype=np.float64)
        uses: NDArray[np.float64] = np.asarray(lengths, dtype=np.float64)[:, None] / spans
        uses[:, :-1] = np.minimum(uses[:, :-1], 1.0)
        return uses

    def step_uses(self, first: int, count: int) -> NDArray[np.float64]:
        before = np.arange(first, first + count) & (self.size - 1)
        after = before + 1
        levels = np.arange(self.height)
        differ = (before[:, None] ^ after[:, None]) >> levels > 0
        bits = (before[:, None] >> levels & 1) + (after[:, None] >> levels & 1)
        uses: NDArray[np.float64] = np.where(differ, bits, 0).astype(np.float64)
        return uses

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "height": self.height, "shares": [str(share) for share in self.shares]}
