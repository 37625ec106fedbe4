"""What is believed of the shares of areas in larger ones, and what follows for this tick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.spatial.area_tree import AreaTree
from hubbub.spatial.trend import Trend

Array = NDArray[np.float64]
Sums = list[tuple[Array, Array]]
"""Noisy sums of the first levels with the variances of their noise."""

SPREAD, _UNSURE = 1.0, 0.5
"""How far shares lie from even ones, as a relative variance, and how unsure that is: the first sums tell better."""
_LEAST_SPREAD, _MOST_SPREAD = 0.02, 30.0
_LEAST_SHARE = 1e-3
"""Relative to an even share: nothing is believed to be empty for ever."""


@dataclass(frozen=True, eq=False)
class Level:
    """Of one level, in this tick: how many are in each area, and how wrong that is, were those above known.

    `lasting` is the variance of what is wrong in the next tick too, `fresh` of what is not: who happens to be there.
    `kept` is which part of the lasting error was there a tick before.
    """

    now: Array
    lasting: Array
    fresh: Array
    kept: Array | None = None


@dataclass(frozen=True, eq=False)
class AreaBelief:
    """The total with its trend, and for each area its share of the one above it; with their errors.

    | symbol | here | meaning |
    |---|---|---|
    | N | `trend` | all, and by how many they grow |
    | s, V | `share`, `variance` | of an area, by level: its share of the area above; NaN where no look told yet |

    Everything here rests on noisy values alone.
    """

    tree: AreaTree
    trend: Trend
    share: tuple[Array, ...]
    variance: tuple[Array, ...]

    @classmethod
    def begin(cls, tree: AreaTree, total: float, variance: float) -> AreaBelief:
        unknown = tuple(np.full(level.many, np.nan) for level in tree.levels)
        return cls(tree, Trend.begin(total, variance), tree.expected, unknown)

    def later(self, drift: float, ticks: int = 1) -> AreaBelief:
        """After as many ticks that nobody measured; `drift` is by how much shares move in one, relative."""
        moved = tuple(v + ticks * drift * s**2 for s, v in zip(self.share, self.variance, strict=True))
        return AreaBelief(self.tree, self.trend.later(ticks), self.share, moved)

    def expected(self) -> list[Level]:
        """What is to be expected of a tick that nobody measured, level by level."""
        return self._down([], np.array([self.trend.level]))[1]

    def seen(self, sums: Sums, trend: Trend) -> tuple[AreaBelief, list[Level]]:
        """With noisy sums of the first levels, made consistent from below (`consistent`), and the trend they gave."""
        (share, variance), levels = self._down(sums, np.array([trend.level]))
        return AreaBelief(self.tree, trend, share, variance), levels

    def _down(self, sums: Sums, now: Array) -> tuple[tuple[tuple[Array, ...], tuple[Array, ...]], list[Level]]:
        """From the whole down: each area's children are given what it has, by their shares and what was measured."""
        shares, variances, levels = [], [], []
        for at in range(len(self.tree.levels)):
            above = np.maximum(now, 1e-9)[self.tree.parents[at]]
            share, variance = self.share[at], self.variance[at]
            if at < len(sums):
                share, variance, level = self._measured(at, above, *sums[at])
            else:
                unlooked = np.isnan(variance)
                lasting = np.where(unlooked, SPREAD * share**2, variance) * above**2
                counts = above * share
                level = Level(counts, lasting, counts)  # who is there happens as often as not: its own variance
            shares.append(share)
            variances.append(variance)
            levels.append(level)
            now = level.now
        return (tuple(shares), tuple(variances)), levels

    def _measured(self, at: int, above: Array, sums: Array, noise: Array) -> tuple[Array, Array, Level]:
        tree, share, variance = self.tree, self.share[at], self.variance[at]
        parents = tree.parents[at]
        expected = above * share
        if np.isnan(variance[0]):
            variance = _spread(sums, expected, noise) * share**2
        lasting = above**2 * variance
        fresh = np.maximum(expected, 0.1 * above * tree.expected[at])
        moves = lasting + fresh
        seen, off = moves + noise, sums - expected
        gain = lasting / seen
        left = moves * noise / seen
        now = expected + moves / seen * off
        # Children add up to the area above: what is missing is taken from where most may be wrong (least squares).
        now = now + left * ((tree.added(at, expected) - tree.added(at, now)) / tree.added(at, left))[parents]
        now = self._cut(at, now, tree.added(at, expected))
        better = np.maximum(share + gain / above * off, _LEAST_SHARE * tree.expected[at])
        better = better / tree.added(at, better)[parents]
        after = np.maximum((1 - gain) * variance, 1e-15)
        # Of the error of this tick that part stays which is an error of the share.
        stays = np.minimum(left, above**2 * after)
        kept = None if np.isnan(self.variance[at][0]) else 1 - gain
        return better, after, Level(now, stays, left - stays, kept)

    def _cut(self, at: int, values: Array, whole: Array) -> Array:
        """Nothing below zero; what that adds is taken off the others, so that areas still add up."""
        kept = np.maximum(values, 0.0)
        held = self.tree.added(at, kept)
        even = whole[self.tree.parents[at]] * self.tree.expected[at]
        scale = (whole / np.maximum(held, 1e-12))[self.tree.parents[at]]
        return np.where(held[self.tree.parents[at]] > 0, kept * scale, even)


def consistent(tree: AreaTree, sums: list[tuple[Array, float]]) -> list[tuple[Array, Array]]:
    """From the finest level that was measured up: each area's own noisy sum joined with that of those below it.

    Both are noisy values of the same, weighed by their variances: the upward half of least squares on a tree.
    """
    found: list[tuple[Array, Array]] = []
    for at in range(len(sums) - 1, -1, -1):
        values, own = sums[at]
        variance = np.full(len(values), own)
        if found:
            below, noise = (tree.added(at + 1, one) for one in found[-1])
            joined = 1 / (1 / variance + 1 / noise)
            values, variance = joined * (values / variance + below / noise), joined
        found.append((values, variance))
    return found[::-1]


def _spread(sums: Array, expected: Array, noise: Array) -> float:
    """How far shares lie from even ones: what the first noisy sums tell, joined with a guess; rather more than less.

    Taken for too even, areas would be told with too narrow intervals for ever. Of few areas, or much noise, sums tell
    little, so that a standard error is added.
    """
    weight, many = max(float((expected**2).sum()), 1.0), len(sums)
    excess = float(((sums - expected) ** 2 - noise - expected).sum()) / weight
    unsure = 2.3 * float(noise.mean() + expected.mean()) * np.sqrt(many) / weight
    unsure = float(np.hypot(unsure, 3 * max(excess, 0.3) * np.sqrt(2 / many)))
    precise = 1 / _UNSURE**2 + 1 / unsure**2
    joined = (SPREAD / _UNSURE**2 + excess / unsure**2) / precise
    return float(min(max(joined + 1 / np.sqrt(precise), _LEAST_SPREAD), _MOST_SPREAD))
