"""Pólya noise: shares that many people draw on their own, and that sum to discrete Laplace noise exactly.

| symbol | here | meaning |
|---|---|---|
| b | `scale` | of the discrete Laplace noise that the shares sum to |
| n | `parts` | how many shares that takes |
| q | `exp_bounds(1/b)` | exp(-1/b) |
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, positive
from hubbub.noise.digits import GUARD, exp_bounds
from hubbub.noise.distribution import SMALLEST_SCALE, checked_draws
from hubbub.noise.inversion import Outcomes
from hubbub.noise.ladder import UNDECIDED
from hubbub.noise.laplace import DiscreteLaplace
from hubbub.noise.source import ByteSource
from hubbub.noise.system import DEFAULT

LARGEST_SCALE = Fraction(4096)
"""The table grows with the scale: at this one it has a hundred thousand outcomes."""
MOST_PARTS = 2**40


class PolyaShare:
    """The difference of two negative binomial variables with parameter 1/parts: `parts` independent shares sum to
    discrete Laplace noise of this scale, exactly, and more shares than that only add further noise.

    Guarantee
        Protected: whoever can change a sum of whole numbers by at most s in all, if at least `parts` honest, secret
        shares are in it: epsilon = s / scale, pure, with no delta.
        Must be enforced by the caller: that number of shares, and the bound s.
        Not covered: fewer shares (then there is no such epsilon: see the proof), how long a draw takes.
        Proof: docs/proofs/noise.md, section 9 (proved).

    >>> share = PolyaShare(scale=20, parts=1000)
    >>> share.sample(3).dtype, share.total
    (dtype('int64'), DiscreteLaplace(scale=20))
    """

    def __init__(self, scale: Exact, parts: int, source: ByteSource | None = None) -> None:
        self.scale = positive(scale, "scale")
        if not SMALLEST_SCALE <= self.scale <= LARGEST_SCALE:
            raise InvalidParameter(
                f"`scale` must lie between 1/1000 and {LARGEST_SCALE} for noise in shares; got {scale}.",
                "Count in larger units, spend more epsilon, or let the servers add the noise.",
            )
        if isinstance(parts, bool) or not isinstance(parts, int) or not 1 <= parts <= MOST_PARTS:
            raise InvalidParameter(f"`parts` must be a whole number from 1 to 2^40; got {parts!r}.")
        self.parts = parts
        self._source: ByteSource = DEFAULT if source is None else source

    def sample(self, n: int) -> NDArray[np.int64]:
        """`n` independent shares: one for each counter."""
        count = checked_draws(n)
        outcomes = negative_binomial(self.scale, self.parts)
        shorts = np.frombuffer(self._source.take(4 * count), dtype="<u2")
        drawn = outcomes.buckets[shorts]
        unclear = np.flatnonzero(drawn == UNDECIDED)
        if len(unclear):
            drawn[unclear] = outcomes.resolve(shorts[unclear], self._source)
        shares: NDArray[np.int64] = (drawn[:count] - drawn[count:]).astype(np.int64)
        return shares

    @property
    def total(self) -> DiscreteLaplace:
        """What `parts` shares sum to."""
        return DiscreteLaplace(self.scale)

    @property
    def variance(self) -> float:
        """Of one share."""
        return self.total.variance / self.parts

    def __repr__(self) -> str:
        return f"PolyaShare(scale={self.scale}, parts={self.parts})"


class NegativeBinomial(Outcomes):
    """P(k) = (1-q)^r q^k r (r+1) ... (r+k-1) / k!, with r = 1/parts."""

    def __init__(self, scale: Fraction, parts: int) -> None:
        self._rate = 1 / scale
        self._parts = parts
        super().__init__()

    def thresholds(self, bits: int, reach: int) -> tuple[list[int], list[int]]:
        parts = self._parts
        # Sums of many rounded terms, and a root of a rounded number: guard digits keep what is in doubt narrow.
        work = bits + 2 * GUARD + parts.bit_length()
        q_low, q_high = exp_bounds(self._rate, work)
        low, high = root_bounds((1 << work) - q_high, (1 << work) - q_low, parts, work)
        drop, end = work - bits, 1 << (work - min(reach, bits))
        sum_low, sum_high = low, high
        lows, highs = [sum_low >> drop], [(sum_high >> drop) + 1]
        k = 0
        while high >= end or k < 1:
            # P(k+1) = P(k) q (k + 1/parts) / (k + 1)
            above, below = k * parts + 1, (k + 1) * parts << work
            low = low * q_low * above // below
            high = high * q_high * above // below + 1
            sum_low += low
            sum_high += high
            lows.append(sum_low >> drop)
            highs.append(min((sum_high >> drop) + 1, 1 << bits))
            k += 1
        return lows, highs


@lru_cache(maxsize=8)
def negative_binomial(scale: Fraction, parts: int) -> NegativeBinomial:
    """The table for these shares, made once."""
    return NegativeBinomial(scale, parts)


def root_bounds(low: int, high: int, degree: int, work: int) -> tuple[int, int]:
    """Bounds on the root of a number in (0, 1) that lies between low and high, in units of 2^-work.

    >>> root_bounds(16384, 16384, 2, 16)  # the root of 1/4
    (32768, 32768)
    """
    one = 1 << work
    # The largest y of which even the overestimated power does not exceed `low`; then the mirror image of it.
    below = _bisected(0, one, lambda y: _power(y, degree, work, up=True) <= low)
    above = one - _bisected(0, one, lambda y: _power(one - y, degree, work, up=False) >= high)
    return below, above


def _bisected(good: int, bad: int, holds: Callable[[int], bool]) -> int:
    """The last number from `good` on for which it holds, where it holds for all up to some."""
    if holds(bad):
        return bad
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def _power(y: int, degree: int, work: int, up: bool) -> int:
    """y^degree in units of 2^-work, every product rounded up or every product rounded down."""
    rounding = (1 << work) - 1 if up else 0
    out = 1 << work
    for digit in bin(degree)[2:]:
        out = out * out + rounding >> work
        if digit == "1":
            out = out * y + rounding >> work
    return out
