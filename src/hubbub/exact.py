"""Budgets are rational numbers: no rounding ever gives privacy away."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from hubbub.errors import InvalidParameter

Exact: TypeAlias = Fraction | int | float | str | Decimal
"""What a caller may give for a budget or a scale; a float is taken as the rational number it is."""


def exact(value: Exact, name: str) -> Fraction:
    """`value` as a Fraction.

    >>> exact("0.1", "epsilon"), exact(0.5, "epsilon")
    (Fraction(1, 10), Fraction(1, 2))
    """
    if isinstance(value, bool) or not isinstance(value, (Fraction, int, float, str, Decimal)):
        raise InvalidParameter(f"`{name}` must be a number; got {type(value).__name__}.")
    if isinstance(value, (float, Decimal)) and not math.isfinite(value):
        raise InvalidParameter(f"`{name}` must be finite; got {value}.")
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise InvalidParameter(f"`{name}` must be a number such as 0.5 or '1/20'; got {value!r}.") from None


def positive(value: Exact, name: str) -> Fraction:
    """`exact`, refusing zero and below."""
    number = exact(value, name)
    if number <= 0:
        raise InvalidParameter(f"`{name}` must be above 0; got {value}.", "A budget of nothing can release nothing.")
    return number


def whole(value: int, name: str, hint: str = "") -> int:
    """A whole number from 1 on: a bound of 0 would drop everybody, a negative one makes no sense."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidParameter(f"`{name}` must be a whole number from 1 on; got {value!r}.", hint)
    return value
