"""What the public knows of a segment: enough to say how wrong any range inside it is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.errors import SchemaMismatch
from hubbub.ranges.fenwick import Fenwick
from hubbub.ranges.strategy import Strategy
from hubbub.ranges.toeplitz import Toeplitz
from hubbub.ranges.tree import Tree


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


def strategy_from_dict(facts: dict[str, Any]) -> Strategy:
    """The inverse of `to_dict`."""
    kind = facts["kind"]
    shares = tuple(Fraction(share) for share in facts.get("shares", ()))
    if kind == "fenwick":
        return Fenwick(facts["height"], shares)
    if kind == "tree":
        return Tree(tuple(facts["arity"]), facts["subtracts"], Fraction(facts["trust"]), shares)
    if kind == "toeplitz":
        return Toeplitz(facts["size"])
    raise SchemaMismatch(f"There is no strategy {kind!r}.", "Go on with the release of Hubbub that wrote it.")
