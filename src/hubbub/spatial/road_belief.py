"""What is believed of the traffic on a road map, and what follows for any set of its cells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hubbub.spatial.road_units import RoadUnits
from hubbub.spatial.trend import Trend

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

GROUP_DRIFT = 2e-4
"""By how much a group's share of the total moves, as a variance relative to its square."""
STRETCH_DRIFT = 3e-4
"""The same of a stretch's share of its group."""
REGION_SPREAD, REGION_DRIFT = 0.09, 2e-4
"""How far all of a region may lie from what the map says, as a relative variance, and by how much that moves."""
GROUP_SPREAD = 0.5
"""How far a group's share may lie from the average group's, before anything is known, relative to it."""
STRETCH_SPREAD, _UNSURE = 0.2, 0.2
"""The same of stretches, as a variance, and how unsure that is: the first look tells better where noise allows it."""
WITHIN = 0.07
"""By how much a cell's share of its stretch differs from what the map says, relative to it; simulated, not measured."""
_LEAST_SPREAD, _MOST_SPREAD = 0.01, 4.0


@dataclass(frozen=True, eq=False)
class RoadBelief:
    """The total, shares of groups, and for each stretch a factor on what the map expects of it; with their errors.

    | symbol | here | meaning |
    |---|---|---|
    | N | `trend` | all vehicles and by how many they grow in a tick |
    | h, V | `share`, `share_variance` | of a group: its share of all vehicles |
    | k, W | `region`, `region_variance` | of a region: a factor on what the map expects of all its stretches |
    | f, P | `factor`, `factor_variance` | of a stretch: N h k s f vehicles are expected, where s is the map's share |
    | x, S | `now`, `now_variance` | of a stretch: its vehicles in this tick, and how wrong, were N, h, k known |

    Vehicles come and go, so that a stretch where m are expected holds m ± sqrt(m): this stays in S in ticks that nobody
    looked at. Everything here rests on noisy values alone.
    """

    units: RoadUnits
    trend: Trend
    share: Array
    share_variance: Array
    region: Array
    region_variance: Array
    factor: Array
    factor_variance: Array
    now: Array
    now_variance: Array

    # ── steps in time ────────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def begin(cls, units: RoadUnits, total: float, variance: float) -> RoadBelief:
        """After the first noisy total: groups were made to be of the same size, so each has the same share."""
        groups, many = units.groups.many, len(units.group)
        share, one = np.full(groups, 1 / groups), np.ones(many)
        spread = np.full(groups, (GROUP_SPREAD / groups) ** 2 if groups > 1 else 0.0)
        regions = int(units.region.max()) + 1
        even = np.ones(regions), np.full(regions, REGION_SPREAD if regions > 1 else 0.0)
        trend = Trend.begin(total, variance)
        return cls(units, trend, share, spread, *even, one, np.full(many, np.nan), one, one)

    def later(self, ticks: int = 1) -> RoadBelief:
        """After as many ticks that nobody measured."""
        moves = GROUP_DRIFT if len(self.share) > 1 else 0.0
        return replace(
            self,
            trend=self.trend.later(ticks),
            share_variance=self.share_variance + ticks * moves * self.share**2,
            region_variance=self.region_variance + ticks * (REGION_DRIFT if len(self.region) > 1 else 0.0),
            factor_variance=self.factor_variance + ticks * STRETCH_DRIFT,
        )

    def with_total(self, total: float, variance: float) -> RoadBelief:
        return replace(self, trend=self.trend.with_total(total, variance))

    def with_groups(self, totals: Array, variance: Array) -> RoadBelief:
        """Correct the shares of groups by their noisy totals."""
        level = self.trend.level
        expected = level * self.share
        gain = level * self.share_variance / (level**2 * self.share_variance + variance + expected)
        share = np.maximum(self.share + gain * (totals - expected), 1e-3 / len(self.share))
        left = np.maximum((1 - gain * level) * self.share_variance, 0.0)
        return replace(self, share=share / share.sum(), share_variance=left)

    def with_stretches(self, counts: Array, variance: float) -> RoadBelief:
        """Correct regions, then factors, by noisy counts of stretches; what is released of this tick rests on them."""
        spread = self.factor_variance
        if np.isnan(spread[0]):  # the first look tells how far stretches differ from what the map says
            doubt = self.units.doubt
            spread = np.minimum(_spread(counts, self._plain(), variance, doubt) * doubt, _MOST_SPREAD)
        believed = replace(self, factor_variance=spread)._with_regions(counts, variance)
        plain = believed._plain()
        expected = plain * self.factor
        moves = plain**2 * spread + np.maximum(expected, plain * 0.1)
        seen = moves + variance
        off = counts - expected
        gain = plain * spread / seen
        factor = self._cut(self.factor + gain * off, plain)
        factor = factor / np.maximum(self._in_groups(plain * factor) / self._in_groups(plain), 1e-9)[self.units.group]
        return replace(
            believed,
            factor=factor,
            factor_variance=np.maximum((1 - gain * plain) * spread, 1e-12),
            now=self._cut(expected + moves / seen * off, np.ones(len(off))),
            now_variance=np.maximum(moves * variance / seen, 1e-12),
        )

    def _with_regions(self, counts: Array, variance: float) -> RoadBelief:
        plain = self._plain()
        expected = plain * self.factor
        own = plain**2 * self.factor_variance + expected + variance
        slope = self._in_regions(expected) / self.region
        gain = slope * self.region_variance / (slope**2 * self.region_variance + self._in_regions(own))
        region = np.maximum(self.region + gain * self._in_regions(counts - expected), 0.05)
        return replace(self, region=region, region_variance=(1 - gain * slope) * self.region_variance)

    def _cut(self, values: Array, weights: Array) -> Array:
        """Nothing below zero; what that adds is taken off the others of the region, so that large areas add up."""
        kept = np.maximum(values, 0.0)
        before, after = self._in_regions(weights * values), self._in_regions(weights * kept)
        cut: Array = kept * (np.maximum(before, 0.1 * after) / np.maximum(after, 1e-9))[self.units.region]
        return cut

    def unseen(self) -> RoadBelief:
        """What is to be expected of stretches in a tick in which nobody looked at them."""
        plain = self._plain()
        now = plain * self.factor
        guess = np.minimum(STRETCH_SPREAD * self.units.doubt, _MOST_SPREAD)
        spread = np.where(np.isnan(self.factor_variance), guess, self.factor_variance)
        return replace(self, now=now, now_variance=plain**2 * spread + now)

    def _plain(self) -> Array:
        """What is expected of each stretch if the map were right."""
        units = self.units
        plain: Array = (self.trend.level * self.share)[units.group] * self.region[units.region] * units.stretch_share
        return plain

    def _in_groups(self, of_stretches: Array) -> Array:
        sums: Array = np.bincount(self.units.group, of_stretches, minlength=len(self.share)).astype(np.float64)
        return sums

    def _in_regions(self, of_stretches: Array) -> Array:
        sums: Array = np.bincount(self.units.region, of_stretches, minlength=len(self.region)).astype(np.float64)
        return sums

    # ── what follows ─────────────────────────────────────────────────────────────────────────────────────────────

    def cells(self) -> tuple[Array, Array]:
        """Of every cell, how many are expected in it, and the variance of that error. Cells of an area add up."""
        share, of = self.units.cell_share, self.units.stretches.of
        now, own = self.now[of], self.now_variance[of]
        value = share * now
        # A cell's group in error by a part of its share: the others' shares are then too large or small together.
        shares = (1 / self.share - 1) ** 2 * self.share_variance + (self.share_variance.sum() - self.share_variance)
        common = self.trend.relative_variance + shares
        together = common[self.units.group] + (self.region_variance / self.region**2)[self.units.region]
        variance = value**2 * together[of] + share**2 * own + (1 - share) * (value + (WITHIN * value) ** 2)
        return value, variance


def _spread(counts: Array, plain: Array, variance: float, doubt: Array) -> float:
    """How far stretches lie from what the map says, as a relative variance: what a look tells, joined with a guess."""
    weight = max(float((plain**2 * doubt).sum()), 1.0)
    excess = float(((counts - plain) ** 2 - variance - plain).sum()) / weight
    unsure = 2.3 * (variance + float(plain.mean())) * np.sqrt(len(plain)) / weight
    joined = (STRETCH_SPREAD / _UNSURE**2 + excess / unsure**2) / (1 / _UNSURE**2 + 1 / unsure**2)
    return float(min(max(joined, _LEAST_SPREAD), _MOST_SPREAD))
