"""The slow way: samplers after Canonne, Kamath & Steinke 2020, Alg. 1-3, in whole numbers only.

They share nothing with the fast ones but the byte source, so each is a check on the other.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from hubbub.noise.source import ByteSource


def uniform_below(bound: int, source: ByteSource) -> int:
    """Uniform on 0 .. bound - 1, by drawing anew what lies above."""
    bits = (bound - 1).bit_length()
    size = (bits + 7) // 8
    while True:
        value = int.from_bytes(source.take(size), "little") & ((1 << bits) - 1)
        if value < bound:
            return value


def bernoulli(chance: Fraction, source: ByteSource) -> bool:
    return uniform_below(chance.denominator, source) < chance.numerator


def bernoulli_exp_series(x: Fraction, source: ByteSource) -> bool:
    """True with probability exp(-x), x >= 0 (Alg. 1): the length of a chain of coins x, x/2, x/3, ... is even."""
    while x > 1:
        if not bernoulli_exp_series(Fraction(1), source):
            return False
        x -= 1
    count = 1
    while bernoulli(x / count, source):
        count += 1
    return count % 2 == 1


def slow_laplace(scale: Fraction, source: ByteSource) -> int:
    """One discrete Laplace draw (Alg. 2)."""
    top, bottom = scale.numerator, scale.denominator
    while True:
        low = uniform_below(top, source)
        if not bernoulli_exp_series(Fraction(low, top), source):
            continue
        high = 0
        while bernoulli_exp_series(Fraction(1), source):
            high += 1
        size = (low + top * high) // bottom
        negative = bernoulli(Fraction(1, 2), source)
        if not (negative and size == 0):
            return -size if negative else size


def slow_gaussian(variance: Fraction, source: ByteSource) -> int:
    """One discrete Gaussian draw (Alg. 3): discrete Laplace, thinned."""
    scale = isqrt(variance.numerator // variance.denominator) + 1
    while True:
        draw = slow_laplace(Fraction(scale), source)
        if bernoulli_exp_series((abs(draw) - variance / scale) ** 2 / (2 * variance), source):
            return draw
