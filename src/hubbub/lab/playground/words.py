"""Epsilon, units and methods in the words of someone who has never heard of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

STOPS = ("0.01", "0.02", "0.03", "0.05", "0.1", "0.2", "0.3", "0.5", "1", "2", "3", "5", "10")
"""Where the slider stops, as exact decimals; strong first."""

USUAL_STOP = "0.5"

_STRENGTHS = ((0.03, "very strong"), (0.1, "strong"), (0.5, "good"), (1.0, "fair"), (3.0, "weak"))


def strength(epsilon: float) -> str:
    """How strongly an epsilon protects, in a word or two.

    >>> [strength(e) for e in (0.01, 0.1, 0.3, 1, 3, 10)]
    ['very strong', 'strong', 'good', 'fair', 'weak', 'very weak']
    """
    return next((word for most, word in _STRENGTHS if epsilon <= most), "very weak")


def odds(epsilon: float) -> str:
    """What the factor e^epsilon means.

    >>> odds(0.1), odds(1.0), odds(10.0)
    ('at most 11 % more often', 'at most 2.7 times as often', 'at most 22,000 times as often')
    """
    factor = math.exp(epsilon)
    if factor < 2:
        percent = 100 * (factor - 1)
        return f"at most {percent:.2g} % more often" if percent < 10 else f"at most {percent:.0f} % more often"
    return f"at most {_two_digits(factor)} times as often"


def about(number: float) -> str:
    """A number that is itself only known roughly: two digits at most.

    >>> about(43.7), about(1234.0), about(0.0), about(0.37), about(1.01)
    ('44', '1,200', '0', '0.37', '1')
    """
    return "0" if number <= 0 else _two_digits(number)


def _two_digits(number: float) -> str:
    digits = 1 - math.floor(math.log10(number))
    cut = round(number, digits)
    return f"{cut:,.0f}" if cut == int(cut) else f"{cut:,.{max(digits, 0)}f}"


@dataclass(frozen=True, slots=True)
class UnitWords:
    """One choice of what to protect; `ticks` asks for a number of ticks, or is empty."""

    name: str
    label: str
    explanation: str
    thing: str
    paying: str
    ticks: str = ""
    usual: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


UNITS = (
    UnitWords(
        "user",
        "Each person, over the whole series",
        "Nobody can tell whether any one person was ever counted. The strongest promise, and the dearest.",
        "that person",
        "it has to last for the whole series",
    ),
    UnitWords(
        "window",
        "Each person, within any few ticks",
        "Nobody can tell what any one person did within so many ticks in a row. Over longer times it fades.",
        "what that person did in those ticks",
        "within one window; it comes back as the window moves on",
        "How many ticks in a row?",
        10,
    ),
    UnitWords(
        "session",
        "Each visit of a few ticks",
        "Nobody can tell whether any one visit took place. Someone who comes often is protected less.",
        "that visit",
        "by one visit; each visit has its own",
        "How many ticks can one visit last?",
        10,
    ),
    UnitWords(
        "event",
        "Each single event",
        "Nobody can tell whether any one click, trip or case took place. Someone with many is protected less.",
        "that event",
        "by one event; each event has its own",
    ),
)

METHODS = {
    "adaptive": "Measures seldom, at moments it chooses, and works out what lay in between.",
    "lpa": "Adds noise at every tick, and nothing else.",
    "sample": "Measures now and then, and repeats the last number in between.",
    "fast": "Measures now and then; a simple filter guesses in between.",
    "navigation": "Measures every tick, smooths, and gives way when something really changes.",
    "ukf": "Measures every tick, and smooths always by the same amount.",
    "ba": "Asks at every tick whether enough has changed; saves up, then measures.",
    "bd": "Asks at every tick whether enough has changed; then spends half of what is left.",
    "pegasus": "Averages over stretches in which little changes.",
}
"""The methods for one series, in the order of the page; those that need a model of several keys are left out."""
