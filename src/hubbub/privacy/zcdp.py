"""Between zero-concentrated and approximate differential privacy, always rounding to the safe side."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

_SLACK = Fraction(1, 10**9)
"""Relative allowance for floating-point error in the formulas below; their own error is below 1e-12."""


def epsilon_of_rho(rho: Fraction, delta: Fraction, *, whole_orders: bool = False) -> Fraction:
    """The smallest epsilon we can prove for `rho`-zCDP at `delta`, rounded up.

    With `whole_orders` only from orders 2, 3, 4, ...: where the divergence is known to be below rho a for those alone.

    For every order a > 1, epsilon = rho a + (ln(1/delta) + (a - 1) ln(1 - 1/a) - ln a)/(a - 1) holds
    (Canonne, Kamath & Steinke 2020, Prop. 12 with Cor. 13); any order is sound, so the search need not be exact.

    >>> float(epsilon_of_rho(Fraction(1, 2), Fraction(1, 10**6)))  # the simple formula gives 5.76
    5.22...
    """
    r, log = float(rho), -_log(delta)

    def at(above: float) -> float:  # above = a - 1, kept apart: for a large rho it is too small to survive 1 + above
        return r * (1 + above) + (log + above * math.log(above) - (above + 1) * math.log1p(above)) / above

    orders = _orders(r, log)
    if whole_orders:
        orders = [float(max(1, round(above))) for above in orders]
    best = min(at(above) for above in orders)
    return Fraction(max(best, 0.0)) * (1 + _SLACK) + _SLACK


@lru_cache(maxsize=256)  # the search takes milliseconds, and every account of a stream asks the same
def rho_of_epsilon(epsilon: Fraction, delta: Fraction, *, whole_orders: bool = False) -> Fraction:
    """The largest rho (rounded down) whose zCDP implies (`epsilon`, `delta`); the inverse of `epsilon_of_rho`.

    >>> rho = rho_of_epsilon(Fraction(1), Fraction(1, 10**6))
    >>> epsilon_of_rho(rho, Fraction(1, 10**6)) <= 1
    True
    """
    low, high = Fraction(0), epsilon  # rho <= epsilon always: the bound exceeds rho
    for _ in range(60):
        middle = Fraction(float((low + high) / 2))
        if epsilon_of_rho(middle, delta, whole_orders=whole_orders) <= epsilon:
            low = middle
        else:
            high = middle
    return low


def _orders(rho: float, log: float) -> list[float]:
    """a - 1 for orders around the optimum a = 1 + sqrt(ln(1/delta)/rho) of the simple bound, on a logarithmic grid."""
    centre = math.sqrt(max(log, 1e-3) / max(rho, 1e-300))
    return [centre * 2 ** (step / 64) for step in range(-192, 193)]


def _log(number: Fraction) -> float:
    return math.log(number.numerator) - math.log(number.denominator)
