"""Units and methods in the words of someone who has never heard of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


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
        "Protects whether any one person was ever counted. The widest promise, and the most expensive.",
        "that person",
        "it has to last for the whole series",
    ),
    UnitWords(
        "window",
        "Each person, within any few ticks",
        "Protects what any one person did within so many ticks in a row. Over longer times it adds up and fades.",
        "what that person did in those ticks",
        "within one window; it comes back as the window moves on",
        "How many ticks in a row?",
        10,
    ),
    UnitWords(
        "session",
        "Each visit of a few ticks",
        "Protects whether any one visit took place. Visits of one person add up: who comes often is protected less.",
        "that visit",
        "by one visit; each visit has its own",
        "How many ticks can one visit last?",
        10,
    ),
    UnitWords(
        "event",
        "Each single event",
        "Protects whether any one click, trip or case took place. Events of one person add up.",
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
