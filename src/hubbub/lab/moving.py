"""Moving objects on a road network, after Brinkhoff 2002: they start, take the fastest way, and are gone on arrival."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from hubbub.exact import whole
from hubbub.released.domain import Domain
from hubbub.spatial import Map, RoadNetwork

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

_TEMPERS, _AVOIDED = 30, 50.0
"""So many kinds of drivers take detours, each with its own view of roads; and how slow a closed road is taken to be."""

_DESTINATIONS = 1500
"""So many junctions are somebody's destination; ways to each are computed once."""


@dataclass(frozen=True)
class Traffic:
    """How many move, and for how long.

    `trip` is how many ticks an average trip takes. At the start `first` objects are on their way, each at a random
    point of it; in each tick `new` ones leave, at random moments of the tick, from a random junction to another.

    One drives on a road of a class `slower` times as fast as on one of the class before.

    What a map cannot know, to see how a method does without it: with `detours` drivers take a road for slower or faster
    than it is, by that much (a standard deviation, as a logarithm; a few dozen tempers); they avoid `closed` roads; and
    `crowd` times as many leave from, and go to, each junction of the south-western quarter.

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
    detours: float = 0.0
    closed: tuple[int, ...] = ()
    crowd: float = 1.0
    slower: float = 0.86

    def __post_init__(self) -> None:
        for name in ("first", "new", "ticks"):
            whole(getattr(self, name), name)

    def positions(self, seed: int) -> Iterator[tuple[Array, Array]]:
        """For every tick, where everybody is who is on the way at its end."""
        for _, x, y in self.trips(seed):
            yield x, y

    def trips(self, seed: int) -> Iterator[tuple[Whole, Array, Array]]:
        """The same, each with the number of their trip."""
        draw = np.random.default_rng(seed)
        ways = _Ways(self, draw)
        pace = ways.mean_time / self.trip
        moving = ways.departures(self.first, draw)
        # Somewhere on the way, not at its beginning: or a first wave would run through the whole city.
        moving = ways.moved(moving, ways.times[moving.goal, moving.at] * draw.random(self.first))
        for tick in range(self.ticks):
            if tick:
                joined = ways.departures(self.new, draw)
                budget = np.concatenate([np.full(len(moving.at), pace), pace * draw.random(self.new)])
                moving = ways.moved(moving.and_(joined), budget * ways.speeds(moving, joined))
            yield moving.number, *ways.places(moving)

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
    number: Whole

    def and_(self, others: _Moving) -> _Moving:
        pairs = ((getattr(self, name), getattr(others, name)) for name in _OF_EACH)
        return _Moving(*(np.concatenate(pair) for pair in pairs))

    def only(self, kept: NDArray[np.bool_]) -> _Moving:
        return _Moving(*(getattr(self, name)[kept] for name in _OF_EACH))


_OF_EACH = ("at", "goal", "spent", "pace", "number")


class _Ways:
    """The fastest ways to a sample of destinations, as the next road from every junction."""

    def __init__(self, traffic: Traffic, draw: np.random.Generator) -> None:
        self.network = network = traffic.network
        self._made = 0
        inside = np.flatnonzero(network.parts == 0)
        self.inside = inside.astype(np.int32)
        self.goals = np.sort(draw.choice(inside, min(_DESTINATIONS, len(inside)), replace=False))
        self.road_time = network.lengths / traffic.slower**network.kind
        tempers = _TEMPERS if traffic.detours else 1
        found = [self._ways_to(goals, traffic, draw) for goals in np.array_split(self.goals, tempers) if len(goals)]
        self.times: Array = np.concatenate([times for times, _ in found])
        before = np.concatenate([before for _, before in found])
        self.next = np.full(before.shape, -1, dtype=np.int32)
        for road, (one, two) in enumerate(zip(network.start.tolist(), network.end.tolist(), strict=True)):
            self.next[before[:, one] == two, one] = road
            self.next[before[:, two] == one, two] = road
        self.mean_time = float(self.times[:, inside].mean())
        self.ends = (network.start + network.end).astype(np.int32)  # the other end of a road is this less the one
        even = traffic.crowd == 1
        self._leave, self._arrive = (
            None if even else _crowded(network, at, traffic.crowd) for at in (self.inside, self.goals)
        )

    def _ways_to(self, goals: Whole, traffic: Traffic, draw: np.random.Generator) -> tuple[Array, NDArray[np.int32]]:
        """To each of these, from everywhere: how long it takes, and the junction after each."""
        network, felt = self.network, self.road_time
        if traffic.detours:
            felt = felt * draw.lognormal(0, traffic.detours, len(felt))
        if traffic.closed:
            felt = felt.copy()
            felt[list(traffic.closed)] *= _AVOIDED
        size = len(network.x)
        graph = coo_array((felt, (network.start, network.end)), shape=(size, size)).tocsr()
        times, before = dijkstra(graph, directed=False, indices=goals, return_predecessors=True)
        return times, before

    def departures(self, count: int, draw: np.random.Generator) -> _Moving:
        at = draw.choice(self.inside, count, p=self._leave)
        if self._arrive is None:
            goal = draw.integers(0, len(self.goals), count, dtype=np.int32)
        else:
            goal = draw.choice(len(self.goals), count, p=self._arrive).astype(np.int32)
        # Whoever would leave for where they are goes somewhere else.
        stuck = self.goals[goal] == at
        goal[stuck] = (goal[stuck] + 1) % len(self.goals)
        numbers = np.arange(self._made, self._made + count)
        self._made += count
        return _Moving(at, goal, np.zeros(count), draw.uniform(0.8, 1.2, count), numbers)

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
        return _Moving(at, goal, spent, moving.pace, moving.number).only(~arrived)

    def places(self, moving: _Moving) -> tuple[Array, Array]:
        n, road = self.network, self.next[moving.goal, moving.at]
        ahead = self.ends[road] - moving.at
        share = moving.spent / self.road_time[road]
        x, y = n.x[moving.at], n.y[moving.at]
        return x + share * (n.x[ahead] - x), y + share * (n.y[ahead] - y)


def _crowded(network: RoadNetwork, junctions: NDArray[np.integer[Any]], crowd: float) -> Array:
    """How likely each of these junctions is, where those of one quarter are `crowd` times as likely as others."""
    x, y = network.x[junctions], network.y[junctions]
    weight: Array = np.where((x < np.median(network.x)) & (y < np.median(network.y)), crowd, 1.0)
    weight /= weight.sum()
    return weight
