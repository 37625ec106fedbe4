"""Budgets are rational numbers: no rounding ever gives privacy away."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from hubbub.errors import InvalidParameter

Exact: TypeAlias = Fraction | int | float | str | Decimal
"""What a caller may give for a budget or a scale; a float is taken as the decimal that it is written as."""

_LARGEST = Fraction(10**300)
"""Beyond this, and below its inverse, a number could not even be printed as a float."""


def exact(value: Exact, name: str) -> Fraction:
    """`value` as a Fraction.

    >>> exact("0.1", "epsilon"), exact(0.1, "epsilon")
    (Fraction(1, 10), Fraction(1, 10))
    """
    if isinstance(value, bool) or not isinstance(value, (Fraction, int, float, str, Decimal)):
        raise InvalidParameter(f"`{name}` must be a number; got {type(value).__name__}.")
    if (isinstance(value, float) and not math.isfinite(value)) or (
        isinstance(value, Decimal) and not value.is_finite()
    ):
        raise InvalidParameter(f"`{name}` must be finite; got {value}.")
    # Before it becomes a Fraction: the digits of 1e999999999 alone would fill the memory.
    exponents = re.findall(r"[eE][+-]?(\d[\d_]*)", str(value)) if isinstance(value, (str, Decimal)) else []
    if any(len(exponent) > 3 or int(exponent) > 300 for exponent in exponents):
        raise _beyond(name)
    if isinstance(value, str) and "_" in value:  # Python reads 1_0 as ten; people may have meant 1.0
        raise InvalidParameter(f"`{name}` must be a number such as 0.5 or '1/20'; got {value!r}.")
    try:
        # Who writes 0.1 means a tenth, and not the binary number above it, whose promise would be the weaker one.
        number = Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise InvalidParameter(f"`{name}` must be a number such as 0.5 or '1/20'; got {value!r}.") from None
    if number and not 1 / _LARGEST <= abs(number) <= _LARGEST:
        raise _beyond(name)
    return number


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


def _beyond(name: str) -> InvalidParameter:
    return InvalidParameter(f"`{name}` must lie between 1e-300 and 1e300 in size.", "Check the exponent.")
