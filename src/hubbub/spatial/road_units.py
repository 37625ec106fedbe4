"""The parts of a road map that are measured: stretches of road, and a few groups of them. Public, made once a map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

from hubbub.released import Domain
from hubbub.spatial.kept_maps import kept
from hubbub.spatial.noisy_sums import Parts
from hubbub.spatial.road_map import RoadCells
from hubbub.spatial.road_network import RoadNetwork

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

ACROSS, UPWARD, KINDS = 4, 4, 2
"""Groups: so many strips from west to east, parts of each from south to north, and quiet and busy roads of each part.
Each is expected to hold as many vehicles as any other."""
REGIONS = 12
"""So many regions a side: squares of the grid, each with the stretches whose middle lies in it."""
_LOCAL = 0.1
"""Traffic that no map tells of, beside that of ways through the city, as a share of the average road's."""
_DOUBT = 0.1, 10.0
SLOWER = 0.9
"""How fast one drives on a road of a class, relative to the class before. Where it is a little wrong little is lost;
without it a wide avenue is expected to hold no more than the lane beside it."""
_ASKED = 1200
"""Ways from so many junctions tell how busy a road is likely to be."""


@dataclass(frozen=True, eq=False)
class RoadUnits:
    """How a vector of cells is taken apart: a cell is a share of a stretch, a stretch a share of a group.

    | name | for each | meaning |
    |---|---|---|
    | `stretches.of` | cell | which stretch it belongs to: that of the road with most traffic to expect in it |
    | `cell_share` | cell | which share of its stretch's vehicles it is expected to hold |
    | `group` | stretch | which group it belongs to |
    | `region` | stretch | which region its middle lies in |
    | `stretch_share` | stretch | which share of its group's vehicles it is expected to hold |
    """

    stretches: Parts
    groups: Parts
    group: Whole
    region: Whole
    cell_share: Array
    stretch_share: Array

    @cached_property
    def doubt(self) -> Array:
        """Of each stretch: by how much less the map is to be trusted there than on an average one, as a variance.

        What the map does not know of (a school, a car park, a way around) adds to quiet roads and busy ones alike, and
        so is much for a quiet one: the variance of its factor grows as its density of traffic falls.
        """
        cells = np.bincount(self.stretches.of, minlength=len(self.group))
        density = self.stretch_share / self.groups.many * len(self.cell_share) / cells
        return np.clip(1 / np.maximum(density, 1e-9), *_DOUBT)

    @classmethod
    def of(cls, keys: Domain) -> RoadUnits:
        """Of roads on a grid; in any other domain each key is a stretch, and all of them one group."""
        if isinstance(keys, RoadCells):
            return _of_roads(keys)
        size = len(keys)
        one = np.ones(size)
        stretches, groups = Parts(np.arange(size), size), Parts(np.zeros(size, dtype=np.int64), 1)
        return cls(stretches, groups, np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64), one, one / size)


@lru_cache(maxsize=4)
def _of_roads(cells: RoadCells) -> RoadUnits:
    network, (line, cell, share) = cells.network, cells.touched
    busy = through_traffic(network)
    density = busy + _LOCAL * busy.mean()
    expected = share * (network.lengths * density)[line]
    expected += 1e-9 * expected.mean()  # a cell that a road only touches belongs to somebody too
    order = np.lexsort((expected, cell))
    last = np.append(cell[order][1:] != cell[order][:-1], True)
    stretch = stretches_of(network)[line[order][last]]
    used, of = np.unique(stretch, return_inverse=True)
    many = len(used)
    in_cell: Array = np.bincount(cell, expected, minlength=len(cells)).astype(np.float64)
    in_stretch: Array = np.bincount(of, in_cell, minlength=many).astype(np.float64)
    middles = _middles(cells, of.astype(np.int64), in_cell)
    group = _groups(in_stretch, np.bincount(of, minlength=many), *middles)
    in_group = np.bincount(group, in_stretch)
    return RoadUnits(
        Parts(of.astype(np.int64), many),
        Parts(group[of], len(in_group)),
        group,
        _regions(*middles),
        in_cell / in_stretch[of],
        in_stretch / in_group[group],
    )


def _groups(expected: Array, cells: Whole, row: Array, column: Array) -> Whole:
    """Stretches by where they are, and by how dense their traffic is expected to be."""
    group = np.zeros(len(expected), dtype=np.int64)
    for key, many in ((column, ACROSS), (row, UPWARD), (expected / cells, KINDS)):
        group = _divided(group, key, expected, many)
    return group


def _divided(group: Whole, key: Array, expected: Array, many: int) -> Whole:
    """Each group cut by `key` into as many of equal expected traffic, numbered without gaps."""
    order = np.lexsort((key, group))
    so_far = np.cumsum(expected[order]) - expected[order] / 2
    whole = np.bincount(group, expected)
    begin = np.cumsum(whole) - whole
    at = (so_far - begin[group[order]]) / whole[group[order]]
    finer = np.empty(len(group), dtype=np.int64)
    finer[order] = group[order] * many + np.clip(many * at, 0, many - 1).astype(np.int64)
    numbered: Whole = np.unique(finer, return_inverse=True)[1].astype(np.int64)
    return numbered


def _middles(cells: RoadCells, of: Whole, weight: Array) -> tuple[Array, Array]:
    """The middle of each stretch, as shares of the grid's height and width."""
    rows, columns = np.divmod(cells.codes, cells.grid.columns)
    total = np.bincount(of, weight)
    row = np.bincount(of, weight * (rows + 0.5)) / (total * cells.grid.rows)
    column = np.bincount(of, weight * (columns + 0.5)) / (total * cells.grid.columns)
    return row, column


def _regions(row: Array, column: Array) -> Whole:
    """By the middle of each stretch, numbered without gaps."""
    down, along = (np.minimum(one * REGIONS, REGIONS - 1).astype(np.int64) for one in (row, column))
    numbered: Whole = np.unique(down * REGIONS + along, return_inverse=True)[1].astype(np.int64)
    return numbered


def stretches_of(network: RoadNetwork) -> Whole:
    """For each road which stretch it belongs to: roads in a row, without a junction where one could turn off."""
    many = len(network.start)
    ends = np.concatenate([network.start, network.end])
    road = np.concatenate([np.arange(many), np.arange(many)])
    order = np.argsort(ends, kind="stable")
    ends, road = ends[order], road[order]
    joined = (ends[1:] == ends[:-1]) & (np.bincount(ends)[ends[1:]] == 2)
    graph = coo_array((np.ones(int(joined.sum())), (road[1:][joined], road[:-1][joined])), shape=(many, many))
    labels: Whole = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels


def _through(network: RoadNetwork) -> Array:
    size, many = len(network.x), len(network.start)
    graph = coo_array(
        (network.lengths / SLOWER**network.kind, (network.start, network.end)), shape=(size, size)
    ).tocsr()
    asked = np.unique(np.linspace(0, size - 1, min(size, _ASKED)).astype(np.int64))
    far, before = dijkstra(graph, directed=False, indices=asked, return_predecessors=True)
    # Every junction sends one vehicle to each that asks. From the farthest on, each hands on all that it was handed.
    row = np.arange(len(asked))
    passing = np.isfinite(far).astype(np.float64)
    for junction in np.argsort(-np.where(np.isfinite(far), far, -1.0), axis=1).T:
        ahead = before[row, junction]
        moves = ahead >= 0
        passing[row[moves], ahead[moves]] += passing[row[moves], junction[moves]]
    traffic = np.zeros(many)
    for one, two in ((network.start, network.end), (network.end, network.start)):
        for begin in range(0, many, 512):  # a table of all roads and all askers would be large
            some = slice(begin, begin + 512)
            traffic[some] += np.where(before[:, one[some]] == two[some], passing[:, one[some]], 0.0).sum(axis=0)
    return traffic / (len(asked) * size)


@lru_cache(maxsize=4)
def through_traffic(network: RoadNetwork) -> Array:
    """For each road the share of fastest ways that lead over it: how busy it is if all drive everywhere.

    A road of the next narrower class is taken to be a little slower. `RoadNetwork.centrality` counts roads instead; in
    the simulation of Fan 2014 it says less of where vehicles are. Computed once a network and machine.
    """
    found = kept(f"through-1-{SLOWER}-{_ASKED}-{network.digest}", len(network.start), lambda: _through(network))
    found.setflags(write=False)
    return found
