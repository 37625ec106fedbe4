"""What a release took from the budget, exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from hubbub.errors import InvalidParameter

NO_SLIP = Fraction(0)
"""The delta of every cost that names none: this very object, so that nobody has to compare it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The privacy loss of one tick for a unit that is present in it: pure `epsilon`, or zCDP `rho`; never both.

    `delta` is what the tick may *slip*: with that chance at most its outcome keeps no bound at all. Only mechanisms
    that compare with a threshold have one. What it means, and how it adds up: docs/proofs/composition.md.

    >>> Cost(epsilon=Fraction(1, 20))
    Cost(epsilon=1/20)
    >>> Cost(rho=Fraction(1, 20), delta=Fraction(1, 10**9))
    Cost(rho=1/20, delta=1/1000000000)
    >>> Cost.nothing().is_free
    True
    """

    epsilon: Fraction = NO_SLIP  # zero; the very object, since asking a fraction whether it is zero takes long
    rho: Fraction = NO_SLIP
    delta: Fraction = field(default=NO_SLIP, hash=False)  # few differ in it alone, and noise is looked up by cost

    def __post_init__(self) -> None:
        for name in ("epsilon", "rho"):
            amount = getattr(self, name)
            if not isinstance(amount, Fraction) or amount < 0:
                raise InvalidParameter(f"A cost's `{name}` is an exact Fraction from 0 on; got {amount!r}.")
        if self.delta is not NO_SLIP and not (isinstance(self.delta, Fraction) and 0 <= self.delta < 1):
            raise InvalidParameter(f"A cost's `delta` is an exact Fraction from 0 on, below 1; got {self.delta!r}.")
        if self.epsilon and self.rho:
            raise InvalidParameter("A cost is in epsilon or in rho; got both.", "Convert one of them first.")

    @classmethod
    def nothing(cls) -> Cost:
        """The cost of a prediction: it looks at no data."""
        return cls()

    @property
    def slips(self) -> bool:
        """Whether it has a delta; nearly no cost has."""
        return self.delta is not NO_SLIP and bool(self.delta)

    @property
    def is_free(self) -> bool:
        if self.epsilon is not NO_SLIP and self.epsilon:
            return False
        return not ((self.rho is not NO_SLIP and self.rho) or self.slips)

    def to_dict(self) -> dict[str, str]:
        """Exact text; the delta only where there is one."""
        told = {"epsilon": str(self.epsilon), "rho": str(self.rho)}
        return told | {"delta": str(self.delta)} if self.slips else told

    @classmethod
    def from_dict(cls, facts: dict[str, str]) -> Cost:
        """The inverse of `to_dict`."""
        delta = Fraction(facts["delta"]) if "delta" in facts else NO_SLIP
        return cls(Fraction(facts["epsilon"]), Fraction(facts["rho"]), delta)

    def __repr__(self) -> str:
        told = [f"{name}={amount}" for name in self.__slots__ if (amount := getattr(self, name))]
        return f"Cost({', '.join(told) or 'nothing'})"
