"""Rates that no server saw, at work (Goetz 2012, Figure 5.2): which results they lead to, on made-up searches."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.gather import Entry, TopDown
from hubbub.lab.ads import K, Score, scores
from hubbub.lab.experiment_result import Row
from hubbub.lab.gather_crowd import Crowd, walked
from hubbub.lab.local_search import (
    CATEGORIES,
    GROUPS,
    SOUTH,
    WEST,
    Business,
    Search,
    directory,
    hierarchy,
    searches,
)
from hubbub.noise import ByteSource
from hubbub.personal import ClickRates, Combined, LearnedTable

ORDER = ("location", "location", "query", "query")
"""From the top down: a box, its tenths of a degree, general categories of queries, categories."""
TOLD = ("(4,2,2)", 3)
DEPTHS = (0, 4)
MAX_ITEMS = 4
EACH = 5
FLOORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
EPSILONS = (0.25, 0.5, 1, 2, 4)
MISSING = (0.0, 0.25, 0.5, 0.75)
LONGEST = 2**15
SIDE = 0.1
"""Of a cell, in degrees; businesses up to half of it away have bids there."""


@dataclass
class World:
    """A log, its people's entries, what is public, and the contexts that are tried."""

    tree: Combined
    crowd: Crowd
    items: Callable[[str], Sequence[str]]
    tested: list[Search]

    @classmethod
    def of(cls, people: int, seed: int) -> World:
        log, tree = searches(seed, people, EACH), hierarchy(ORDER)
        cut = len(log) * 9 // 10
        logs: dict[int, list[Entry]] = {}
        for search in log[:cut]:
            logs.setdefault(search.person, []).append(Entry(search.context, search.picked, clicked=True))
        rng = np.random.default_rng(seed)
        tested = [log[cut + int(i)] for i in rng.permutation(len(log) - cut)[:1000]]
        return cls(
            tree, Crowd(tree, list(logs.values()), MAX_ITEMS, DEPTHS[-1], seed), bidders(directory(seed)), tested
        )

    def walk(self, **given: Any) -> TopDown:
        usual: dict[str, Any] = {
            "name": "picks", "items": self.items, "max_items": MAX_ITEMS, "clients": len(self.crowd), "minimum": 1,
            "min_support": 2, "depths": DEPTHS, "picks": True, "longest_round": LONGEST,
        }  # fmt: skip
        return TopDown(self.tree, **(usual | given))

    def error(self, **given: Any) -> float:
        """Of a count in the first round: public. Walks go on where a count is above it."""
        asked = self.walk(**given).ask()
        assert asked is not None
        return math.sqrt(asked[1].noise.variance(len(self.crowd)))

    def tried(self, walk: TopDown, support: float) -> dict[float, Score]:
        """What the rates of a walk lead to, by the smallest CTR."""
        found = walk.found
        if not any(value.value > 0 for value in found.shown.values()):
            return {floor: Score(tried=len(self.tested)) for floor in FLOORS}
        rates = ClickRates.of_released(self.tree, found.shown, found.clicked, min_support=max(2, support))
        asked = [(TOLD[0], floor, K) for floor in FLOORS]
        told = scores(LearnedTable(rates), self.tree, self.tested, TOLD, asked)
        return {floor: told[TOLD[0], floor, K] for floor in FLOORS}


def bidders(book: dict[str, Business]) -> Callable[[str], Sequence[str]]:
    """Which businesses bid on a node: those of its category in its cell or near it; at the top all."""
    known: dict[str, list[str]] = {}

    def items(node: str) -> Sequence[str]:
        if node not in known:
            place, _, query = json.loads(node)
            kind, _, number = query.partition(" ")
            size = {"group": CATEGORIES, "category": 1}.get(kind, GROUPS * CATEGORIES)
            some = [name for name, one in book.items() if size > CATEGORIES or one.category // size == int(number)]
            if "." in place:
                south, west = (float(one) - low for one, low in zip(place.split(","), (SOUTH, WEST), strict=True))
                some = [name for name in some if _near(book[name].place, south, west)]
            known[node] = some
        return known[node]

    return items


def _near(place: tuple[float, float], south: float, west: float) -> bool:
    return all(-SIDE / 2 <= at - low < 1.5 * SIDE for at, low in zip(place, (south, west), strict=True))


def rate_rows(
    world: World, runs: int, source: ByteSource, rng: np.random.Generator, done: Callable[[], Any]
) -> list[Row]:
    """Figure 5.2: by epsilon, and by the share of clients that may be missing."""
    rows = _rows({"line": "exact", "epsilon": math.inf}, [_exact(world)])
    done()
    for protects in ("answer", "presence"):
        for epsilon in EPSILONS:
            facts = {"line": "servers", "epsilon": float(epsilon), "protects": protects}
            rows += _several(world, facts, runs, source, rng, 0.0, epsilon=epsilon, protects=protects)
            done()
    for missing in MISSING:
        for away in (0.0, *([missing] if missing else [])):
            facts = {"line": "shares", "epsilon": 1.0, "protects": "presence", "missing": missing, "away": away}
            # A little below what is planned for, since those who are away are drawn anew in each round.
            least = max(3, int((1 - missing) * len(world.crowd) * 0.97))
            given = {"epsilon": 1, "protects": "presence", "minimum": least, "lying": 1}
            rows += _several(world, facts, runs, source, rng, away, **given)
            done()
    return rows


def rate_steps() -> int:
    """How often `rate_rows` calls `done`."""
    return 1 + 2 * len(EPSILONS) + sum(2 if missing else 1 for missing in MISSING)


def _exact(world: World) -> dict[float, Score]:
    rng = np.random.default_rng(0)
    return world.tried(walked(world.walk(epsilon=1), world.crowd, None, rng, noise=False), 2)


def _several(
    world: World, facts: Row, runs: int, source: ByteSource, rng: np.random.Generator, away: float, **given: Any
) -> list[Row]:
    found, error = [], world.error(**given)
    for _ in range(runs):
        walk = world.walk(min_support=max(2, error), **given)
        found.append(world.tried(walked(walk, world.crowd, source, rng, away), error))
    return _rows({**facts, "error": error}, found)


def _rows(facts: Row, found: Sequence[dict[float, Score]]) -> list[Row]:
    """All runs together: how often something was shown, and was wanted."""
    rows = []
    for floor in FLOORS:
        some = [one[floor] for one in found]
        whole = Score(*(sum(getattr(one, name) for one in some) for name in ("tried", "shown", "wanted")))
        rows.append({**facts, "floor": floor, "runs": len(found), **whole.row()})
    return rows


WAYS: dict[str, tuple[tuple[int, ...], tuple[int, ...] | None]] = {
    "two rounds, noise alike": ((0, 4), None),
    "two rounds, epsilon alike": ((0, 4), (1, 1)),
    "two rounds, twice to the leaves": ((0, 4), (1, 2)),
    "three rounds, noise alike": ((0, 3, 4), None),
    "three rounds, epsilon alike": ((0, 3, 4), (1, 1, 1)),
    "three rounds, twice to each next": ((0, 3, 4), (1, 2, 4)),
}


def way_rows(
    world: World, runs: int, source: ByteSource, rng: np.random.Generator, done: Callable[[], Any]
) -> list[Row]:
    """How the budget is divided, and what making counts add up is worth, at epsilon 1."""
    truth = world.crowd.totals()
    rows: list[Row] = []
    for name, (depths, weights) in WAYS.items():
        found, seen = [], Counter[int]()
        raw: dict[int, float] = dict.fromkeys(depths[1:], 0.0)
        joined = dict(raw)
        given: dict[str, Any] = {"epsilon": 1, "protects": "presence", "depths": depths, "weights": weights}
        error = world.error(**given)
        for _ in range(runs):
            walk = world.walk(min_support=max(2, error), **given)
            walked(walk, world.crowd, source, rng)
            found.append(world.tried(walk, error))
            better = walk.added_up()
            for node, value in walk.found.counts.items():
                level = walk.tree.named(node).depth
                raw[level] += (value.value - truth[node]) ** 2
                joined[level] += (better[node].value - truth[node]) ** 2
                seen[level] += 1
        for row in _rows({"way": name}, found):
            errors = {f"count_error_{level}": math.sqrt(raw[level] / seen[level]) for level in depths[1:]}
            errors |= {f"added_up_error_{level}": math.sqrt(joined[level] / seen[level]) for level in depths[1:]}
            rows.append({**row, **errors})
        done()
    return rows
