"""Integer arithmetic with bounds: what decides whenever a fast comparison cannot.

A real number c is known here through functions `bits -> (low, high)` with low <= c 2^bits <= high, as tight as asked.
Nothing in this file uses floating point. Proof: docs/proofs/noise.md, section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from hubbub.noise.source import ByteSource

Bounds: TypeAlias = Callable[[int], tuple[int, int]]

GUARD = 16
"""Working digits beyond those asked for; only how tight the bounds are depends on it, never whether they hold."""


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """low, high with low <= exp(-x) 2^bits <= high, for x >= 0.

    >>> exp_bounds(Fraction(1), 16)  # 65536 / e = 24109.4
    (24109, 24110)
    """
    if x == 0:
        return 1 << bits, 1 << bits
    if 1000 * x.numerator > 694 * bits * x.denominator:  # ln 2 < 0.694, so exp(-x) < 2^-bits
        return 0, 1
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 2)  # x / 2^halvings <= 1/2
    work = bits + halvings + bits.bit_length() + GUARD
    small = (x.numerator << work) // (x.denominator << halvings)
    total = term = 1 << work
    count = 0
    while term:
        count += 1
        term = (term * small >> work) // count
        total += -term if count % 2 else term
    # Each term is too small by less than 2, the terms left out are below 4 together, cutting `small` costs below 1.
    slack = 2 * count + 5
    low, high = total - slack, total + slack
    for _ in range(halvings):
        low = low * low >> work
        high = (high * high >> work) + 1
    drop = work - bits
    return low >> drop, min((high >> drop) + 1, 1 << bits)


class Uniform:
    """A uniform number in [0, 1) whose binary digits are drawn when they are needed.

    It lies in [value, value + 1) / 2^bits.
    """

    __slots__ = ("_source", "bits", "value")

    def __init__(self, source: ByteSource, value: int = 0, bits: int = 0) -> None:
        self._source = source
        self.value = value
        self.bits = bits

    def extend(self, count: int = 64) -> None:
        """Draw `count` more digits, a multiple of 8."""
        self.value = self.value << count | int.from_bytes(self._source.take(count // 8), "little")
        self.bits += count

    def below(self, bounds: Bounds) -> bool:
        """Is this number below the one that `bounds` describes? Digits are drawn until there is no doubt."""
        while True:
            low, high = bounds(self.bits)
            if self.value + 1 <= low:
                return True
            if self.value >= high:
                return False
            self.extend()
