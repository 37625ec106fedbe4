"""The strategies that `auto` chooses among, and how much each uses for ranges of every length."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hubbub.ranges.fenwick import Fenwick
from hubbub.ranges.history import length_grid
from hubbub.ranges.strategy import Strategy
from hubbub.ranges.toeplitz import LARGEST, Toeplitz
from hubbub.ranges.tree import Tree

_SIDES = (4, 6, 8, 11, 16, 23, 32, 45, 64)
_TRUSTS = (Fraction(7, 8), Fraction(15, 16))
"""How far the top is believed against the sum of its children: up to 3 % better than believing it alone."""

_REACH = 16
_LENGTHS = (1, 8, 64)
"""How long a Toeplitz tree is, in reaches."""


@dataclass(frozen=True)
class Catalogue:
    """Candidates with `uses[candidate, length, level]`, the mean over places; missing levels are 0."""

    strategies: tuple[Strategy, ...]
    grid: NDArray[np.int64]
    uses: NDArray[np.float64]


@lru_cache(maxsize=8)
def catalogue(window: int, pure: bool) -> Catalogue:
    """Made once for a window: half a second for 32,768 ticks."""
    grid = length_grid(window)
    strategies = tuple(strategy for strategy in _candidates(window, pure) if strategy.size <= window)
    tables = [strategy.mean_uses(grid) for strategy in strategies]
    uses = np.zeros((len(strategies), len(grid), max(table.shape[1] for table in tables)))
    for i, table in enumerate(tables):
        uses[i, :, : table.shape[1]] = table
    return Catalogue(strategies, grid, uses)


def heights(window: int) -> range:
    """Heights of Fenwick trees that fit into the window."""
    return range(1, window.bit_length() + 1)


def _candidates(window: int, pure: bool) -> list[Strategy]:
    fenwicks: list[Strategy] = [Fenwick(height) for height in heights(window)]
    two: list[Strategy] = [Tree((k,), trust=trust) for k in _SIDES for trust in (Fraction(3, 4), *_TRUSTS)]
    pairs = [(j, k) for j in _SIDES[1:] for k in _SIDES[1:] if j <= k <= 2 * j]
    three: list[Strategy] = [Tree(pair, trust=trust) for pair in pairs for trust in _TRUSTS]
    four: list[Strategy] = [Tree((k, k, k), trust=trust) for k in (8, 11, 16, 23, 32) for trust in _TRUSTS]
    subtracting: list[Strategy] = [Tree((k,) * depth, subtracts=True) for k in (5, 9, 13, 17) for depth in (2, 3)]
    toeplitz: list[Strategy] = [] if pure else _toeplitz(window)
    return [*fenwicks, *two, *three, *four, *subtracting, *toeplitz]


def _toeplitz(window: int) -> list[Strategy]:
    longest = min(1 << (window.bit_length() - 1), LARGEST)
    reaches = [_REACH << i for i in range(longest.bit_length()) if _REACH << i <= longest]
    sizes = dict.fromkeys((min(reach * length, longest), reach) for reach in reaches for length in _LENGTHS)
    return [Toeplitz(size, reach=reach) for size, reach in sizes]
