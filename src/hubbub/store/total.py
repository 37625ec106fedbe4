"""What all grants of a store that may be about the same people promise together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hubbub.privacy import Grant, Guarantee, steps, together
from hubbub.store.grants import StoredGrant


@dataclass(frozen=True, slots=True)
class Total:
    """The sum over grants, said about the unit of one of them.

    | | grants |
    |---|---|
    | `added` | that may be about the same people, each with its steps (`hubbub.privacy.steps`): they are in the sum |
    | `beside` | that may be about the same people, but from which nothing follows about this unit |
    | `apart` | of which the owner vouches that they are about other people |
    """

    grant: Grant
    guarantee: Guarantee | None
    added: tuple[tuple[Grant, int], ...]
    beside: tuple[Grant, ...]
    apart: tuple[Grant, ...]

    @classmethod
    def of(cls, one: StoredGrant, all_grants: Iterable[StoredGrant]) -> Total:
        unit, added, beside, apart = one.grant.guarantee.unit, [(one.grant, 1)], [], []
        for other in all_grants:
            if other.grant.name == one.grant.name:
                continue
            same_ticks = len(one.clocks | other.clocks) == 1
            factor = steps(unit, other.grant.guarantee.unit, same_ticks=same_ticks)
            if not one.grant.may_meet(other.grant):
                apart.append(other.grant)
            elif factor is None:
                beside.append(other.grant)
            else:
                added.append((other.grant, factor))
        promised = [(grant.guarantee, times) for grant, times in added]
        return cls(one.grant, together(unit, promised), tuple(added), tuple(beside), tuple(apart))

    @property
    def sentences(self) -> tuple[str, ...]:
        """For every reader: the sum, what is not in it, and what the owner vouches for."""
        told: list[str] = []
        others = len(self.added) - 1
        unit = self.grant.guarantee.unit
        if others:
            names = ", ".join(grant.name for grant, _ in self.added[1:])
            what = f"{'1 other grant' if others == 1 else f'{others:,} other grants'} ({names})"
            said = (
                f"nothing is left of the promise about {unit.one}"
                if self.guarantee is None
                else self.guarantee.promise.formal("in all that they publish together")
            )
            told.append(f"This store holds {what} that may be about the same people. Taken together: {said}.")
        for grant, times in self.added:
            if times > 1:
                told.append(f"{grant.name} counts {times} times in this: {_why(grant, unit.one)}.")
        for grant in self.beside:
            noun = grant.guarantee.unit.thing
            told.append(
                f"{grant.name} may be about the same people too. It protects {noun}, from which nothing follows about "
                f"{unit.one}: it is not in any sum."
            )
        if self.apart:
            names = ", ".join(
                f"{grant.name} ({grant.population or 'nobody said who they are'})" for grant in self.apart
            )
            told.append(f"The owner vouches that nobody is counted both here and in: {names}. They are not added.")
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        whole = self.guarantee
        return {
            "guarantee": None if whole is None else whole.promise.formal("in all that they publish together") + ".",
            "epsilon": None if whole is None or whole.epsilon is None else str(whole.epsilon),
            "delta": None if whole is None else str(whole.delta),
            "rho": None if whole is None or whole.rho is None else str(whole.rho),
            "added": [{"grant": grant.name, "steps": times} for grant, times in self.added],
            "beside": [grant.name for grant in self.beside],
            "apart": [grant.name for grant in self.apart],
            "sentences": list(self.sentences),
        }


def _why(grant: Grant, one: str) -> str:
    return f"it protects {grant.guarantee.unit.thing}, of which {one} is a part"
