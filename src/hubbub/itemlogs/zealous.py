"""ZEALOUS: counts, a threshold, noise, and a second threshold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, whole
from hubbub.itemlogs.bounding import Pairs, at_random
from hubbub.itemlogs.claim import Claim
from hubbub.itemlogs.intervals import given_published
from hubbub.itemlogs.method import ItemMethod, Progress
from hubbub.itemlogs.published import Published
from hubbub.itemlogs.thresholds import Thresholds, indistinguishable, probabilistic, tail
from hubbub.noise import ByteSource, DiscreteLaplace, Lottery


class Zealous(ItemMethod):
    """Items whose noisy number of users passes a threshold (Goetz 2012, 6.4; Korolova et al. 2009).

    Each user counts for at most `max_items` items, drawn by lot. Counts below `keep` (tau) are dropped, discrete
    Laplace noise is added, and what does not lie above `thresholds.publish` (tau') is dropped too. With `users`, a
    public bound on how many users the log holds, the guarantee is the stronger, probabilistic one, at higher
    thresholds.

    Guarantee
        Protects: one user with all rows; neighbouring logs have a user more or less (not one replaced by another).
        Enforced here: the bound on items. By the caller: that the user's name is the person's, and `users`.
        Formula: scale m/epsilon; m P(X > tau' - tau) <= delta, or with `users` (U m/tau) P(X > tau' - tau) <= delta and
        P(X > tau' - tau) <= 1 - exp(-epsilon/m), for the discrete noise X exactly.
        Not covered: how long it takes; several lists, which add up; one person under several names; a log of more
        than `users` users is refused, and that refusal tells its owner so.
        Reference: Goetz 2012, Thm 13 and 14, corrected (docs/errata.md).
        Proof: docs/proofs/itemlogs.md, sections 2 and 3 (proved).

    >>> print(Zealous(1, "1e-6", max_items=10).claim.short)
    epsilon = 1, delta = 1e-6 for each user
    """

    name = "zealous"

    def __init__(
        self,
        epsilon: Exact,
        delta: Exact,
        max_items: int,
        *,
        users: int | None = None,
        keep: int | None = None,
        source: ByteSource | None = None,
        allow_weak: bool = False,
    ) -> None:
        claim = Claim.checked(epsilon, delta, max_items, users=users, allow_weak=allow_weak)
        if keep is not None:
            whole(keep, "keep")
        numbers = claim.epsilon, claim.delta, max_items
        self.thresholds: Thresholds = (
            indistinguishable(*numbers, keep=keep or 1) if users is None else probabilistic(*numbers, users, keep)
        )
        # What neither tau nor noise hides has this chance, in both variants; the rest is pure, so (epsilon^2/2)-zCDP.
        slips = max_items * tail(self.thresholds.scale, self.thresholds.margin)
        rounded = Fraction(float(slips)) * (1 + Fraction(1, 10**9))
        super().__init__(
            replace(claim, rho=claim.epsilon**2 / 2, rho_delta=min(claim.delta, rounded) or claim.delta), source
        )
        self._noise = DiscreteLaplace(self.thresholds.scale, source)

    def miss_probability(self, count: int) -> float:
        """How often an item of so many users is not published: P(X <= tau' - count), and 1 below tau.

        Goetz 2012, Thm 15 says exp(-2 xi/lambda)/2 for counts from tau' on; at tau' it is a half and more.
        """
        return 1.0 if count < self.thresholds.keep else self._noise.cdf(self.thresholds.publish - count)

    def _publish(
        self, pairs: Pairs, items: int, progress: Progress
    ) -> tuple[NDArray[np.intp], NDArray[np.int64] | None]:
        progress("choosing items of each user")
        users, codes = at_random(pairs, self.claim.max_items, Lottery(self._source))
        if self.claim.users is not None and len(np.unique(users)) > self.claim.users:
            raise InvalidParameter(
                "The log holds more users than `users` says: the guarantee would not hold.",
                "Nothing was published. Give a public number that no log of yours exceeds.",
            )
        progress("counting")
        counts = np.bincount(codes, minlength=items)
        shared = np.flatnonzero(counts >= self.thresholds.keep)
        noisy = counts[shared] + self._noise.sample(len(shared))
        passed = noisy > self.thresholds.publish
        return shared[passed], noisy[passed]

    def _published(self, names: list[str], counts: NDArray[np.int64] | None) -> Published:
        assert counts is not None
        lower, upper = given_published(counts, self.thresholds)
        error = np.full(len(names), self._noise.variance**0.5)
        return Published.of(
            names, counts, error, lower, upper, method=self.name, claim=self.claim,
            facts={"scale": str(self.thresholds.scale), "keep": self.thresholds.keep,
                   "publish_above": self.thresholds.publish},
        )  # fmt: skip
