"""What a grant promises, stream by stream, and what of it is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.privacy import Grant, Guarantee


@dataclass(frozen=True, slots=True)
class Spending:
    """What one unit can have been charged by one stream at most, and what that leaves of the stream's share.

    Open reservations count as spent.
    """

    guarantee: Guarantee
    share: Fraction
    spent: Fraction
    left: Fraction
    settled: int
    lost: int
    reserved: int
    slips: Fraction = Fraction(0)
    """The part that it draws of what the streams of its grant may slip."""

    slipped: Fraction = Fraction(0)
    """The most delta that one unit can have been charged for what may have slipped."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; amounts are exact text. Slips are told where the stream draws some."""
        return {
            "share": str(self.share),
            "total": str(self.guarantee.budget),
            "spent": str(self.spent),
            "left": str(self.left),
            "settled": self.settled,
            "lost": self.lost,
            "reserved": self.reserved,
            **(
                {"slips": {"share": str(self.slips)} | _amounts(self.guarantee.slips, self.slipped)}
                if self.slips
                else {}
            ),
        }


@dataclass(frozen=True, slots=True)
class Budget:
    """What all streams of a grant have spent together, in the grant's currency: a unit may meet all of them.

    `parts` holds each stream's own; `settled`, `lost` and `reserved` count the lines of all their ledgers.
    """

    grant: Grant
    parts: Mapping[str, Spending]

    @property
    def guarantee(self) -> Guarantee:
        return self.grant.guarantee

    @property
    def currency(self) -> str:
        return "epsilon" if self.guarantee.kind == "pure" else "rho"

    @property
    def free(self) -> Fraction:
        """The share that no stream has drawn."""
        return 1 - sum((part.share for part in self.parts.values()), Fraction(0))

    @property
    def total(self) -> Fraction:
        """What a unit may be charged in all, by streams that are there and by those that may still come."""
        drawn = sum((part.guarantee.budget for part in self.parts.values()), Fraction(0))
        return drawn + self.free * self.guarantee.divisible if self.free else drawn

    @property
    def spent(self) -> Fraction:
        return sum((part.spent for part in self.parts.values()), Fraction(0))

    @property
    def left(self) -> Fraction:
        return self.total - self.spent

    @property
    def slipped(self) -> Fraction:
        """The most delta that one unit can have been charged for what may have slipped; `guarantee.slips` is all."""
        return sum((part.slipped for part in self.parts.values()), Fraction(0))

    @property
    def slips_left(self) -> Fraction:
        return self.guarantee.slips - self.slipped

    @property
    def free_slips(self) -> Fraction:
        """The part of what may slip that no stream has drawn; nothing where nothing may slip."""
        whole = Fraction(1 if self.guarantee.slips else 0)
        return whole - sum((part.slips for part in self.parts.values()), Fraction(0))

    @property
    def settled(self) -> int:
        return sum(part.settled for part in self.parts.values())

    @property
    def lost(self) -> int:
        return sum(part.lost for part in self.parts.values())

    @property
    def reserved(self) -> int:
        return sum(part.reserved for part in self.parts.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; amounts are exact text. Slips are told where the grant has any."""
        slips = _amounts(self.guarantee.slips, self.slipped) | {"free_share": str(self.free_slips)}
        return {
            "grant": self.grant.name,
            "population": self.grant.population,
            "apart_from": list(self.grant.apart_from),
            "guarantee": self.guarantee.sentence,
            "currency": self.currency,
            "total": str(self.total),
            "spent": str(self.spent),
            "left": str(self.left),
            "free_share": str(self.free),
            "settled": self.settled,
            "lost": self.lost,
            "reserved": self.reserved,
            **({"slips": slips} if self.guarantee.slips else {}),
            "parts": {name: part.to_dict() for name, part in self.parts.items()},
        }


def _amounts(total: Fraction, spent: Fraction) -> dict[str, str]:
    return {"total": str(total), "spent": str(spent), "left": str(total - spent)}
