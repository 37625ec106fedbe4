"""What a guarantee says, in sentences: the one place from which every page, command and answer takes them.

| symbol | meaning |
|---|---|
| epsilon, delta, rho | the strength, as in `Guarantee`; a delta beside rho is what may slip |
| k | how many units are taken together |
| g | how often somebody guesses right who takes it for 50:50 beforehand whether a unit was there |

Every number that bounds something is rounded up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from hubbub.privacy.rounding import at_most, excess, factor, per_cent, power
from hubbub.privacy.unit import Unit
from hubbub.privacy.zcdp import epsilon_of_rho

NAMED_DELTA = Fraction(1, 10**9)
"""The delta for which a promise in zCDP is also told as an epsilon."""

_STRENGTHS = (
    ("0.03", "very strong"),
    ("0.1", "strong"),
    ("0.5", "good"),
    ("1", "fair"),
    ("3", "weak"),
    ("10", "very weak"),
)
NOTHING = "next to nothing"
_DELTAS = (("1e-5", ""), ("1e-3", "weak"), ("1", "very weak"))
"""What a delta alone makes of a promise: outputs with that probability together may tell everything about a unit.

Of a hundred thousand units one may be told in full at 1e-5, of a thousand one at 1e-3.
"""
WEAKEST_DELTA = Fraction(1, 1000)
"""Above this a delta is asked for by mistake, or to go round an epsilon."""

_WEAKER = ("", *(word for _, word in _STRENGTHS), NOTHING)
"""From strong to weak."""

_HOPELESS = 1000
"""Above this epsilon or rho nothing is worked out any more: somebody can be sure."""

_SCALE = 10**40
"""Fineness of a square root."""


def strength(epsilon: Fraction | float) -> str:
    """How strongly an epsilon protects, in a word or two.

    >>> [strength(e) for e in (0.01, 0.1, 0.3, 1, 3, 5, 20)]
    ['very strong', 'strong', 'good', 'fair', 'weak', 'very weak', 'next to nothing']
    """
    # A float such as 0.1 lies a hair above the decimal it was written as.
    most = Fraction(str(epsilon)) if isinstance(epsilon, float) else Fraction(epsilon)
    return next((word for edge, word in _STRENGTHS if most <= Fraction(edge)), NOTHING)


@dataclass(frozen=True, slots=True)
class Promise:
    """A guarantee in words, true for its unit, its strength and its kind.

    >>> from hubbub.privacy.unit import Session
    >>> promise = Promise(Session(max_ticks=20), epsilon=Fraction(1))
    >>> promise.lead
    'These numbers protect each visit. The protection is fair.'
    >>> promise.sure
    '73.2 %'
    """

    unit: Unit
    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    # ── how strong ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_pure(self) -> bool:
        return self.rho is None and not self.delta

    @property
    def guess(self) -> Fraction:
        """g, rounded up. With a pure promise nobody can be surer than this, whatever they see; otherwise on average.

        With epsilon and delta it is (e^epsilon + delta)/(1 + e^epsilon): who guesses by a set S is right with a chance
        of (P[S] + P'[not S])/2; put P[S] <= e^epsilon P'[S] + delta, and the same for the complement, into that. With
        rho the divergence of order 1 is at most rho, so the total variation is at most sqrt(rho/2) (Pinsker) and
        at most sqrt(1 - e^-rho) (Bretagnolle & Huber 1979); g is half of one more. What may slip counts as told:
        the total variation is at most delta + (1 - delta) times that, for a rho that is a little larger (`_apart`).
        """
        if max(self.epsilon or 0, self.rho or 0) > _HOPELESS:
            return Fraction(1)
        if self.rho is not None:
            return (1 + self._apart) / 2
        assert self.epsilon is not None
        return 1 - (1 - self.delta) / (1 + Fraction(power(self.epsilon)))

    @property
    def _apart(self) -> Fraction:
        """The total variation that rho and what may slip allow.

        What does not slip are measures of mass 1 - delta or more. Divided by their masses they are distributions whose
        divergence of order 1 is at most (sqrt(rho) + sqrt(L))^2 with L = -log(1 - delta) (docs/proofs/composition.md).
        """
        assert self.rho is not None
        rho, delta = self.rho, self.delta
        if delta:
            if delta >= 1:
                return Fraction(1)
            rho = (_root(rho) + _root(delta / (1 - delta))) ** 2  # -log(1 - delta) is at most delta/(1 - delta)
        kept = min(_root(rho / 2), _root(1 - 1 / Fraction(power(rho))), Fraction(1))
        return delta + (1 - delta) * kept

    def guess_of(self, k: int) -> Fraction:
        """`guess` about k units together. Where something may slip: total variation is a distance, and grows k-fold."""
        if self.rho is None or not self.delta or self.rho > _HOPELESS:
            return self.of(k).guess
        return (1 + min(k * self._apart, Fraction(1))) / 2

    @property
    def sure(self) -> str | None:
        """`guess` in per cent; None where it is practically all."""
        return per_cent(self.guess)

    @property
    def strength(self) -> str:
        """A word or two, from epsilon, or from the epsilon of a pure promise that lets one guess as well.

        A delta above 1e-5 is weak at best, and one above 1e-3 very weak, whatever the epsilon.
        """
        return max(self._strength_by_guess, self._strength_by_delta, key=_WEAKER.index)

    @property
    def _strength_by_guess(self) -> str:
        if self.epsilon is not None and self.is_pure:
            return strength(self.epsilon)
        guess = self.guess
        return NOTHING if guess == 1 else strength(round(math.log(guess / (1 - guess)), 3))

    @property
    def _strength_by_delta(self) -> str:
        """Guesses are right on average; a delta may be spent on telling all about few. Empty for a small one."""
        return next((word for edge, word in _DELTAS if self.delta <= Fraction(edge)), NOTHING)

    def of(self, k: int) -> Promise:
        """The promise about k units together: k epsilon; with delta also more of that; k^2 rho (group privacy).

        Of rho but for a delta no such square follows: it is read as epsilon and delta first.
        """
        if self.rho is not None and self.delta and k > 1:
            epsilon, delta = self._read
            return Promise(self.unit, epsilon=epsilon, delta=delta).of(k)
        if self.rho is not None:
            return Promise(self.unit, rho=self.rho * k * k, delta=self.delta)
        assert self.epsilon is not None
        delta = self.delta
        if delta:
            hopeless = self.epsilon * k > _HOPELESS
            grown = sum((Fraction(power(self.epsilon * i)) for i in range(0 if hopeless else k)), Fraction(0))
            delta = Fraction(1) if hopeless else min(delta * grown, Fraction(1))
        return Promise(self.unit, epsilon=self.epsilon * k, delta=delta)

    # ── for those who answer for it ──────────────────────────────────────────────────────────────────────────────

    @property
    def sentence(self) -> str:
        """The promise as one paragraph that a lawyer could read."""
        unit = self.unit
        said = [f"{self.formal(self.span)}.", unit.bound, self._formal_several]
        if self._strength_by_delta:
            said.append(
                f"This delta is {self._strength_by_delta}: outputs with a probability of up to {at_most(self.delta)} "
                f"together may tell everything about {unit.one}."
            )
        if self._strength_by_guess == "very weak":
            said.append(f"This is very weak: it does not keep anybody from being nearly sure whether {unit.question}.")
        elif self._strength_by_guess == NOTHING:
            said.append(f"At this strength practically nothing is promised about {unit.one}.")
        return " ".join(said)

    @property
    def span(self) -> str:
        """For how long it holds."""
        horizon = self.unit.horizon
        if horizon is None:
            return "for as long as the stream runs"
        return f"over all {horizon:,} ticks of the stream together"

    def formal(self, span: str) -> str:
        """The promise itself, without the bound it rests on; `span` says over what it holds."""
        unit = self.unit
        if self.is_pure:
            assert self.epsilon is not None
            most = _factor(self.epsilon)
            return f"{unit.subject} changes any output's probability by at most a factor {most}, {span}"
        epsilon, delta = self._read
        compared = (
            f"the probability of any set of outputs is at most {_factor(epsilon)} times what it is otherwise, "
            f"plus {at_most(delta)}"
        )
        if self.rho is None:
            return f"With or without {unit.any_one}, {compared}, {span}"
        slip = ""
        if self.delta:
            slip = f"but for a chance of at most {at_most(self.delta)} in which they may tell anything, "
        return (
            f"With or without {unit.any_one}, all outputs together differ by at most rho = {at_most(self.rho)} "
            "(zero-concentrated differential privacy: the divergence of any order a > 1 is at most rho a), "
            f"{slip}{span}. It follows, for example, that {compared}"
        )

    @property
    def _read(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta; of a promise in zCDP those that follow for the named delta, and what may slip on top."""
        if self.rho is not None:
            return epsilon_of_rho(self.rho, NAMED_DELTA), min(NAMED_DELTA + self.delta, Fraction(1))
        assert self.epsilon is not None
        return self.epsilon, self.delta

    @property
    def _formal_several(self) -> str:
        many = f"Several add up: for {self.unit.several}"
        if self.rho is not None and not self.delta:
            return f"{many} it is rho = {at_most(self.rho)} k^2."
        shown = at_most(self._read[0])
        factor_of_k = f"the factor is e^{'k' if shown == '1' else f'({shown} k)'}"
        if self.delta:
            return f"{many} {factor_of_k}, and what is added more than k times as much."
        return f"{many} {factor_of_k}."

    # ── for everybody ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def lead(self) -> str:
        """What is protected and how well, in one line."""
        if self.strength == NOTHING:
            return f"These numbers are blurred, but promise practically nothing about {self.unit.one}."
        return f"These numbers protect {self.unit.thing}. The protection is {self.strength}."

    @property
    def blur(self) -> str:
        """The line at the foot of every page."""
        one = self.unit.one
        if self.strength == NOTHING or self.sure is None:
            return f"Numbers are blurred, but so little that practically nothing is promised about {one}."
        blurred = "Numbers are blurred, but weakly" if "weak" in self.strength else "Numbers are blurred on purpose"
        even = f"somebody who takes it for 50:50 whether {self.unit.question}"
        if self.is_pure:
            return f"{blurred}: {even} can be at most {self.sure} sure of it afterwards."
        return f"{blurred}: {even} guesses right at most {self.sure} of the time."

    @property
    def example(self) -> str:
        """One thing that somebody does, and what is protected of it."""
        return f"Suppose you read an article about an illness at 10:42. That is {self.unit.part}."

    @property
    def belief(self) -> str:
        """What anybody can learn about one unit, as odds."""
        who = (
            "Take somebody who knows everything else that was counted here, and takes it for 50:50 whether "
            f"{self.unit.question}. They may study all that this stream ever publishes, today or in years."
        )
        if self.sure is None:
            return f"{who} Nothing that is promised here keeps them from being practically sure of the answer."
        if self.is_pure:
            return f"{who} Then they can be at most {self.sure} sure of the answer."
        return (
            f"{who} Then they guess right at most {self.sure} of the time. That is an average: "
            "now and then what they see may make them surer."
        )

    @property
    def odds(self) -> str:
        """The same as a comparison of probabilities, in words that fit the number."""
        whether = f"Whether {self.unit.question}"
        verdict = {
            "very strong": f"{whether} hardly changes what is published.",
            "strong": f"{whether} hardly changes what is published.",
            "good": f"{whether} changes only little in what is published.",
            "fair": f"That is fair: they may lean one way{', and cannot be sure' if self.is_pure else ''}.",
            "weak": "That is weak: they may become fairly sure.",
            "very weak": "That is very weak: somebody who already suspects it can become nearly sure.",
            NOTHING: "So practically nothing is promised.",
        }[self.strength]
        if self.rho is not None:
            return verdict
        assert self.epsilon is not None
        times, plus = factor(self.epsilon), f", plus {at_most(self.delta)}" if self.delta else ""
        if times is None:
            most = f"e^{at_most(self.epsilon)} times what it is without {self.unit.it}"
        elif times.startswith("1."):
            most = f"{excess(self.epsilon)} % larger than without {self.unit.it}"
        else:
            most = f"{times} times what it is without {self.unit.it}"
        return f"Whatever they conclude, the probability that they do is at most {most}{plus}. {verdict}"

    @property
    def several(self) -> str:
        """What is protected less: many units together."""
        return f"{self.unit.ten}, taken together. That adds up: {self._learnt(10, 'of it')}."

    @property
    def which(self) -> str:
        """What is protected less: which of two things a unit did, since one is taken away and the other put in."""
        return f"{self.unit.which}: {self._learnt(2, 'of that')}."

    def _learnt(self, k: int, of_what: str) -> str:
        sure = per_cent(self.guess_of(k))
        if sure is None:
            return f"somebody can become practically sure {of_what}"
        if self.is_pure:
            return f"somebody can become up to {sure} sure {of_what}"
        return f"somebody who takes it for 50:50 guesses right up to {sure} of the time"


def _factor(epsilon: Fraction) -> str:
    number = factor(epsilon)
    return f"e^{at_most(epsilon)}" if number is None else f"e^{at_most(epsilon)} = {number}"


def _root(number: Fraction) -> Fraction:
    """The square root, rounded up."""
    square = math.ceil(number * _SCALE**2)
    root = math.isqrt(square)
    return Fraction(root + (root * root < square), _SCALE)
