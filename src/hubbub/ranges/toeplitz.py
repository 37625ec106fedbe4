"""The square-root Toeplitz factorisation, as a short sum of exponentials: near-optimal prefixes under zCDP."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, nnls

from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.noise import IntegerNoise
from hubbub.ranges.strategy import Strategy
from hubbub.ranges.toeplitz_filter import ToeplitzFilter
from hubbub.ranges.walk import Walk

SMALLEST, LARGEST = 16, 2**20
LONGEST = 2**17
"""What `method="toeplitz"` takes at most: beyond, sums in 64 bits are so coarse that their rounding costs too much."""

LARGEST_COUNT = 2**24
"""A tick's count is cut here under zCDP: sums of a tree are held in 64 bits, with a fraction."""

_STARTS = 32


@dataclass(frozen=True)
class Toeplitz(Strategy):
    """R(t, s) = r(t-s) with r(k) = sum of alpha(i) theta(i)^k, close to C(2k,k)/4^k, the coefficients of (1-x)^(-1/2).

    With the exact coefficients, A = R R gives prefixes whose largest variance is (sum of r(k)^2)^2/(2 rho)
    (Fichtenberger, Henzinger & Upadhyay 2023). They need the whole past. A sum of exponentials needs one number a term:
    the coefficients are moments of Beta(1/2, 1/2), so nodes theta spaced geometrically towards 1 approach them with
    O(log n) terms (the buffered linear Toeplitz matrices of Dvijotham, McMahan, Pillutla, Steinke & Thakurta 2024).
    L = A R^-1 is exact for *these* r, so nothing is biased; only the variance is above that of the exact coefficients.

    With a `reach` below the size, r follows the square root up to about that lag and then falls faster. A count is then
    in fewer of the measured sums, so less noise hides it, and ranges not much longer than the reach gain: a quarter to
    a third less variance than with a tree as long as they are.

    | symbol | here | meaning |
    |---|---|---|
    | n | `size` | ticks of a tree; the next tree begins with nothing |
    | – | `reach` | up to which lag r is the square root's; the size, if left out |
    | alpha, 1 - theta | `amounts`, `decays` | terms of r; the first has theta = 0 |
    | l(k) = sum of w(i) p(i)^k | `_modes` | coefficients of L: 1/r has simple poles between the thetas |

    >>> best = Toeplitz(1024)
    >>> round(best.square_weights(1)[0] * best.uses(0, 1024)[0], 1)
    10.7
    """

    size: int
    shares: tuple[Fraction, ...] = (Fraction(1),)
    reach: int = 0
    kind: ClassVar[str] = "toeplitz"
    for_pure: ClassVar[bool] = False
    forgets: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not SMALLEST <= whole(self.size, "size") <= LARGEST:
            raise InvalidParameter(
                f"`size` must lie between {SMALLEST} and {LARGEST:,} ticks; got {self.size:,}.",
                "Shorter segments are better served by a tree.",
            )
        if not self.reach:
            object.__setattr__(self, "reach", self.size)
        if not SMALLEST <= whole(self.reach, "reach") <= self.size:
            raise InvalidParameter(
                f"`reach` must lie between {SMALLEST} ticks and `size`; got {self.reach:,} of {self.size:,}.",
                "Leave it out for ranges of all lengths alike.",
            )
        if tuple(self.shares) != (Fraction(1),):
            raise InvalidParameter("A Toeplitz strategy has one level: `shares` is (1,).", "Leave `shares` out.")

    @property
    def denominator(self) -> int:  # type: ignore[override]
        return 2**20  # the error is a real number: rounding it is as good as uniform

    @property
    def spans(self) -> tuple[int, ...]:
        return (self.size,)

    @property
    def title(self) -> str:
        reach = "" if self.reach == self.size else f" with a reach of {self.reach:,}"
        return f"toeplitz over {self.size:,} ticks{reach}"

    # ── the factors ──────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _terms(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        n = self.reach
        # One term for each factor of eight: twice as many would lower the variance by less than 0.5 %.
        count = math.ceil(math.log2(n) / 3)
        decays = np.concatenate([[1.0], np.geomspace(0.3, 0.5 / n, count)])
        wanted = _square_root(n)
        at = np.unique(np.concatenate([np.arange(16), np.geomspace(1, n - 1, 200).astype(int)]))
        table = (1 - decays) ** at[:, None] / wanted[at][:, None]
        amounts, _ = nnls(table, np.ones(len(at)))  # the least relative error; amounts from 0 on keep r positive
        # The first two stay, whatever the fit says: theta = 0 keeps L free of a term of its own at lag 0.
        amounts[:1] = np.maximum(amounts[:1], 1e-6)
        kept = amounts > 0
        return amounts[kept], decays[kept]

    @property
    def amounts(self) -> NDArray[np.float64]:
        return self._terms[0]

    @property
    def decays(self) -> NDArray[np.float64]:
        """1 - theta: kept in this form, since the slowest theta is too near 1 for a float to hold well."""
        return self._terms[1]

    @cached_property
    def coefficients(self) -> NDArray[np.float64]:
        """r(0) to r(n-1): positive and falling."""
        powers = np.arange(self.size)[:, None] * np.log1p(-self.decays[1:])
        r: NDArray[np.float64] = np.exp(powers) @ self.amounts[1:]
        r[0] += self.amounts[0]
        return r

    @cached_property
    def _modes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights w and logarithms of the poles p of L, the pole 1 of summation first."""
        amounts, decays = self.amounts, self.decays

        def secular(gap: float) -> float:  # in 1 - p: near 1 a float could not tell p and theta apart
            return float(np.sum(amounts / (decays - gap)))

        gaps = []
        for high, low in pairwise(decays):
            edge = (high - low) * 1e-12
            gaps.append(float(brentq(secular, low + edge, high - edge, xtol=1e-300, rtol=1e-14)))
        q = np.array(gaps)
        p = 1 - q
        slope = np.sum(amounts * (1 - decays) / ((decays - q[:, None]) / p[:, None]) ** 2, axis=1)
        weights = p**2 / (q * slope)
        first = 1 / np.sum(amounts / decays)
        return np.concatenate([[first], weights]), np.concatenate([[0.0], np.log1p(-q)])

    # ── what is asked of every strategy ──────────────────────────────────────────────────────────────────────────

    def square_weights(self, max_ticks: int) -> tuple[float, ...]:
        first, largest = self._rates
        slack = (1 + self.rounding_change / math.sqrt(first)) ** 2  # what rounding may add
        return (float(largest[min(max_ticks, self.size) - 1]) * slack * (1 + 1e-9),)

    @cached_property
    def _rates(self) -> tuple[float, NDArray[np.float64]]:
        """|R d|^2 a tick for one tick of a tree, and the largest of it for up to k ticks.

        |R d|^2 for k ticks is largest for the first k: see docs/proofs/ranges.md, "All placements". With
        P(t) = r(0) + ... + r(t), the (k+1)-th tick adds the inner products of its column with itself and, twice, with
        those before it: sum over u < n-k of r(u) (r(u) + 2 (P(u+k) - P(u))). Kept: every choice asks for it.
        """
        n, r = self.size, self.coefficients
        sums = np.cumsum(r)
        length = 1 << (2 * n - 1).bit_length()
        # Sum over u of r(u) P(u + k), for all k at once.
        across = np.fft.irfft(np.conj(np.fft.rfft(r, length)) * np.fft.rfft(sums, length), length)[:n]
        added = 2 * across + np.cumsum(r * r - 2 * r * sums)[::-1]
        rates = np.cumsum(added) / np.arange(1, n + 1)
        return float(rates[0]), np.maximum.accumulate(rates)

    @property
    def fraction_bits(self) -> int:  # type: ignore[override]
        """As fine as 64 bits allow for the largest counts."""
        return min(24, 62 - 24 - (self.size - 1).bit_length())

    @property
    def impulse(self) -> int:
        return 1 << (self.fraction_bits + 22)

    def must_fit(self, deviation: float) -> bool:  # noqa: ARG002 - `fraction_bits` leaves room, and sums are floats
        return True

    def walk(self, noises: Sequence[IntegerNoise], keys: int) -> Walk:
        return ToeplitzFilter(self, noises, keys)

    @cached_property
    def rounding_change(self) -> float:
        """How much rounding can add to |R d| for one key: see docs/proofs/ranges.md, "Toeplitz"."""
        drift = 2 * float(np.sum(self.amounts * np.minimum(self.size, 1 / self.decays)))
        largest = LARGEST_COUNT * float(self.coefficients.sum()) * 2.0**self.fraction_bits
        evaluation = 2 * (0.5 + (len(self.amounts) + 3) * 2.0**-53 * largest)
        return math.sqrt(self.size) * (drift + evaluation) * 2.0**-self.fraction_bits

    def uses(self, a: int, b: int) -> list[float]:
        tree_a, a = divmod(a, self.size)
        tree_b, b = divmod(b, self.size)
        if tree_a == tree_b:
            return [self._within(a, b)]
        return [self._within(a, self.size) + (tree_b - tree_a - 1) * self._full + self._within(0, b)]

    @cached_property
    def _full(self) -> float:
        return self._within(0, self.size)

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each pair of modes the logarithm of p p', and w w'/(1 - p p'), with 1 in place of 0 for the pole 1."""
        weights, logs = self._modes
        both = logs[:, None] + logs
        gap = -np.expm1(both)
        gap[0, 0] = 1.0
        return both, weights[:, None] * weights / gap

    def _within(self, a: int, b: int) -> float:
        """Sum of l(k)^2 over the newer noises, and of (l(j + length) - l(j))^2 over those older than the range."""
        both, product = self._pairs
        length = b - a
        newer = -product * np.expm1(both * length)
        newer[0, 0] = product[0, 0] * length
        total = float(newer.sum())
        if a:
            moved = np.expm1(self._modes[1] * length)
            total += float(moved @ (-product * np.expm1(both * a)) @ moved)
        return total

    def mean_uses(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        # Smooth in where a range begins, so that few places stand for all.
        starts = ((np.arange(_STARTS) + 0.5) * self.size / _STARTS).astype(np.int64)
        means = np.zeros(len(lengths))
        for i, length in enumerate(lengths.tolist()):
            trees, ends = np.divmod(starts + length, self.size)
            inside = trees == 0
            uses = self._many_within(starts, np.where(inside, ends, self.size))
            uses += np.where(inside, 0.0, (trees - 1) * self._full + self._many_within(np.zeros_like(ends), ends))
            means[i] = uses.mean()
        return means[:, None]

    def _many_within(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """`_within` of many ranges."""
        both, product = self._pairs
        lengths = (b - a)[:, None]
        newer = -product * np.expm1(both * lengths[:, :, None])
        newer[:, 0, 0] = product[0, 0] * lengths[:, 0]
        moved = np.expm1(self._modes[1] * lengths)
        older = -product * np.expm1(both * a[:, None, None])
        uses: NDArray[np.float64] = newer.sum(axis=(1, 2)) + np.einsum("si,sij,sj->s", moved, older, moved)
        return uses

    def step_uses(self, first: int, count: int) -> NDArray[np.float64]:
        a = np.arange(first, first + count) % self.size
        both, product = self._pairs
        moved = np.expm1(self._modes[1])
        older = -np.expm1(a[:, None, None] * both) * (product * moved[:, None] * moved)
        uses: NDArray[np.float64] = self._within(0, 1) + older.sum(axis=(1, 2), keepdims=True)[:, 0]
        return uses

    def to_dict(self) -> dict[str, Any]:
        reach = {} if self.reach == self.size else {"reach": self.reach}
        return {"kind": self.kind, "size": self.size, **reach}


def _square_root(n: int) -> NDArray[np.float64]:
    """C(2k,k)/4^k for k < n."""
    k = np.arange(1, n)
    return np.concatenate([[1.0], np.cumprod((2 * k - 1) / (2 * k))])
