"""Plain weighting: one round."""

from __future__ import annotations

from fractions import Fraction

from hubbub.itemlogs.rounds import WeightedRounds


class Weighted(WeightedRounds):
    """Each user gives 1/sqrt(d) to each of d items, drawn by lot; discrete Gaussian noise; one threshold.

    Guarantee
        Protects: one user with all rows; neighbouring logs have a user more or less.
        Enforced here: at most `max_items` items, and weights of length at most 1.
        Formula: that of `WeightedRounds` with one round.
        Not covered: how long it takes; several lists, which add up; one person under several names.
        Reference: Gopi et al. 2020 (weights of length 1 and Gaussian noise); Bun & Steinke 2016, Def. 8.1.
        Proof: docs/proofs/itemlogs.md, section 4 (proved).

    >>> method = Weighted(1, "1e-6", max_items=10)
    >>> print(method.claim.short, "|", round(method.people_needed))
    epsilon = 1, delta = 1e-6 for each user | 89
    """

    name = "weighted"
    rounds = ((Fraction(1), Fraction(1)),)
