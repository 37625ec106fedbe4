"""How a method with weights divides its budget, exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, exact
from hubbub.itemlogs.claim import Claim
from hubbub.privacy.rounding import at_most
from hubbub.privacy.zcdp import rho_of_epsilon

FOUND = Fraction(1, 2)
"""The part of delta for items of one user that slip through; the rest turns rho into epsilon."""

LEAST = Fraction(1, 2**34)
"""Below this rho (an epsilon of some 4e-5) a tenth of it would need noise beyond what is proved and tested."""


@dataclass(frozen=True, slots=True)
class Division:
    """Rounds that look for items, each with a rho and a part of delta; and a rho for counts.

    All rho together follow from (epsilon, delta/2); the parts of delta add up to the other half.
    """

    rhos: tuple[Fraction, ...]
    deltas: tuple[Fraction, ...]
    counts: Fraction

    @classmethod
    def of(
        cls, claim: Claim, rounds: tuple[tuple[Fraction, Fraction], ...], count_share: Exact
    ) -> tuple[Claim, Division]:
        """The claim with its numbers for a ledger, and who gets what. `rounds` are shares of rho and of delta."""
        slips = claim.delta * FOUND
        rho = rho_of_epsilon(claim.epsilon, claim.delta - slips)
        return replace(claim, rho=rho, rho_delta=slips), cls.within(rho, slips, rounds, count_share)

    @classmethod
    def within(
        cls, rho: Fraction, slips: Fraction, rounds: tuple[tuple[Fraction, Fraction], ...], count_share: Exact
    ) -> Division:
        """Who gets what of a rho, and of the delta for items of one user."""
        share = exact(count_share, "count_share")
        if not 0 <= share < 1:
            raise InvalidParameter(
                f"`count_share` must be at least 0 and below 1; got {count_share}.",
                "It is the part of the budget that counts get: 0 publishes items without counts.",
            )
        if rho < LEAST:
            raise InvalidParameter(
                f"The budget of the list is rho = {at_most(rho)}: its noise would be larger than we can draw.",
                "An epsilon from 0.01 to 3 is usual.",
            )
        return cls(
            tuple(rho * (1 - share) * part for part, _ in rounds),
            tuple(slips * part for _, part in rounds),
            rho * share,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "rounds": [
                {"rho": str(rho), "delta": str(delta)} for rho, delta in zip(self.rhos, self.deltas, strict=True)
            ],
            "counts": {"rho": str(self.counts)},
        }
