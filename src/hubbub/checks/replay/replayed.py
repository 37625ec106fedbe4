"""What a replay of one pair of neighbours has shown."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hubbub.checks.failure import expect
from hubbub.checks.replay.tape import Tape
from hubbub.privacy import Guarantee


@dataclass(frozen=True)
class Replayed:
    """`cost` is how far apart the neighbours are for the draws, `budget` how far they may be; `draws` were weighed."""

    cost: Fraction
    budget: Fraction
    draws: int
    restarts: int = 0

    @property
    def share(self) -> Fraction:
        return self.cost / self.budget


def within(cost: Fraction, guarantee: Guarantee, tape: Tape, *, restarts: int = 0) -> Replayed:
    """What the unit cost in all; refused if that is more than its guarantee."""
    expect(
        cost <= guarantee.budget,
        f"What the noise was given differs by {cost} between neighbours, and {guarantee.budget} was promised.",
    )
    return Replayed(cost, guarantee.budget, sum(int(row.used.sum()) for row in tape.rows), restarts)
