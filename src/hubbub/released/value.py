"""A released number together with all that must be said beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from html import escape
from numbers import Real
from typing import Any, Literal

from hubbub.released.number import Number
from hubbub.released.rounding import plus_minus

State = Literal["measured", "predicted", "within_noise", "zero", "unknown", "withheld"]

PREDICTED = "predicted, not measured"
"""What is said everywhere of a number that no measurement of its tick stands behind."""

STATE_WORDS: dict[State, str] = {
    "measured": "",
    "predicted": "",
    "within_noise": "within the noise: may be zero",
    "zero": "none",
    "unknown": "not measured in this tick",
    "withheld": "withheld",
}


@dataclass(frozen=True, slots=True, eq=False)
class Value(Number):
    """An estimate with its standard error and 95 % interval, and the words for it.

    | state | when | shown |
    |---|---|---|
    | measured | the interval lies above zero | 1,240 ± 60 |
    | predicted | the same, but it follows from earlier ticks | the same, and in words |
    | within_noise | the interval reaches zero | the same, grey, and in words |
    | zero | the interval is zero and nothing else | 0 ± 0 |
    | unknown | nothing was measured and no model says how far it may have moved | no number, words |
    | withheld | there is no number for this key | no number, words |

    It counts, compares and formats like its number; an error is never carried over by itself.

    >>> visitors = Value(1237.4, 58, 1115, 1360)
    >>> print(visitors, "|", visitors.interval)
    1,240 ± 60 | 95 of 100 times between 1,120 and 1,360
    >>> visitors > 1000, visitors / 2, f"{visitors:.1f}"
    (True, 618.7, '1237.4')
    >>> Value(40, 60, 0, 160, predicted=True).words
    'predicted, not measured; within the noise: may be zero'
    """

    value: float
    standard_error: float
    lower: float
    upper: float
    predicted: bool = field(default=False, kw_only=True)

    @property
    def state(self) -> State:
        if not math.isfinite(self.value):
            return "withheld"
        if not math.isfinite(self.standard_error):
            return "unknown"
        if self.upper <= 0:
            return "zero"
        if self.lower <= 0:
            return "within_noise"
        return "predicted" if self.predicted else "measured"

    @property
    def has_number(self) -> bool:
        return math.isfinite(self.value) and math.isfinite(self.standard_error)

    @property
    def is_above_zero(self) -> bool:
        """Whether the noise leaves no doubt that there was anything at all."""
        return self.state in ("measured", "predicted")

    @property
    def text(self) -> str:
        """The number with its plus-minus, or the words that stand in its place; never a bare number."""
        return plus_minus(self.value, self.standard_error) if self.has_number else STATE_WORDS[self.state]

    @property
    def words(self) -> str:
        """What must be said beside the number: that it was not measured, that it may be zero."""
        said = [PREDICTED] if self.predicted and self.has_number else []
        return "; ".join([*said, *filter(None, [STATE_WORDS[self.state]])])

    @property
    def interval(self) -> str:
        if not self.has_number or not math.isfinite(self.lower):
            return ""
        if not math.isfinite(self.upper):
            return f"at least {self._rounded(self.lower)}"
        return f"95 of 100 times between {self._rounded(self.lower)} and {self._rounded(self.upper)}"

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain JSON types; null where there is none, for JSON has no infinity."""
        return {name: finite(getattr(self, name)) for name in ("value", "standard_error", "lower", "upper")}

    def described(self) -> dict[str, Any]:
        """Plain JSON types: numbers for programs, words for people."""
        said = {"state": self.state, "text": self.text, "interval": self.interval, "words": self.words}
        return {**Value.to_dict(self), **said}

    def _repr_html_(self) -> str:
        beside = ". ".join(filter(None, [self.words, self.interval]))
        return f"<b>{escape(str(self))}</b>{f' <small>({escape(beside)})</small>' if beside else ''}"

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Value):
            return type(other) is type(self) and all(
                getattr(self, one.name) == getattr(other, one.name) for one in fields(self)
            )
        return float(self) == other if isinstance(other, Real) else NotImplemented

    def __hash__(self) -> int:
        return hash(float(self))

    def _rounded(self, number: float) -> str:
        """`number` cut where the error makes further digits meaningless."""
        return plus_minus(number, self.standard_error).split(" ± ")[0]


def finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
