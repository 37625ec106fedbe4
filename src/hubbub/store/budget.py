"""What a stream has spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hubbub.privacy import Guarantee, together


@dataclass(frozen=True, slots=True)
class Budget:
    """What one unit can have been charged at most, and what that leaves, in the guarantee's currency.

    Open reservations count as spent. A stream with a companion has one budget: the sum of both, with each one's own in
    `parts`; `settled`, `lost` and `reserved` then count the lines of both ledgers.
    """

    guarantee: Guarantee
    spent: Fraction
    left: Fraction
    settled: int
    lost: int
    reserved: int
    parts: Mapping[str, Budget] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: Mapping[str, Budget]) -> Budget:
        """What these streams promise and have spent together: a unit may meet all of them."""
        budgets = list(parts.values())
        return cls(
            together(*(budget.guarantee for budget in budgets)),
            sum((budget.spent for budget in budgets), Fraction(0)),
            sum((budget.left for budget in budgets), Fraction(0)),
            sum(budget.settled for budget in budgets),
            sum(budget.lost for budget in budgets),
            sum(budget.reserved for budget in budgets),
            dict(parts),
        )

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
            **({"parts": {name: part.to_dict() for name, part in self.parts.items()}} if self.parts else {}),
        }
