"""What the public knows of a segment: enough to say how wrong any range inside it is."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.errors import SchemaMismatch
from hubbub.mechanism.kinds import Kind
from hubbub.ranges.fenwick import Fenwick
from hubbub.ranges.strategy import Strategy
from hubbub.ranges.toeplitz import Toeplitz
from hubbub.ranges.tree import Tree

MOST = 32
SHORTEST = 64
"""A segment is so long that a window holds at most MOST of them, and at least SHORTEST ticks."""


def segment_ticks(size: int, window: int) -> int:
    """How many ticks a segment of trees of `size` ticks has: whole trees.

    >>> segment_ticks(64, 10_000), segment_ticks(8192, 10_000)
    (320, 8192)
    """
    shortest = min(window, max(SHORTEST, window // MOST))
    return math.ceil(shortest / size) * size


@dataclass(slots=True)
class Segment:
    """`measured` ticks from tick `start` on, under one strategy whose levels have noise of these `variances`.

    Holds no noise and no count: of two segments with other data and other noise this record is the same.
    """

    start: int
    strategy: Strategy
    variances: tuple[float, ...]
    measured: int = 0

    def variance(self, a: int, b: int) -> float:
        """Of the range after `a` measured ticks up to `b`."""
        return self.strategy.variance(a, b, self.variances)

    def to_dict(self) -> dict[str, Any]:
        return {
            "start": self.start,
            "measured": self.measured,
            "strategy": self.strategy.to_dict(),
            "variances": list(self.variances),
        }

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Segment:
        strategy = strategy_from_dict(facts["strategy"])
        return cls(facts["start"], strategy, tuple(facts["variances"]), facts["measured"])


class OneStrategy(Kind):
    """A strategy, or its facts as `to_dict` tells them."""

    words = 'a strategy, or a table such as {kind = "fenwick", height = 8}'

    def accept(self, value: Any, name: str) -> Strategy:
        if not isinstance(value, Strategy):
            raise self._wrong(value, name)
        return value

    def read(self, given: Any, name: str) -> Strategy:
        try:
            return strategy_from_dict(json.loads(given) if isinstance(given, str) else given)
        except (KeyError, TypeError, ValueError, SchemaMismatch):
            raise self._wrong(given, name) from None

    def plain(self, value: Any) -> dict[str, Any]:
        facts: dict[str, Any] = value.to_dict()
        return facts


def strategy_from_dict(facts: dict[str, Any]) -> Strategy:
    """The inverse of `to_dict`."""
    kind = facts["kind"]
    shares = tuple(Fraction(share) for share in facts.get("shares", ()))
    if kind == "fenwick":
        return Fenwick(facts["height"], shares)
    if kind == "tree":
        return Tree(tuple(facts["arity"]), facts["subtracts"], Fraction(facts["trust"]), shares)
    if kind == "toeplitz":
        return Toeplitz(facts["size"], reach=facts.get("reach", 0))
    raise SchemaMismatch(f"There is no strategy {kind!r}.", "Go on with the release of Hubbub that wrote it.")
