"""Adaptive weighting: weight leaves items that are safe, or hopeless, for those in between."""

from __future__ import annotations

from fractions import Fraction

from hubbub.itemlogs.rounds import WeightedRounds


class Adaptive(WeightedRounds):
    """Two rounds: a first one at a fifth of the budget publishes what nearly everybody has and tells, noisily, how far
    every other item is; then each user gives the whole weight to items that are neither published nor hopeless, the
    most promising `max_items` of them.

    MAD (Chen et al. 2025) moves weight within a round, too. In whole numbers that moves an unbounded number of items
    by a unit each, and we have no proof for it; what is here needs none beyond each user's own length.

    Guarantee
        Protects: one user with all rows; neighbouring logs have a user more or less.
        Enforced here: at most `max_items` items a round, and weights of length at most 1 in each.
        Formula: that of `WeightedRounds`, rounds at 1/5 and 4/5 of what counts leave, delta at 1/10 and 9/10.
        Not covered: how long it takes; several lists, which add up; one person under several names.
        Reference: Chen et al. 2025 (MAD2R); Swanberg, Desfontaines & Haney 2023; Bun & Steinke 2016, Def. 8.1.
        Proof: docs/proofs/itemlogs.md, sections 4 and 5 (proved).

    >>> method = Adaptive(1, "1e-6", max_items=10)
    >>> print(method.claim.short, "|", round(method.people_needed))
    epsilon = 1, delta = 1e-6 for each user | 100
    """

    name = "adaptive"
    rounds = ((Fraction(1, 5), Fraction(1, 10)), (Fraction(4, 5), Fraction(9, 10)))
