"""A released number together with all that must be said beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from hubbub.released import plus_minus

State = Literal["measured", "within_noise", "zero", "unknown", "withheld"]

STATE_WORDS: dict[State, str] = {
    "measured": "",
    "within_noise": "within the noise: may be zero",
    "zero": "none",
    "unknown": "not measured in this tick",
    "withheld": "withheld",
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """An estimate with its standard error and 95 % interval, and the words for it.

    | state | when | shown |
    |---|---|---|
    | measured | the interval lies above zero | 1,240 ± 60 |
    | within_noise | the interval reaches zero | the same, grey, and in words |
    | zero | the interval is zero and nothing else | 0 ± 0 |
    | unknown | nothing was measured and no model says how far it may have moved | no number, words |
    | withheld | there is no number for this key | no number, words |

    >>> Quantity(1237.4, 58, 1115, 1360).text
    '1,240 ± 60'
    >>> Quantity(40, 60, 0, 160).words
    'within the noise: may be zero'
    >>> Quantity(1237.4, 58, 1115, 1360).interval
    '95 of 100 times between 1,120 and 1,360'
    """

    value: float
    error: float
    lower: float
    upper: float

    @property
    def state(self) -> State:
        if not math.isfinite(self.value):
            return "withheld"
        if not math.isfinite(self.error):
            return "unknown"
        if self.upper <= 0:
            return "zero"
        return "within_noise" if self.lower <= 0 else "measured"

    @property
    def has_number(self) -> bool:
        return self.state not in ("withheld", "unknown")

    @property
    def text(self) -> str:
        """The number with its plus-minus, or the words that stand in its place; never a bare number."""
        return plus_minus(self.value, self.error) if self.has_number else STATE_WORDS[self.state]

    @property
    def words(self) -> str:
        return STATE_WORDS[self.state]

    @property
    def interval(self) -> str:
        if not self.has_number or not math.isfinite(self.lower):
            return ""
        if not math.isfinite(self.upper):
            return f"at least {rounded(self.lower, self.error)}"
        return f"95 of 100 times between {rounded(self.lower, self.error)} and {rounded(self.upper, self.error)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types: numbers for programs, words for people."""
        return {
            "value": finite(self.value),
            "standard_error": finite(self.error),
            "lower": finite(self.lower),
            "upper": finite(self.upper),
            "state": self.state,
            "text": self.text,
            "interval": self.interval,
        }


def rounded(number: float, error: float) -> str:
    """`number` cut where `error` makes further digits meaningless.

    >>> rounded(1115.2, 58)
    '1,120'
    """
    return plus_minus(number, error).split(" ± ")[0]


def finite(number: float) -> float | None:
    """JSON has no infinity."""
    return float(number) if math.isfinite(number) else None
