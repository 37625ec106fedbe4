"""Places of a map in areas, and these in larger ones. Public: made of the map alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Domain, Grid
from hubbub.released.maps import Map
from hubbub.spatial.hexagons import Hexagons
from hubbub.spatial.noisy_sums import Parts

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

COARSE = 32
"""Areas of the first level, at most: so many are measured in every tick."""
_HALVINGS = 3
"""Between two levels areas are halved so often: one has eight below it."""


@dataclass(frozen=True, eq=False)
class AreaTree:
    """Levels of areas, each a partition of the keys: the coarsest first, and last the keys themselves.

    >>> tree = AreaTree.of(Grid(16, 16, bounds=(0, 0, 16, 16)))
    >>> [level.many for level in tree.levels], tree.parents[1][:3].tolist()
    ([32, 256], [0, 0, 1])
    """

    levels: tuple[Parts, ...]
    parents: tuple[Whole, ...]
    """For each level, which area of the level above each of its areas lies in; the first lie in the one whole."""

    expected: tuple[Array, ...]
    """For each level, which share of the area above each has if all keys are alike."""

    @classmethod
    def of(cls, keys: Domain) -> AreaTree:
        """Hexagons by their parents in H3; other places by halving where their centres lie; other keys by order."""
        return _tree(keys)

    def above(self, level: int) -> int:
        """How many areas lie above those of a level."""
        return self.levels[level - 1].many if level else 1

    def added(self, level: int, values: Array) -> Array:
        """Sums over the areas below each area of the level above."""
        return np.bincount(self.parents[level], values, minlength=self.above(level)).astype(np.float64)


@lru_cache(maxsize=4)
def _tree(keys: Domain) -> AreaTree:
    size = len(keys)
    found = [np.arange(size, dtype=np.int64)]
    for coarser in _hexagons(keys) if isinstance(keys, Hexagons) else _halved(keys):
        found.append(coarser)
    # A single area is the whole, which is measured anyway.
    kept = [of for of in found[::-1] if of is found[0] or int(of.max()) > 0]
    levels = tuple(Parts(of, int(of.max()) + 1) for of in kept)
    parents, expected = [], []
    for at, level in enumerate(levels):
        above = np.zeros(size, dtype=np.int64) if at == 0 else levels[at - 1].of
        parent = np.zeros(level.many, dtype=np.int64)
        parent[level.of] = above
        held = np.bincount(level.of, minlength=level.many).astype(np.float64)
        parents.append(parent)
        expected.append(held / np.bincount(parent, held)[parent])
    return AreaTree(levels, tuple(parents), tuple(expected))


def _hexagons(keys: Hexagons) -> list[Whole]:
    """Up to the first level that is coarse enough."""
    found: list[Whole] = []
    many = len(keys)
    for resolution in range(keys.resolution - 1, -1, -1):
        if many <= COARSE:
            break
        coarser, of = keys.parents(resolution)
        many = len(coarser)
        found.append(of)
    return found


def _halved(keys: Domain) -> list[Whole]:
    """Places halved again and again, each time across the longer side; and which of these partitions are levels."""
    x, y = _where(keys)
    times = max(len(keys) - 1, 0).bit_length()
    chosen = [times]
    while 1 << chosen[-1] > COARSE:
        chosen.append(chosen[-1] - _HALVINGS)
    of, found = np.zeros(len(keys), dtype=np.int64), []
    for time in range(1, chosen[1] + 1 if len(chosen) > 1 else 1):
        of = _cut(of, x, y)
        if time in chosen:
            found.append(of)
    return found[::-1]


def _cut(of: Whole, x: Array, y: Array) -> Whole:
    """Every part in two of as many places each, by the coordinate in which it is wider."""
    many = int(of.max()) + 1
    wide = []
    for one in (x, y):
        low, high = np.full(many, np.inf), np.full(many, -np.inf)
        np.minimum.at(low, of, one)
        np.maximum.at(high, of, one)
        wide.append(high - low)
    along = np.where((wide[0] >= wide[1])[of], x, y)
    order = np.lexsort((along, of))
    size = np.bincount(of, minlength=many)
    rank = np.arange(len(of)) - (np.cumsum(size) - size)[of[order]]
    finer = np.empty(len(of), dtype=np.int64)
    finer[order] = 2 * of[order] + (rank >= (size[of[order]] + 1) // 2)
    numbered: Whole = np.unique(finer, return_inverse=True)[1].astype(np.int64)
    return numbered


def _where(keys: Any) -> tuple[Array, Array]:
    at = np.arange(len(keys))
    if isinstance(keys, Grid):  # also one that lies nowhere in particular
        return (at % keys.columns).astype(np.float64), (at // keys.columns).astype(np.float64)
    if isinstance(keys, Map):
        return keys.centres(at)
    return at.astype(np.float64), np.zeros(len(at))
