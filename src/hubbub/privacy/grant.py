"""One promise about one population, which several streams keep together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, exact
from hubbub.privacy.guarantee import Guarantee

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Grant:
    """A population, what is protected of it, and a budget that streams divide among themselves.

    `population` says who they are ("visitors of example.org"); empty where nobody said. `apart_from` names other
    populations of which the owner vouches that nobody in them is in this one. Without that, grants of one store are
    taken to be about the same people, and what they promise is added up (`hubbub.privacy.together`).

    Guarantee
        Protects: one `unit` of the guarantee, in everything that all streams of the grant publish together.
        Enforced by the caller: the unit's bounds, in every stream; that a unit is the same thing in all of them.
        Formula: a stream that draws the share s keeps s times epsilon (pure) or s times rho (zCDP, and with a delta,
        where rho is the one that leads back to epsilon and delta); shares are exact and add up to at most 1. What
        streams may slip (`Guarantee.slips`) is divided in the same way, by shares of its own.
        Not covered: what other grants publish about the same people; that adds up.
        Reference: basic composition, Dwork & Roth 2014, Thm 3.14; Bun & Steinke 2016, Lemmas 1.7
        and 8.2.
        Proof: docs/proofs/grants.md (proved).

    >>> from hubbub.privacy.unit import Session
    >>> visitors = Grant("visitors", Guarantee.pure(Session(max_ticks=20), 1), "visitors of example.org")
    >>> visitors.part("1/4").guarantee.epsilon
    Fraction(1, 4)
    >>> print(visitors.guarantee)
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    """

    name: str
    guarantee: Guarantee
    population: str = ""
    apart_from: tuple[str, ...] = ()

    def __init__(
        self, name: str, guarantee: Guarantee, population: str = "", apart_from: Iterable[str] = ()
    ) -> None:  # fmt: skip
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidParameter(
                f"{name!r} cannot be a grant's name.",
                "Use up to 100 letters, digits, dots, dashes and underscores, beginning with a letter or digit. "
                "`population` says in your own words who is counted.",
            )
        if isinstance(apart_from, str):
            apart_from = (apart_from,)
        others = tuple(sorted(set(apart_from)))
        if population:
            _check_population(population)
        for other in others:
            _check_population(other)
        if others and (not population or population in others):
            raise InvalidParameter(
                "`apart_from` names other populations than that of the grant itself.",
                "Say who is counted here in `population`, and in `apart_from` who is certainly not among them.",
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "guarantee", guarantee)
        object.__setattr__(self, "population", population)
        object.__setattr__(self, "apart_from", others)

    def part(self, share: Exact = 1, slips: Exact | None = None, max_ticks: int | None = None) -> Part:
        """What one stream draws of it: of the budget, and of what may slip.

        Who names no slips draws none, but the whole grant draws all. A stream that counts a unit in fewer of its ticks
        than the grant says, and enforces it, names them (`max_ticks`): each tick then has more of the part.
        """
        drawn = exact(share, "share")
        slipping = self.guarantee.usual_slips(drawn) if slips is None else exact(slips, "slips")
        return Part(self, drawn, slipping, max_ticks)

    def may_meet(self, other: Grant) -> bool:
        """Whether somebody may be counted under both: always, unless the owner vouches that nobody is."""
        return other.population not in self.apart_from and self.population not in other.apart_from

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "population": self.population,
            "guarantee": self.guarantee.to_dict(),
            "apart_from": list(self.apart_from),
        }

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Grant:
        return cls(
            facts["name"], Guarantee.from_dict(facts["guarantee"]), facts["population"], facts["apart_from"]
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """An exact share of a grant, and of what its streams may slip: what one stream promises by itself.

    >>> from hubbub.privacy.unit import Event
    >>> half = Grant("visitors", Guarantee.zcdp(Event(), "1/10")).part("1/2")
    >>> half.guarantee.rho, half.of("1/4").share
    (Fraction(1, 20), Fraction(1, 8))
    >>> from hubbub.privacy.unit import Session
    >>> Grant("visitors", Guarantee.pure(Session(20), 1)).part("1/2", max_ticks=1).guarantee.unit.max_ticks
    1
    """

    grant: Grant
    share: Fraction
    slips: Fraction = Fraction(0)
    max_ticks: int | None = None
    """In how many of its ticks the stream counts a unit, where that is fewer than the grant says."""

    def __post_init__(self) -> None:
        self.guarantee  # noqa: B018 - refuses what is no share

    @property
    def guarantee(self) -> Guarantee:
        whole = self.grant.guarantee.part(self.share, self.slips)
        return whole if self.max_ticks is None else replace(whole, unit=whole.unit.counting_in(self.max_ticks))

    def of(self, share: Exact, slips: Exact = 0) -> Part:
        """A part of this part."""
        shares = self.share * exact(share, "share"), self.slips * exact(slips, "slips")
        return Part(self.grant, *shares, self.max_ticks)


def _check_population(words: str) -> None:
    if (
        not isinstance(words, str)
        or words != words.strip()
        or not words.isprintable()
        or not 0 < len(words) <= _LONGEST
    ):
        raise InvalidParameter(
            f"{words!r} cannot name a population.",
            f"Say in one line of up to {_LONGEST} characters who they are, e.g. 'visitors of example.org'.",
        )
