"""The kinds of guarantee in words, and where the slider stops for each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.privacy import Event, Guarantee
from hubbub.privacy.rounding import at_most, excess, factor

STOPS = ("0.01", "0.02", "0.03", "0.05", "0.1", "0.2", "0.3", "0.5", "1", "2", "3", "5", "10")
"""Where the slider stops, as exact decimals; strong first."""

USUAL_STOP = "0.5"

RHO_STOPS = ("0.00005", "0.0002", "0.0005", "0.002", "0.005", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "3")
USUAL_RHO = "0.1"

DELTAS = ("1e-6", "1e-9", "1e-12")
"""The largest first: what is said with it is true with the others."""


@dataclass(frozen=True, slots=True)
class KindWords:
    """One kind of promise; `currency` is what its slider chooses an amount of."""

    name: str
    label: str
    explanation: str
    currency: str
    amounts: tuple[str, ...]
    usual: str
    deltas: tuple[str, ...] = ()
    usual_delta: str = ""

    def budget(self, amount: str) -> dict[str, Any]:
        """What is asked for at one stop of the slider; with the largest delta there is."""
        return {self.currency: amount} | ({"delta": self.deltas[0]} if self.deltas else {})

    def to_dict(self) -> dict[str, Any]:
        """What the page needs, each stop with its words."""
        return {
            "name": self.name,
            "label": self.label,
            "explanation": self.explanation,
            "currency": self.currency,
            "stops": [self._stop(amount) for amount in self.amounts],
            "usual_stop": self.amounts.index(self.usual),
            "deltas": list(self.deltas),
            "usual_delta": self.usual_delta,
        }

    def _stop(self, amount: str) -> dict[str, Any]:
        promise = Guarantee.parse(Event(), **self.budget(amount)).promise
        return {
            "amount": amount,
            "word": promise.strength,
            "odds": None if promise.epsilon is None else odds(promise.epsilon),
            "sure": promise.sure,
        }


def odds(epsilon: Fraction | float) -> str:
    """What the factor e^epsilon means, never rounded down.

    >>> odds(0.1), odds(1.0), odds(10.0)
    ('at most 10.6 % more often', 'at most 2.72 times as often', 'at most 22,100 times as often')
    """
    exactly = Fraction(str(epsilon))
    times = factor(exactly)
    if times is None:
        return f"up to e^{at_most(exactly)} times as often"
    return f"at most {excess(exactly)} % more often" if times.startswith("1.") else f"at most {times} times as often"


KINDS = (
    KindWords(
        "pure",
        "whatever comes out (epsilon)",
        "By Laplace noise. It holds for every number that can come out.",
        "epsilon",
        STOPS,
        USUAL_STOP,
    ),
    KindWords(
        "approximate",
        "but for a tiny chance (epsilon, delta)",
        "By Gaussian noise, which is smaller where one person counts in many ticks. Delta is added to every "
        "probability, so it must be far smaller than one in the number of people.",
        "epsilon",
        STOPS,
        USUAL_STOP,
        DELTAS,
        "1e-9",
    ),
    KindWords(
        "zcdp",
        "on average (zCDP, rho)",
        "By Gaussian noise. It bounds what outputs tell on average; a rare one may tell more. Rhos of several releases "
        "add up.",
        "rho",
        RHO_STOPS,
        USUAL_RHO,
    ),
)
"""In the order of the page."""
