"""Many clients of a walk down a hierarchy in one process: their clear sums, and the noise that real servers add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.gather import Entry, LaplaceShares, Query, Round, ServersGaussian, ServersLaplace, TopDown
from hubbub.gather.opened import Opened
from hubbub.gather.top_down import ContextTree
from hubbub.noise import ByteSource, DiscreteGaussian, DiscreteLaplace


class Crowd:
    """What each of many clients has in its log, of which it gives at most `max_items`, chosen by chance, once."""

    def __init__(
        self, tree: ContextTree, logs: Sequence[Sequence[Entry]], max_items: int, deepest: int, seed: int
    ) -> None:
        rng = np.random.default_rng(seed)
        self.logs = [
            [log[int(i)] for i in (rng.permutation(len(log))[:max_items] if len(log) > max_items else range(len(log)))]
            for log in logs
        ]
        self.max_items, self.kept, self.had = max_items, sum(map(len, self.logs)), sum(map(len, logs))
        seen: dict[int, tuple[str, ...]] = {}
        self._paths = []
        for log in self.logs:
            for entry in log:
                if id(entry.context) not in seen:
                    seen[id(entry.context)] = tuple(node.name for node in tree.path(entry.context)[: deepest + 1])
                self._paths.append(seen[id(entry.context)])
        self._person = np.repeat(np.arange(len(logs)), [len(log) for log in self.logs])

    def totals(self) -> Counter[str]:
        """How many entries lie below each node: the truth."""
        return Counter(name for path in self._paths for name in path)

    def __len__(self) -> int:
        return len(self.logs)

    def sums(self, asked: Round, answering: NDArray[np.bool_] | None = None) -> list[int]:
        """What the answers of these clients to a round add up to: `Round.vector` of each, faster."""
        numbers = [0] * asked.length
        nodes, places, below, clicked = set(asked.nodes), asked.places, asked.places_below, not asked.picks
        entries = (entry for log in self.logs for entry in log)
        there = None if answering is None else answering[self._person].tolist()
        for at, (entry, path) in enumerate(zip(entries, self._paths, strict=True)):
            if there is not None and not there[at]:
                continue
            for name in path:
                if name in nodes:
                    place = places.get((name, entry.item))
                    if place is not None:
                        numbers[place + (clicked and entry.clicked)] += 1
                    break
            for name in path:
                if name in below:
                    numbers[below[name]] += 1
                    break
        return numbers


def opened_fast(
    query: Query, sums: Sequence[int], reports: int, source: ByteSource, rng: np.random.Generator
) -> Opened:
    """What real reports with these sums would come to, alike in distribution; a test compares both."""
    noise = noise_of_all(query, len(sums), reports, source, rng)
    numbers = [int(one) for one in np.asarray(sums, dtype=np.int64) + noise]
    return Opened(query.name, numbers, reports, query.clients, query.noise.variance(reports), query.promise)


def noise_of_all(
    query: Query, length: int, reports: int, source: ByteSource, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The noise of both servers, or of all clients together."""
    plan = query.noise
    if isinstance(plan, ServersLaplace):
        noise = DiscreteLaplace(plan.scale, source)
        return noise.sample(length) + noise.sample(length)
    if isinstance(plan, ServersGaussian):
        gaussian = DiscreteGaussian(plan.square_sensitivity / (2 * plan.rho), source)
        return gaussian.sample(length) + gaussian.sample(length)
    if isinstance(plan, LaplaceShares):
        # A Polya share is a difference of two negative binomials of parameter 1/parts; parameters add up.
        stops = -np.expm1(-float(plan.epsilon) / plan.sensitivity)
        sides = [rng.negative_binomial(reports / plan.parts, stops, length) for _ in range(2)]
        return (sides[0] - sides[1]).astype(np.int64)
    raise InvalidParameter(f"There is no fast way for {plan.kind}.", "Send real reports.")


def walked(
    walk: TopDown,
    crowd: Crowd,
    source: ByteSource | None,
    rng: np.random.Generator,
    away: float = 0.0,
    noise: bool = True,
) -> TopDown:
    """The whole walk; in each round a share `away` of the clients does not answer, other ones each time. Without
    `noise` it is what a trusted server would see."""
    while (asked := walk.ask()) is not None:
        answering = rng.random(len(crowd)) >= away if away else None
        reports = len(crowd) if answering is None else int(answering.sum())
        sums = crowd.sums(asked[0], answering)
        query: Any = asked[1]
        if noise and source is not None:
            walk.take(opened_fast(query, sums, reports, source, rng))
        else:
            walk.take(Opened(query.name, sums, reports, query.clients, 0.0, "none: nothing is protected"))
    return walk
