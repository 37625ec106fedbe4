"""How many digits of a number are honest."""

from __future__ import annotations

import math


def plus_minus(value: float, error: float) -> str:
    """`value ± error`, both cut where the error makes further digits meaningless.

    The error keeps two digits when it begins with 10 to 35 and one when it begins with 36 to 99, so that rounding
    never changes it by more than about a sixth (the rule of the Particle Data Group, Review of Particle Physics 2024,
    section 5.3).

    >>> plus_minus(1237.4, 58)
    '1,240 ± 60'
    >>> plus_minus(12480.2, 312)
    '12,480 ± 310'
    >>> plus_minus(0.1234, 0.0021)
    '0.1234 ± 0.0021'
    >>> plus_minus(97, 0)
    '97 ± 0'
    """
    if not (math.isfinite(value) and math.isfinite(error)):
        return "unknown"
    if error <= 0:
        return f"{value:,.10g} ± 0"
    exponent = math.floor(math.log10(error))
    leading = round(error / 10 ** (exponent - 2))  # three digits, 100 to 1000
    decimals = -exponent + (1 if leading < 355 else 0)

    def shown(number: float) -> str:
        cut = round(number, decimals) + 0.0  # + 0.0 turns -0.0 into 0.0
        return f"{cut:,.{max(decimals, 0)}f}"

    return f"{shown(value)} ± {shown(error)}"
