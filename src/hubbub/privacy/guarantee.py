"""The promise, as a value that can be stored, compared and read aloud."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.errors import InvalidParameter, UnsoundConversion
from hubbub.exact import Exact, exact, positive
from hubbub.privacy.promise import NAMED_DELTA, WEAKEST_DELTA, Promise
from hubbub.privacy.rounding import at_least, at_most
from hubbub.privacy.unit import Unit, unit_from_dict
from hubbub.privacy.zcdp import epsilon_of_rho, rho_of_epsilon

KINDS = ("pure", "approximate", "zcdp")
"""What a guarantee can be."""

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
    | zcdp with delta | the same, but for parts of M(D) and M(D') of weight delta each (Def. 8.1) |

    What mechanisms with thresholds *slip* is paid from a delta: that of zcdp, or the part of an approximate promise's
    that is set `aside` for it. `slips` says how much there is. Proof: docs/proofs/composition.md (proved).

    >>> from hubbub.privacy.unit import Session
    >>> print(Guarantee.pure(Session(max_ticks=20), 1))
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, for as long as
    the stream runs. A session counts in at most 20 ticks, one key per tick; what exceeds this must not be counted.
    Several add up: for k sessions of one person together the factor is e^k.
    """

    unit: Unit
    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    aside: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        strengths = [amount for amount in (self.epsilon, self.rho) if amount is not None]
        exactly = all(isinstance(amount, Fraction) and amount > 0 for amount in strengths)
        exactly = exactly and all(isinstance(amount, Fraction) for amount in (self.delta, self.aside))
        # What is set aside is a part of an approximate promise's delta; zCDP has its delta for slips alone.
        aside = not self.aside or (self.rho is None and 0 < self.aside < self.delta)
        if len(strengths) != 1 or not exactly or not 0 <= self.delta < 1 or not aside:
            raise InvalidParameter(
                "A guarantee has an exact epsilon above 0 or an exact rho above 0, with or without a delta below 1; of "
                "an epsilon's delta a part may be set aside.",
                "Use Guarantee.pure, Guarantee.approximate or Guarantee.zcdp.",
            )

    @classmethod
    def pure(cls, unit: Unit, epsilon: Exact, *, allow_weak: bool = False) -> Guarantee:
        return cls(unit, epsilon=_strong(epsilon, allow_weak))

    @classmethod
    def approximate(
        cls, unit: Unit, epsilon: Exact, delta: Exact, *, aside: Exact = 0, allow_weak: bool = False
    ) -> Guarantee:
        """A delta above 1e-3 is refused unless `allow_weak`: of a thousand units one may then be told in full.

        `aside` is the part of delta that mechanisms with thresholds may slip; noise is made for the rest.

        >>> from hubbub.privacy.unit import Session
        >>> whole = Guarantee.approximate(Session(max_ticks=20), 1, "1e-6", aside="5e-7")
        >>> whole.slips, whole.budget < Guarantee.approximate(Session(max_ticks=20), 1, "1e-6").budget
        (Fraction(1, 2000000), True)
        """
        chance = _chance(unit, delta, allow_weak)
        kept = exact(aside, "aside")
        if not 0 <= kept < chance:
            raise InvalidParameter(
                f"`aside` must be at least 0 and less than `delta`, which is {at_most(chance)}; got {aside}: it is the "
                "part of delta that is kept for slips.",
                "Half of delta is usual.",
            )
        guarantee = cls(unit, epsilon=_strong(epsilon, allow_weak), delta=chance, aside=kept)
        if not guarantee.budget:
            raise InvalidParameter(
                f"`epsilon` is {epsilon}: too small to be kept with a delta by any noise we can draw.",
                "Values from 0.01 to 3 are usual.",
            )
        return guarantee

    @classmethod
    def zcdp(cls, unit: Unit, rho: Exact, *, delta: Exact | None = None, allow_weak: bool = False) -> Guarantee:
        """A rho that means an epsilon above 20 at delta = 1e-9, which is one above 3.59, needs `allow_weak`.

        With a `delta` it is rho-zCDP but for that: what mechanisms with thresholds may slip.
        """
        amount = positive(rho, "rho")
        weakest = rho_of_epsilon(Fraction(WEAKEST_EPSILON), NAMED_DELTA)
        if amount > weakest and not allow_weak:
            raise InvalidParameter(
                f"`rho` is {at_most(amount)}: above {at_least(weakest)} it means an epsilon above {WEAKEST_EPSILON} at "
                f"delta = {at_most(NAMED_DELTA)}, and the guarantee promises practically nothing.",
                "Values from 0.0001 to 0.5 are usual. If you mean it, say allow_weak=True.",
            )
        return cls(unit, rho=amount) if delta is None else cls(unit, rho=amount, delta=_chance(unit, delta, allow_weak))

    @classmethod
    def parse(
        cls,
        unit: Unit,
        *,
        epsilon: Exact | None = None,
        delta: Exact | None = None,
        rho: Exact | None = None,
        slips: Exact | None = None,
        allow_weak: bool = False,
    ) -> Guarantee:
        """The promise that these numbers name, of whichever kind: for the command line, settings and the Lab.

        `slips` is what mechanisms with thresholds may slip: a part of an epsilon's delta, or the delta beside a rho. A
        bare delta beside a rho is nearly always a mistake, and refused.

        >>> from hubbub.privacy.unit import Event
        >>> Guarantee.parse(Event(), epsilon="0.1").kind, Guarantee.parse(Event(), rho=1).kind
        ('pure', 'zcdp')
        """
        pure_slips = slips is not None and rho is None and delta is None
        if (epsilon is None) == (rho is None) or (rho is not None and delta is not None) or pure_slips:
            amounts = {"epsilon": epsilon, "delta": delta, "rho": rho, "slips": slips}
            given = [f"`{name}`" for name, amount in amounts.items() if amount is not None]
            raise InvalidParameter(
                f"A budget is `epsilon`, with or without `delta`, or `rho`; got {' and '.join(given) or 'neither'}.",
                "epsilon alone is a pure promise, with a delta an approximate one; rho is zCDP, which has no delta but "
                "for slips. A pure promise slips nothing.",
            )
        if rho is not None:
            return cls.zcdp(unit, rho, delta=slips, allow_weak=allow_weak)
        assert epsilon is not None
        if delta is not None:
            aside = 0 if slips is None else slips
            return cls.approximate(unit, epsilon, delta, aside=aside, allow_weak=allow_weak)
        return cls.pure(unit, epsilon, allow_weak=allow_weak)

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
        return rho_of_epsilon(self.epsilon, self.delta - self.aside) if self.delta else self.epsilon

    @property
    def slips(self) -> Fraction:
        """How much delta an account may charge to one unit in all, for what may slip; beside the budget."""
        return self.delta if self.rho is not None else self.aside

    @property
    def divisible(self) -> Fraction:
        """The budget that several streams can divide among themselves: `budget`, and a little less with a delta.

        Parts of a promise with a delta are parts of rho. A part may be kept at whole orders alone (range trees), so the
        whole is the rho from which whole orders lead back to (epsilon, delta).
        """
        if self.kind != "approximate":
            return self.budget
        assert self.epsilon is not None
        return min(self.budget, rho_of_epsilon(self.epsilon, self.delta - self.aside, whole_orders=True))

    def part(self, share: Exact, slips: Exact | None = None) -> Guarantee:
        """The promise of a stream that draws `share` of this budget and `slips` of its slips, both exactly.

        All shares together are at most 1, and so are all slips. Who names no slips draws none; the whole draws all.
        Proof: docs/proofs/grants.md (proved).

        >>> from hubbub.privacy.unit import Session
        >>> whole = Guarantee.pure(Session(max_ticks=20), 1)
        >>> whole.part("2/3").epsilon, whole.part("1/3").epsilon
        (Fraction(2, 3), Fraction(1, 3))
        >>> lists = Guarantee.zcdp(Session(max_ticks=20), "1/10", delta="1e-6").part("1/4", slips="1/2")
        >>> lists.rho, lists.delta
        (Fraction(1, 40), Fraction(1, 2000000))
        """
        drawn = exact(share, "share")
        if not 0 < drawn <= 1:
            raise InvalidParameter(
                f"`share` must lie above 0 and be at most 1; got {share}.", "1/2 is half of the budget, 1 all of it."
            )
        slipping = self.usual_slips(drawn) if slips is None else exact(slips, "slips")
        if not 0 <= slipping <= 1:
            raise InvalidParameter(
                f"`slips` must lie between 0 and 1; got {slips}.", "1/2 is half of what is set aside for slips."
            )
        if slipping and not self.slips:
            raise InvalidParameter(
                f"`slips` is {slipping}, and the promise ({self.short}) has nothing set aside for slips.",
                "Make the promise with a delta for them: Guarantee.zcdp(…, delta=…) or "
                "Guarantee.approximate(…, aside=…). Streams that slip nothing need none.",
            )
        if drawn == 1 and slipping == self.usual_slips(drawn):
            return self
        # What is too weak was refused when the whole was made.
        if self.kind == "pure":
            return Guarantee(self.unit, epsilon=self.budget * drawn)
        return Guarantee(self.unit, rho=self.divisible * drawn, delta=self.slips * slipping)

    def usual_slips(self, share: Fraction) -> Fraction:
        """The part of the slips that goes with `share` where nobody says: all with the whole, none otherwise."""
        return Fraction(share == 1 and bool(self.slips))

    def to_zcdp(self) -> Guarantee:
        """The weaker promise in zCDP that a pure one implies: rho = epsilon^2/2 (Bun & Steinke 2016, Prop. 1.4)."""
        if self.kind == "pure":
            assert self.epsilon is not None
            return Guarantee(self.unit, rho=self.epsilon**2 / 2)
        if self.kind == "zcdp":
            return self
        raise UnsoundConversion(
            "An approximate guarantee does not imply zCDP: what happens within delta is not bounded at all.",
            "State the guarantee in zCDP from the start and convert it to (epsilon, delta) for reading.",
        )

    def to_approximate(self, delta: Exact) -> Guarantee:
        """The weaker promise (epsilon, delta) that this one implies; epsilon is rounded up."""
        chance = exact(delta, "delta")
        if not 0 < chance < 1:
            raise InvalidParameter(f"`delta` must lie between 0 and 1; got {delta}.")
        if self.rho is not None and chance > self.delta:  # what may slip comes on top of what noise needs
            return Guarantee(self.unit, epsilon=epsilon_of_rho(self.rho, chance - self.delta), delta=chance)
        if self.rho is not None:
            raise UnsoundConversion(
                f"Of a delta of {at_most(chance)} the slips, which may come to {at_most(self.delta)}, leave nothing.",
                f"Ask for a delta above {at_most(self.delta)}.",
            )
        if chance < self.delta:
            raise UnsoundConversion(
                f"A guarantee with delta {at_most(self.delta)} does not imply one with the smaller {at_most(chance)}.",
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
            # Hashes of streams rest on this text: what is new stands only where there is any.
            **({"aside": str(self.aside)} if self.aside else {}),
        }

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> Guarantee:
        epsilon, rho = facts["epsilon"], facts["rho"]
        return cls(
            unit_from_dict(facts),
            epsilon=None if epsilon is None else Fraction(epsilon),
            delta=Fraction(facts["delta"]),
            rho=None if rho is None else Fraction(rho),
            aside=Fraction(facts.get("aside", 0)),
        )

    @property
    def promise(self) -> Promise:
        """What this says, in sentences for every reader."""
        return Promise(self.unit, self.epsilon, self.delta, self.rho)

    @property
    def sentence(self) -> str:
        """The promise as one paragraph that a lawyer could read."""
        return self.promise.sentence

    @property
    def short(self) -> str:
        """The promise in a few words, for tables and `repr`.

        >>> from hubbub.privacy.unit import Session
        >>> Guarantee.approximate(Session(max_ticks=20), 1, "1e-9").short
        'epsilon = 1, delta = 1e-9 for each visit'
        """
        if self.rho is not None:
            stated = f"rho = {at_most(self.rho)}{f' but for delta = {at_most(self.delta)}' if self.delta else ''}"
        else:
            assert self.epsilon is not None
            stated = f"epsilon = {at_most(self.epsilon)}{f', delta = {at_most(self.delta)}' if self.delta else ''}"
        return f"{stated} for {self.unit.thing}"

    def __str__(self) -> str:
        return self.sentence


def _chance(unit: Unit, delta: Exact, allow_weak: bool) -> Fraction:
    chance = exact(delta, "delta")
    if not 0 < chance < 1:
        raise InvalidParameter(
            f"`delta` must lie between 0 and 1; got {delta}.",
            "It is added to every probability: take far less than one in the number of people, e.g. 1e-9.",
        )
    if chance > WEAKEST_DELTA and not allow_weak:
        raise InvalidParameter(
            f"`delta` is {at_most(chance)}: outputs with that probability together may tell everything about "
            f"{unit.one}. Above {at_most(WEAKEST_DELTA)} the guarantee promises practically nothing.",
            "Take far less than one in the number of people, e.g. 1e-9. If you mean it, say allow_weak=True.",
        )
    return chance


def _strong(epsilon: Exact, allow_weak: bool) -> Fraction:
    amount = positive(epsilon, "epsilon")
    if amount > WEAKEST_EPSILON and not allow_weak:
        raise InvalidParameter(
            f"`epsilon` is {at_most(amount)}: above {WEAKEST_EPSILON} the guarantee promises practically nothing.",
            "Values from 0.01 to 3 are usual. If you mean it, say allow_weak=True.",
        )
    return amount
