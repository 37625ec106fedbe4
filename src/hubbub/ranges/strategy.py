"""How noise is shared among the ticks of a segment: what every strategy can say about itself."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.noise import IntegerNoise
from hubbub.ranges.walk import Walk

GRID = 64
"""Shares of the budget are whole multiples of 1/GRID: few different noises, so that their tables are made once."""


class Strategy(ABC):
    """A matrix R of sums to measure and a matrix L that turns them into prefixes: L R = A, where A x are the prefixes.

    What is published is A x + L z. A *position* p counts measured ticks since the segment began; N(p) is the error of
    the published prefix there, and N(b) - N(a) the error of the range of positions a+1 to b. The numbers measured fall
    into *levels* with one noise each, so that the variance of a range is a sum over levels, `uses(a, b)[j]` times the
    variance of level j.

    | symbol | here | meaning |
    |---|---|---|
    | n | `size` | ticks under one tree; a segment is one tree or several in a row |
    | s(j) | `spans[j]` | ticks under a node of level j |
    | f(j) | `shares[j]` | part of the budget that level j gets; they add up to one |
    """

    kind: ClassVar[str]
    size: int
    shares: tuple[Fraction, ...]
    for_pure: ClassVar[bool] = True
    """Whether Laplace noise fits it: the measured sums must be whole numbers."""

    denominator: int = 1
    """N is a multiple of 1/denominator before it is rounded to a whole number."""

    fraction_bits: int = 0
    """Measured sums, and so their noises, are whole multiples of 2^-fraction_bits."""

    forgets: ClassVar[bool] = False
    """Whether a tree's memory ends with the tree: then several in a row must not share one (docs/errata.md)."""

    looks_ahead: ClassVar[bool] = False
    """Whether it draws more noises than it publishes numbers, so that these do not tell the noises."""

    @property
    @abstractmethod
    def spans(self) -> tuple[int, ...]: ...

    @property
    @abstractmethod
    def title(self) -> str:
        """Its name for people: "fenwick of height 8"."""

    @abstractmethod
    def walk(self, noises: Sequence[IntegerNoise], keys: int) -> Walk:
        """A fresh segment's mechanism, which is secret."""

    @property
    def impulse(self) -> int:
        """A noise so large that a published whole number tells its weight to many digits, and 64 bits still hold it."""
        return self.denominator << 6

    def must_fit(self, deviation: float) -> bool:
        """Whether 64 bits hold all that is ever added up, if the largest noise has this standard deviation.

        64 standard deviations of everything must fit, or exact arithmetic would wrap around.
        """
        return 64 * deviation * math.sqrt(2**18) * self.denominator < 2.0**62

    @abstractmethod
    def uses(self, a: int, b: int) -> list[float]:
        """For each level the sum of squared weights of its noises in N(b) - N(a), 0 <= a <= b."""

    @abstractmethod
    def mean_uses(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """`uses` of ranges of these lengths (one row each), averaged over where they begin in a row of trees."""

    @abstractmethod
    def step_uses(self, first: int, count: int) -> NDArray[np.float64]:
        """`uses(p, p + 1)` for `count` positions from `first` on, one row each."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, for snapshots and pages."""

    def square_weights(self, max_ticks: int) -> tuple[float, ...]:
        """For each level the largest of |R d|^2 / k over changes d by one in k <= `max_ticks` ticks (zCDP).

        A node that spans s ticks changes by at most min(k, s), and the changes of a level's nodes add up to k.
        """
        return tuple(float(min(max_ticks, span)) for span in self.spans)

    def with_shares(self, shares: Sequence[Fraction]) -> Strategy:
        """The same sums with another division of the budget."""
        return replace(self, shares=tuple(shares))  # type: ignore[type-var]

    def rounding(self, a: int, b: int) -> float:
        """Variance added by publishing whole numbers: both ends are rounded, but for the segment's start."""
        d = self.denominator
        return 0.0 if d == 1 or a == b else ((a > 0) + (b > 0)) * (d * d - 1) / (12 * d * d)

    def variance(self, a: int, b: int, levels: Sequence[float]) -> float:
        """Of N(b) - N(a), given the variance of each level's noise."""
        return float(sum(map(operator.mul, self.uses(a, b), levels))) + self.rounding(a, b)

    def __str__(self) -> str:
        return self.title


def even_shares(levels: int) -> tuple[Fraction, ...]:
    return (Fraction(1, levels),) * levels


def checked_shares(shares: Sequence[Fraction], levels: int) -> tuple[Fraction, ...]:
    """`shares`, or even ones if there are none; refused if they would spend more than there is."""
    if not shares:
        return even_shares(levels)
    exact = tuple(Fraction(share) for share in shares)
    if len(exact) != levels or sum(exact) > 1 or min(exact) <= 0:
        raise InvalidParameter(
            f"`shares` must be {levels} numbers above 0 with a sum of at most 1; got {[str(s) for s in exact]}.",
            "Leave them out to divide the budget evenly.",
        )
    return exact


def best_shares(weights: NDArray[np.float64], *, pure: bool) -> tuple[Fraction, ...]:
    """The division that makes the sum of weight times variance least, on the grid.

    Pure: a level's variance goes with 1/share^2, so shares go with weight^(1/3); zCDP: with 1/share, so with
    weight^(1/2) (both by Lagrange; Li et al. 2010 for one workload).
    """
    levels = len(weights)
    if levels >= GRID:
        return even_shares(levels)
    ideal = weights ** (1 / 3 if pure else 1 / 2)
    ideal = ideal / ideal.sum() if ideal.sum() > 0 else np.full(levels, 1 / levels)
    # Every level keeps a little: a workload that never asks for it today may ask tomorrow.
    parts = np.maximum(1, np.floor(ideal * GRID)).astype(int)
    while parts.sum() > GRID:
        parts[np.argmax(parts)] -= 1
    for j in np.argsort(parts - ideal * GRID)[: GRID - parts.sum()]:
        parts[j] += 1
    parts[np.argmax(parts)] += GRID - parts.sum()
    return tuple(Fraction(int(part), GRID) for part in parts)
