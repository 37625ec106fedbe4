"""What a release took from the budget, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hubbub.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class Cost:
    """The privacy loss of one tick for a unit that is present in it: pure `epsilon`, or zCDP `rho`; never both.

    >>> Cost(epsilon=Fraction(1, 20))
    Cost(epsilon=1/20)
    >>> Cost.nothing().is_free
    True
    """

    epsilon: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name in ("epsilon", "rho"):
            amount = getattr(self, name)
            if not isinstance(amount, Fraction) or amount < 0:
                raise InvalidParameter(f"A cost's `{name}` is an exact Fraction from 0 on; got {amount!r}.")
        if self.epsilon and self.rho:
            raise InvalidParameter("A cost is in epsilon or in rho; got both.", "Convert one of them first.")

    @classmethod
    def nothing(cls) -> Cost:
        """The cost of a prediction: it looks at no data."""
        return cls()

    @property
    def is_free(self) -> bool:
        return not (self.epsilon or self.rho)

    def __repr__(self) -> str:
        if self.is_free:
            return "Cost(nothing)"
        return f"Cost(epsilon={self.epsilon})" if self.epsilon else f"Cost(rho={self.rho})"
