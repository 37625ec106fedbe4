"""Methods that weigh items in one or several rounds, under Gaussian noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hubbub.exact import Exact
from hubbub.itemlogs.bounding import Pairs, at_random
from hubbub.itemlogs.claim import Claim
from hubbub.itemlogs.division import Division
from hubbub.itemlogs.method import ItemMethod, Progress
from hubbub.itemlogs.published import Published
from hubbub.itemlogs.thresholds import UNIT, gaussian_threshold
from hubbub.itemlogs.weighing import picks, picks_again, weigh
from hubbub.noise import ByteSource, DiscreteGaussian, Lottery

COUNT_SHARE = Fraction(1, 5)


class WeightedRounds(ItemMethod):
    """The base of `Weighted` and `Adaptive`: which differ in their rounds alone.

    In each round a user gives one weight to items of their own; discrete Gaussian noise is added to the weight of every
    item; what somebody gave weight to and passes the round's threshold is published. Later rounds see the noisy weights
    of the first: a user then picks items that are not published yet, whose noisy weight says that they may get there,
    the most promising first. Counts are another release, about the published items: each user counts for at most
    `max_items` of them.

    Guarantee
        Protects: one user with all rows; neighbouring logs have a user more or less.
        Enforced here: the length of a user's weights (G = 2^20 units) and the number of items.
        Formula: rho = sum of G^2/(2 variance) over the rounds, and max_items/(2 variance) of the counts; delta_2 = sum
        over the rounds of the largest t P(noise > T - G/sqrt(t)), t <= max_items; epsilon follows from rho and the rest
        of delta.
        Not covered: how long it takes; several lists, which add up; one person under several names.
        Reference: Desfontaines, Voss, Gipson & Mandayam 2022 (weights and a threshold); Swanberg, Desfontaines & Haney
        2023 (rounds); Chen et al. 2025 (weight moved by a first round's noisy weights); Bun & Steinke 2016, Def. 8.1.
        Proof: docs/proofs/itemlogs.md, sections 4 and 5 (proved).

    >>> from hubbub.itemlogs.weighted import Weighted
    >>> print(Weighted(1, "1e-6", max_items=10).claim.short)
    epsilon = 1, delta = 1e-6 for each user
    """

    rounds: ClassVar[tuple[tuple[Fraction, Fraction], ...]]
    """Of each round: its share of rho, and of the delta for items of one user."""

    promising: ClassVar[float] = 1.0
    """Standard deviations of the first round's noise that an item must show there to be picked later."""

    def __init__(
        self,
        epsilon: Exact,
        delta: Exact,
        max_items: int,
        *,
        count_share: Exact = COUNT_SHARE,
        source: ByteSource | None = None,
        allow_weak: bool = False,
    ) -> None:
        claim = Claim.checked(epsilon, delta, max_items, allow_weak=allow_weak)
        self._prepare(*Division.of(claim, self.rounds, count_share), source)

    @classmethod
    def within(
        cls,
        rho: Fraction,
        slips: Fraction,
        max_items: int,
        *,
        count_share: Exact = COUNT_SHARE,
        source: ByteSource | None = None,
    ) -> Self:
        """A method for a part of a larger promise: rho, but for `slips`. Its claim is one that follows from that."""
        claim = Claim.following(rho, slips, max_items)
        made = cls.__new__(cls)
        made._prepare(claim, Division.within(rho, slips, cls.rounds, count_share), source)
        return made

    def _prepare(self, claim: Claim, division: Division, source: ByteSource | None) -> None:
        super().__init__(claim, source)
        self.division = division
        max_items = claim.max_items
        self._noises = [DiscreteGaussian(Fraction(UNIT * UNIT) / (2 * rho), source) for rho in self.division.rhos]
        self.thresholds = tuple(
            gaussian_threshold(noise.variance_parameter, part, max_items)
            for noise, part in zip(self._noises, self.division.deltas, strict=True)
        )
        counts = self.division.counts
        self._count_noise = DiscreteGaussian(max_items / (2 * counts), source) if counts else None

    @property
    def people_needed(self) -> float:
        """How many users with `max_items` items each bring an item to the last threshold, without noise."""
        return self.thresholds[-1] / UNIT * math.sqrt(self.claim.max_items)

    @property
    def reach(self) -> int:
        """Half of the 95 % interval of a count, if there are counts."""
        return 0 if self._count_noise is None else self._count_noise.quantile(Fraction(975, 1000))

    def _publish(
        self, pairs: Pairs, items: int, progress: Progress
    ) -> tuple[NDArray[np.intp], NDArray[np.int64] | None]:
        limit = self.claim.max_items
        published = np.zeros(items, dtype=np.bool_)
        scores: NDArray[np.int64] | None = None
        lottery = Lottery(self._source)
        for number, (noise, threshold) in enumerate(zip(self._noises, self.thresholds, strict=True), 1):
            progress(f"weighing, round {number} of {len(self._noises)}")
            if scores is None:
                chosen = picks(pairs, limit, lottery)
            else:
                cut = int(self.promising * math.sqrt(self._noises[0].variance_parameter))
                chosen = picks_again(pairs, limit, lottery, scores, ~published, cut)
            weights = weigh(chosen, items, limit)
            # An item without weight has noise all the same, which later picks go by; but it is never published: of one
            # user's own items there may be thousands, and the threshold is made for the few that the user picked.
            noisy = weights + noise.sample(items)
            published |= (weights > 0) & (noisy > threshold)
            scores = noisy if scores is None else scores
        return self._counted(pairs, published, progress)

    def _counted(
        self, pairs: Pairs, published: NDArray[np.bool_], progress: Progress
    ) -> tuple[NDArray[np.intp], NDArray[np.int64] | None]:
        found = np.flatnonzero(published)
        if self._count_noise is None:
            return found, None
        progress("counting")
        users, codes = pairs
        listed = published[codes]
        _, kept = at_random((users[listed], codes[listed]), self.claim.max_items, Lottery(self._source))
        counts = np.bincount(kept, minlength=len(published))[found]
        return found, counts + self._count_noise.sample(len(found))

    def _published(self, names: list[str], counts: NDArray[np.int64] | None) -> Published:
        facts = {"weight_unit": UNIT, "thresholds": list(self.thresholds), "division": self.division.to_dict()}
        if counts is None or self._count_noise is None:
            return Published.of(names, None, None, None, None, method=self.name, claim=self.claim, facts=facts)
        lower, upper = np.maximum(counts - self.reach, 0).astype(np.float64), (counts + self.reach).astype(np.float64)
        error = np.full(len(names), self._count_noise.variance**0.5)
        return Published.of(
            names, counts, error, lower, np.maximum(upper, 0), method=self.name, claim=self.claim, facts=facts
        )
