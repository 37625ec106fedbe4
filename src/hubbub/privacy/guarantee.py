"""The promise, as a value that can be stored, compared and read aloud."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.errors import InvalidParameter, UnsoundConversion
from hubbub.exact import Exact, exact, positive
from hubbub.privacy.unit import Unit, unit_from_dict
from hubbub.privacy.zcdp import epsilon_of_rho, rho_of_epsilon

WEAKEST_EPSILON = 20
"""e^20 is half a billion: above this the number promises nothing, and asking for it is nearly always a mistake."""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Neighbouring streams (one lacks a `unit` that the other has) give nearly the same outputs.

    Three kinds, made by `pure`, `approximate` and `zcdp`; each promises about the whole stream, every tick together.

    | kind | for every set of outputs S and neighbours D, D' |
    |---|---|
    | pure | P[M(D) in S] <= e^epsilon P[M(D') in S] |
    | approximate | P[M(D) in S] <= e^epsilon P[M(D') in S] + delta |
    | zcdp | the Renyi divergence of order a is at most rho a, for every a > 1 (Bun & Steinke 2016, Def. 1.1) |

    >>> from hubbub.privacy.unit import Session
    >>> print(Guarantee.pure(Session(max_ticks=20), 1))
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, for as long as
    the stream runs. A session counts in at most 20 ticks, one key a tick; what exceeds this is dropped before counting.
    """

    unit: Unit
    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        strengths = [amount for amount in (self.epsilon, self.rho) if amount is not None]
        exactly = all(isinstance(amount, Fraction) and amount > 0 for amount in strengths)
        if len(strengths) != 1 or not exactly or not 0 <= self.delta < 1 or (self.rho is not None and self.delta):
            raise InvalidParameter(
                "A guarantee has an exact epsilon above 0, with or without a delta below 1, or an exact rho above 0.",
                "Use Guarantee.pure, Guarantee.approximate or Guarantee.zcdp.",
            )

    @classmethod
    def pure(cls, unit: Unit, epsilon: Exact, *, allow_weak: bool = False) -> Guarantee:
        return cls(unit, epsilon=_strong(epsilon, allow_weak))

    @classmethod
    def approximate(cls, unit: Unit, epsilon: Exact, delta: Exact, *, allow_weak: bool = False) -> Guarantee:
        chance = exact(delta, "delta")
        if not 0 < chance < 1:
            raise InvalidParameter(
                f"`delta` must lie between 0 and 1; got {delta}.",
                "It is the chance that the promise fails: take far less than one in the number of people, e.g. 1e-9.",
            )
        guarantee = cls(unit, epsilon=_strong(epsilon, allow_weak), delta=chance)
        if not guarantee.budget:
            raise InvalidParameter(
                f"`epsilon` is {epsilon}: too small to be kept with a delta by any noise we can draw.",
                "Values from 0.01 to 3 are usual.",
            )
        return guarantee

    @classmethod
    def zcdp(cls, unit: Unit, rho: Exact, *, allow_weak: bool = False) -> Guarantee:
        amount = positive(rho, "rho")
        if amount > WEAKEST_EPSILON and not allow_weak:
            raise _too_weak("rho", amount)
        return cls(unit, rho=amount)

    @property
    def kind(self) -> str:
        if self.rho is not None:
            return "zcdp"
        return "approximate" if self.delta else "pure"

    @property
    def budget(self) -> Fraction:
        """What an account may charge to one unit in all: epsilon if pure, otherwise rho (rounded down)."""
        if self.rho is not None:
            return self.rho
        assert self.epsilon is not None
        return rho_of_epsilon(self.epsilon, self.delta) if self.delta else self.epsilon

    def to_zcdp(self) -> Guarantee:
        """The weaker promise in zCDP that a pure one implies: rho = epsilon^2/2 (Bun & Steinke 2016, Prop. 1.4)."""
        if self.kind == "pure":
            assert self.epsilon is not None
            return Guarantee(self.unit, rho=self.epsilon**2 / 2)
        if self.kind == "zcdp":
            return self
        raise UnsoundConversion(
            "An approximate guarantee does not imply zCDP: the chance delta has no bound on how badly it fails.",
            "State the guarantee in zCDP from the start and convert it to (epsilon, delta) for reading.",
        )

    def to_approximate(self, delta: Exact) -> Guarantee:
        """The weaker promise (epsilon, delta) that this one implies; epsilon is rounded up."""
        chance = exact(delta, "delta")
        if not 0 < chance < 1:
            raise InvalidParameter(f"`delta` must lie between 0 and 1; got {delta}.")
        if self.rho is not None:
            return Guarantee(self.unit, epsilon=epsilon_of_rho(self.rho, chance), delta=chance)
        if chance < self.delta:
            raise UnsoundConversion(
                f"A guarantee with delta {float(self.delta):g} does not imply one with the smaller {float(chance):g}.",
                "Ask for a delta at least as large.",
            )
        return Guarantee(self.unit, epsilon=self.epsilon, delta=chance)

    def to_pure(self) -> Guarantee:
        """This promise if it is pure; no other kind implies a pure one."""
        if self.kind != "pure":
            raise UnsoundConversion(
                f"A guarantee of kind {self.kind} does not imply a pure one.", "Use Laplace noise with a pure epsilon."
            )
        return self

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.unit.to_dict(),
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "delta": str(self.delta),
            "rho": None if self.rho is None else str(self.rho),
        }

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Guarantee:
        epsilon, rho = facts["epsilon"], facts["rho"]
        return cls(
            unit_from_dict(facts),
            epsilon=None if epsilon is None else Fraction(epsilon),
            delta=Fraction(facts["delta"]),
            rho=None if rho is None else Fraction(rho),
        )

    @property
    def sentence(self) -> str:
        """The promise as one paragraph that a lawyer could read."""
        unit = self.unit
        if unit.horizon is None:
            span = "for as long as the stream runs"
        else:
            span = f"over all {unit.horizon:,} ticks of the stream together"
        what = f"Each {unit.noun}'s presence changes any output's probability by at most a factor "
        if self.kind == "zcdp":
            assert self.rho is not None
            epsilon = epsilon_of_rho(self.rho, Fraction(1, 10**9))
            promise = f"{what}{_factor(epsilon)} (except with a chance of 1e-09, from rho = {_short(self.rho)})"
        else:
            assert self.epsilon is not None
            promise = what + _factor(self.epsilon)
            if self.delta:
                promise += f" (except with a chance of {float(self.delta):.3g})"
        return f"{promise}, {span}. {unit.bound}"

    def __str__(self) -> str:
        return self.sentence


def _strong(epsilon: Exact, allow_weak: bool) -> Fraction:
    amount = positive(epsilon, "epsilon")
    if amount > WEAKEST_EPSILON and not allow_weak:
        raise _too_weak("epsilon", amount)
    return amount


def _too_weak(name: str, amount: Fraction) -> InvalidParameter:
    return InvalidParameter(
        f"`{name}` is {_short(amount)}: above {WEAKEST_EPSILON} the guarantee promises practically nothing.",
        "Values from 0.01 to 3 are usual. If you mean it, say allow_weak=True.",
    )


def _factor(epsilon: Fraction) -> str:
    number = float(epsilon)
    return f"e^{_short(epsilon)} = {math.exp(number):,.3g}" if number < 700 else f"e^{_short(epsilon)}"


def _short(amount: Fraction) -> str:
    return f"{float(amount):.4g}"
