"""What a stream has spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.privacy import Guarantee


@dataclass(frozen=True, slots=True)
class Budget:
    """What one unit can have been charged at most, and what that leaves, in the guarantee's currency.

    Open reservations count as spent.
    """

    guarantee: Guarantee
    spent: Fraction
    left: Fraction
    settled: int
    lost: int
    reserved: int

    @property
    def currency(self) -> str:
        return "epsilon" if self.guarantee.kind == "pure" else "rho"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; amounts are exact text."""
        return {
            "guarantee": self.guarantee.sentence,
            "currency": self.currency,
            "total": str(self.guarantee.budget),
            "spent": str(self.spent),
            "left": str(self.left),
            "settled": self.settled,
            "lost": self.lost,
            "reserved": self.reserved,
        }
