"""Numbers in sentences that promise something: rounded to the safe side, exact where they are short."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact
from fractions import Fraction

_SHORT = 6
"""Digits up to which a number is written out as it is."""

_FINE = Context(prec=40, rounding=ROUND_CEILING, Emax=999_999, Emin=-999_999)
_LONGEST = 28
"""Above this (e^28 is 10^12) a factor is left as a power of e: nobody reads more zeros."""


def at_most(amount: Fraction, digits: int = 4) -> str:
    """`amount` for a reader, never too small: exact if that takes a few digits, rounded up otherwise.

    >>> at_most(Fraction(1, 10)), at_most(Fraction(1, 3)), at_most(Fraction(20)), at_most(Fraction(1, 10**9))
    ('0.1', '0.3334', '20', '1e-9')
    """
    return _shown(amount, digits, ROUND_CEILING)


def at_least(amount: Fraction, digits: int = 4) -> str:
    """`amount` for a reader, never too large: what is left of a budget.

    >>> at_least(Fraction(2, 3)), at_least(Fraction(1, 4))
    ('0.6666', '0.25')
    """
    return _shown(amount, digits, ROUND_FLOOR)


def power(epsilon: Fraction) -> Decimal:
    """e^epsilon, rounded up in its last of forty digits."""
    exponent = _FINE.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    return _FINE.next_plus(_FINE.exp(exponent))  # Decimal's exp is correctly rounded, to the nearest


def factor(epsilon: Fraction) -> str | None:
    """e^epsilon as a number that is not below it; None where it is too long to read.

    Below 2 it is what lies above 1 that matters, so that is rounded.

    >>> factor(Fraction(1, 10)), factor(Fraction(1)), factor(Fraction(5)), factor(Fraction(20)), factor(Fraction(800))
    ('1.106', '2.72', '149', '486,000,000', None)
    """
    if epsilon > _LONGEST:
        return None
    exactly = power(epsilon)
    three = Context(prec=3, rounding=ROUND_CEILING)
    if exactly >= 2:
        return _written(three.plus(exactly))
    return _written(_FINE.add(1, three.plus(_FINE.subtract(exactly, 1))))


def excess(epsilon: Fraction) -> str:
    """What e^epsilon lies above 1, in per cent, rounded up.

    >>> excess(Fraction(1, 10)), excess(Fraction(1, 1000))
    ('10.6', '0.101')
    """
    above = Context(prec=3, rounding=ROUND_CEILING).plus(_FINE.subtract(power(epsilon), 1))
    return _written(_FINE.multiply(100, above))


def per_cent(probability: Fraction) -> str | None:
    """A probability as at most so many per cent; None where it is practically one.

    >>> [per_cent(Fraction(p)) for p in ("0.73105", "0.99334", "0.99991", "1")]
    ['73.2 %', '99.4 %', '99.991 %', None]
    """
    if probability > Fraction("0.99999"):
        return None
    tenths = math.ceil(1000 * probability)
    if tenths < 999:
        return f"{tenths // 10}.{tenths % 10} %"
    rest = 1 - probability
    two = Context(prec=2, rounding=ROUND_FLOOR).divide(Decimal(rest.numerator), Decimal(rest.denominator))
    return f"{_written(100 - 100 * two)} %"


def _shown(amount: Fraction, digits: int, rounding: str) -> str:
    numerator, denominator = Decimal(amount.numerator), Decimal(amount.denominator)
    whole = Context(prec=_SHORT, rounding=rounding)
    rounded = whole.divide(numerator, denominator)
    if whole.flags[Inexact]:
        rounded = Context(prec=digits, rounding=rounding).divide(numerator, denominator)
    return _written(rounded)


def _written(number: Decimal) -> str:
    """Without a tail of zeros; with an exponent only where there would be many."""
    plain = number.normalize(_FINE)
    if plain and (plain.adjusted() < -4 or plain.adjusted() > 11):
        return f"{plain:e}".replace("e+", "e")
    return f"{plain:,f}"
