"""The separation result (Goetz 2012, 6.4.5): without a delta, publishing nothing is better than publishing a list.

A pure release cannot know which items nobody has: it adds noise to *every possible* item and publishes what passes a
threshold. Of a domain large enough so many pass by noise alone that they outnumber all that is frequent.

| symbol | name here | meaning |
|---|---|---|
| f | counts | how many users have an item, each user having at most m |
| tau* - xi | `Goal.rare` | an item of fewer users should be left out |
| tau* + xi | `Goal.frequent` | an item of more users should be published |
| D | `domain` | how many items are possible |
| T | `threshold` | what a noisy count must exceed |
| c | `accuracy` | how likely an item just above tau* + xi is published (Def. 11) |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.itemlogs import Zealous
from hubbub.itemlogs.quality import Counts

Chances = NDArray[np.float64]
Passes = Callable[[Counts], Chances]
"""From counts of items, how likely each is published."""

PAIRS_OF_QUERIES = 900_000**6
"""The paper's example: two queries in a row, of three keywords each out of 900,000."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is right: an item of more than `frequent` users is in the list, one of fewer than `rare` is not."""

    rare: int
    frequent: int

    @classmethod
    def of(cls, method: Zealous) -> Goal:
        """Theorem 15's: tau = tau* - xi and tau' = tau* + xi."""
        return cls(method.thresholds.keep, method.thresholds.publish)


@dataclass(frozen=True, slots=True)
class Inaccuracy:
    """Definition 10 in its two parts: expected numbers of frequent items that are missing, of rare ones that are
    there."""

    missing: float
    wrong: float

    @property
    def total(self) -> float:
        return self.missing + self.wrong


def inaccuracy(counts: Counts, goal: Goal, domain: int, passes: Passes) -> Inaccuracy:
    """The exact expectation for a method that decides each item by its count; `counts` are those above 0.

    >>> nothing = lambda counts: np.zeros(len(counts))
    >>> inaccuracy(np.array([1, 50, 60]), Goal(5, 40), 10**6, nothing)
    Inaccuracy(missing=2.0, wrong=0.0)
    """
    frequent, rare = counts[counts > goal.frequent], counts[(counts < goal.rare) & (counts > 0)]
    nobody = float(passes(np.zeros(1, dtype=np.int64))[0])
    unseen = domain - int(np.count_nonzero(counts))
    return Inaccuracy(float(np.sum(1 - passes(frequent))), float(np.sum(passes(rare))) + unseen * nobody)


def nothing(counts: Counts) -> Chances:
    """The paper's baseline: an empty list."""
    return np.zeros(len(counts))


def zealous(method: Zealous) -> Passes:
    """What nobody has is below tau, so it is never published."""
    return lambda counts: 1 - np.array([method.miss_probability(int(count)) for count in counts], dtype=np.float64)


def pure(scale: Fraction, threshold: int) -> Passes:
    """Discrete Laplace noise of scale m/epsilon on every possible item: epsilon, without a delta."""
    b = float(scale)
    whole = 1 + math.exp(-1 / b)

    def passes(counts: Counts) -> Chances:
        k = threshold - counts + 1  # P(X >= k)
        high = np.exp(-np.maximum(k, 0) / b) / whole
        low = 1 - np.exp((np.minimum(k, 0) - 1) / b) / whole
        chances: Chances = np.where(k > 0, high, low)
        return chances

    return passes


def threshold_for(scale: Fraction, goal: Goal, accuracy: float) -> int:
    """The largest threshold at which an item just frequent enough is published with that chance: the best of them.

    >>> threshold_for(Fraction(10), Goal(5, 40), 0.5)
    40
    """
    just = np.array([goal.frequent + 1])
    threshold = goal.frequent - math.ceil(40 * scale)
    while pure(scale, threshold + 1)(just)[0] >= accuracy:
        threshold += 1
    return threshold


def best_threshold(scale: Fraction, counts: Counts, goal: Goal, domain: int) -> int:
    """The threshold with the smallest inaccuracy. It looks at the truth, so nobody could publish by it."""
    top = math.ceil(max(int(counts.max(initial=0)), float(scale) * math.log(domain)) + 10 * float(scale))
    seen, many = np.unique(counts[counts > 0], return_counts=True)

    def total(threshold: int) -> float:
        chances = pure(scale, threshold)(np.append(seen, 0))
        lost = float(np.sum(((1 - chances[:-1]) * many)[seen > goal.frequent]))
        return lost + float(np.sum((chances[:-1] * many)[seen < goal.rare])) + domain * float(chances[-1])

    return min(range(goal.frequent // 2, top + 1, max(1, top // 2000)), key=total)


def domain_needed(users: int, max_items: int, epsilon: float, goal: Goal, accuracy: float) -> float:
    """Theorem 12: from so many possible items on, every pure and c-accurate method is worse than an empty list.

    >>> f"{domain_needed(1_000_000, 10, 1.0, Goal(10, 50), 0.01):.1e}"  # the paper's example
    '8.8e+11'
    """
    often = 2 * math.exp(2 * epsilon * goal.frequent / max_items) / (accuracy * goal.frequent)
    return users * max_items * (often + 1 / (goal.rare + 1))
