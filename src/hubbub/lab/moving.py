"""Moving objects on a road network, after Brinkhoff 2002: they start, take the fastest way, and are gone on arrival."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from hubbub.exact import whole
from hubbub.released.domain import Domain
from hubbub.spatial import Map, RoadNetwork

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

_SLOWER = 0.86
"""How fast one may drive on a road of a class, relative to the class before."""

_DESTINATIONS = 1500
"""So many junctions are somebody's destination; ways to each are computed once."""


@dataclass(frozen=True)
class Traffic:
    """How many move, and for how long.

    `trip` is how many ticks an average trip takes. At the start `first` objects are on their way, each at a random
    point of it; in each tick `new` ones leave, at random moments of the tick, from a random junction to another.

    >>> from hubbub.spatial import made_up
    >>> small = Traffic(made_up(200), first=1000, new=50, trip=20)
    >>> x, y = next(small.positions(seed=1))
    >>> len(x)
    1000
    """

    network: RoadNetwork
    first: int = 500_000
    new: int = 25_000
    trip: float = 20.0
    ticks: int = 100

    def __post_init__(self) -> None:
        for name in ("first", "new", "ticks"):
            whole(getattr(self, name), name)

    def positions(self, seed: int) -> Iterator[tuple[Array, Array]]:
        """For every tick, where everybody is who is on the way at its end."""
        draw = np.random.default_rng(seed)
        ways = _Ways(self.network, draw)
        pace = ways.mean_time / self.trip
        moving = ways.departures(self.first, draw)
        # Somewhere on the way, not at its beginning: or a first wave would run through the whole city.
        moving = ways.moved(moving, ways.times[moving.goal, moving.at] * draw.random(self.first))
        for tick in range(self.ticks):
            if tick:
                joined = ways.departures(self.new, draw)
                budget = np.concatenate([np.full(len(moving.at), pace), pace * draw.random(self.new)])
                moving = ways.moved(moving.and_(joined), budget * ways.speeds(moving, joined))
            yield ways.places(moving)

    def counts(self, place: Map, seed: int) -> Iterator[Whole]:
        """For every tick, how many are in each place of a map."""
        assert isinstance(place, Domain)
        for x, y in self.positions(seed):
            cells = place.cells(x, y)
            yield np.bincount(cells[cells >= 0], minlength=len(place))


@dataclass
class _Moving:
    """Everybody's state: the junction behind, how much time was spent on the road ahead, and where to."""

    at: NDArray[np.int32]
    goal: NDArray[np.int32]
    spent: Array
    pace: Array

    def and_(self, others: _Moving) -> _Moving:
        pairs = ((getattr(self, name), getattr(others, name)) for name in ("at", "goal", "spent", "pace"))
        return _Moving(*(np.concatenate(pair) for pair in pairs))

    def only(self, kept: NDArray[np.bool_]) -> _Moving:
        return _Moving(self.at[kept], self.goal[kept], self.spent[kept], self.pace[kept])


class _Ways:
    """The fastest ways to a sample of destinations, as the next road from every junction."""

    def __init__(self, network: RoadNetwork, draw: np.random.Generator) -> None:
        self.network = network
        inside = np.flatnonzero(network.parts == 0)
        self.inside = inside.astype(np.int32)
        self.goals = np.sort(draw.choice(inside, min(_DESTINATIONS, len(inside)), replace=False))
        self.road_time = network.lengths / _SLOWER**network.kind
        size = len(network.x)
        graph = coo_array((self.road_time, (network.start, network.end)), shape=(size, size))
        times, before = dijkstra(graph.tocsr(), directed=False, indices=self.goals, return_predecessors=True)
        self.times: Array = times
        self.next = np.full(before.shape, -1, dtype=np.int32)
        for road, (one, two) in enumerate(zip(network.start.tolist(), network.end.tolist(), strict=True)):
            self.next[before[:, one] == two, one] = road
            self.next[before[:, two] == one, two] = road
        self.mean_time = float(times[:, inside].mean())
        self.ends = (network.start + network.end).astype(np.int32)  # the other end of a road is this less the one

    def departures(self, count: int, draw: np.random.Generator) -> _Moving:
        at = draw.choice(self.inside, count)
        goal = draw.integers(0, len(self.goals), count, dtype=np.int32)
        # Whoever would leave for where they are goes somewhere else.
        stuck = self.goals[goal] == at
        goal[stuck] = (goal[stuck] + 1) % len(self.goals)
        return _Moving(at, goal, np.zeros(count), draw.uniform(0.8, 1.2, count))

    @staticmethod
    def speeds(*groups: _Moving) -> Array:
        return np.concatenate([group.pace for group in groups])

    def moved(self, moving: _Moving, budget: Array) -> _Moving:
        """Everybody after as much time as their budget; those who arrive are gone."""
        at, goal, spent = moving.at.copy(), moving.goal, moving.spent + budget
        here = np.arange(len(at))
        arrived = np.zeros(len(at), dtype=bool)
        while here.size:
            road = self.next[goal[here], at[here]]
            there = road < 0
            arrived[here[there]] = True
            here, road = here[~there], road[~there]
            passed = spent[here] >= self.road_time[road]
            here, road = here[passed], road[passed]
            spent[here] -= self.road_time[road]
            at[here] = self.ends[road] - at[here]
        return _Moving(at, goal, spent, moving.pace).only(~arrived)

    def places(self, moving: _Moving) -> tuple[Array, Array]:
        n, road = self.network, self.next[moving.goal, moving.at]
        ahead = self.ends[road] - moving.at
        share = moving.spent / self.road_time[road]
        x, y = n.x[moving.at], n.y[moving.at]
        return x + share * (n.x[ahead] - x), y + share * (n.y[ahead] - y)
