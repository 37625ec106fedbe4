"""Mechanisms of a map, each broken in one way that a reviewer might overlook."""

# ruff: noqa: ARG002 - some look away
from fractions import Fraction

import numpy as np

from hubbub.noise import DiscreteGaussian
from hubbub.released import Cost
from hubbub.spatial import Quadtree, RoadCells, RoadGrid, RoadNetwork, Roads
from hubbub.spatial.noisy_sums import NoisySums


def three_cells() -> RoadGrid:
    """A road over three cells: the smallest road map that the checks take."""
    return RoadGrid(3, 1, network=RoadNetwork([0.1, 2.9], [0.5, 0.5], start=[0], end=[1]), bounds=(0, 0, 3, 1))


class _Bolder(NoisySums):
    """Noise of 70 % of its scale, or half its variance."""

    def measure(self, counts, parts, cost):
        return super().measure(counts, parts, Cost(cost.epsilon * 10 / 7, cost.rho * 2))


class _Loud(NoisySums):
    """Noise of a third of its scale."""

    def measure(self, counts, parts, cost):
        return super().measure(counts, parts, Cost(cost.epsilon * 3, cost.rho * 9))


class _SquareForgotten(NoisySums):
    """The variance c/(2 r), which is enough for separate counts and not for their sums."""

    def noise(self, cost):
        if cost.epsilon:
            return super().noise(cost)
        return DiscreteGaussian(Fraction(self._items) / (2 * cost.rho), source=self._source)


class _OneItem(NoisySums):
    """Noise for units with one item a tick."""

    def __init__(self, guarantee, source=None):
        super().__init__(guarantee, source)
        self._items = 1


def _with(base, sums):
    class Broken(base):
        def __init__(self, keys, guarantee, *, source=None, **options):
            super().__init__(keys, guarantee, source=source, **options)
            self._sums = sums(guarantee, source)

    Broken.__name__ = base.__name__ + sums.__name__
    return Broken


class UnpaidLook(Roads):
    """Looks at stretches in every tick, and pays for those that were planned."""

    def _prices(self, look):
        return super()._prices(look=True)


class OneLookTooMany(Roads):
    """Plans one look more than it has shared the budget among, and looks at once."""

    def __init__(self, keys, guarantee, *, source=None, **options):
        super().__init__(keys, guarantee, source=source, **options)
        self._looks += 1

    def _looked_at(self, tick):
        super()._looked_at(tick)
        self._due = tick.index + 1


class UnpaidTotal(Roads):
    """Measures the total a second time, for nothing."""

    def _measure(self, counts, cost):
        measured = super()._measure(counts, cost)
        again = self._sums.measure(counts, self._whole, self._priced(self._total_price))
        return measured._replace(extra={**measured.extra, "again": again})


class LooksWhereItIsBusy(Roads):
    """Whether a tick is a look hangs on the counts."""

    def check(self, counts):
        self._due = 0 if counts.values.reveal().sum() % 2 else 10**9
        return super().check(counts)


class SplitsByTraffic(Quadtree):
    """Shares a part out by where people are, instead of evenly."""

    def _measure(self, counts, cost):
        measured = super()._measure(counts, cost)
        true = counts.values.reveal()
        share = true / max(int(true.sum()), 1)
        return measured._replace(values=np.rint(share * measured.extra["parts"].sum()).astype(np.int64))


ON_ROADS = (
    *(_with(Roads, sums) for sums in (_Bolder, _SquareForgotten, _OneItem)),
    *(UnpaidLook, UnpaidTotal, LooksWhereItIsBusy),
)
ON_GRIDS = (*(_with(Quadtree, sums) for sums in (_Bolder, _SquareForgotten, _OneItem)), SplitsByTraffic)
CELLS, GRID = RoadCells(three_cells()), three_cells()
BROKEN = [*((one, CELLS) for one in ON_ROADS), *((one, GRID) for one in ON_GRIDS)]
LOUD = [(_with(Roads, _Loud), CELLS), (_with(Quadtree, _Loud), GRID)]
"""So little noise that an audit from outside finds it too."""
