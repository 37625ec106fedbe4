"""What the integer noises have in common."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, exact
from hubbub.noise.buffer import Buffer
from hubbub.noise.decay import Decay
from hubbub.noise.source import ByteSource
from hubbub.noise.staircase import staircase
from hubbub.noise.system import DEFAULT

SMALLEST_SCALE = Fraction(1, 1000)
LARGEST_SCALE = Fraction(2**40)
RAREST = Fraction(1, 10**300)
FEW = 64
"""Up to so many draws come from the buffer."""
MOST_DRAWS = 2**28
"""A longer array (2 GiB) is more likely a mistake than a wish."""


class IntegerNoise(ABC):
    """Noise on the integers, symmetric around 0, drawn exactly."""

    def __init__(self, decay: Decay, shift: int, source: ByteSource | None) -> None:
        self._decay = decay
        self._shift = shift
        self._source: ByteSource = DEFAULT if source is None else source
        # A check may stand in for the dice (`hubbub.checks.replay`); nothing secure does: see `require_secure`.
        self._stand_in = getattr(self._source, "draw", None)
        mark = getattr(self._source, "mark", None)
        # Without a mark nobody could tell whether noise drawn ahead may still be used.
        self._buffer = Buffer(self._draw, mark) if mark else None

    # ── draws ────────────────────────────────────────────────────────────────────────────────────────────────────

    def sample(self, n: int) -> NDArray[np.int64]:
        """`n` independent draws."""
        count = checked_draws(n)
        if self._buffer is not None and count <= FEW:
            return np.array(self._buffer.many(count), dtype=np.int64)
        return self._draw(count)

    def sample_one(self) -> int:
        """One draw."""
        return self._draw(1).item() if self._buffer is None else self._buffer.one()

    def _draw(self, n: int) -> NDArray[np.int64]:
        if self._stand_in is not None:
            drawn: NDArray[np.int64] = self._stand_in(self, n)
            return drawn
        out = np.empty(n, dtype=np.int64)
        staircase(self._decay, self._shift).fill(out, self._source)
        return out

    def __reduce__(self) -> tuple[type[IntegerNoise], tuple[Fraction, ByteSource | None]]:
        # A copy starts with an empty buffer: noise drawn ahead is handed out by one object only.
        return type(self), (self._parameter, None if self._source is DEFAULT else self._source)

    # ── what is known about it ───────────────────────────────────────────────────────────────────────────────────

    @property
    @abstractmethod
    def _parameter(self) -> Fraction:
        """What the constructor takes."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Of the discrete distribution itself, to the accuracy of a float."""

    @abstractmethod
    def log_probability(self, k: int) -> float:
        """log P(X = k)."""

    @abstractmethod
    def cdf(self, k: int) -> float:
        """P(X <= k), with small relative error in the lower tail."""

    @abstractmethod
    def _guess(self, p: float) -> int:
        """About where `cdf` passes p <= 1/2."""

    def quantile(self, p: Exact) -> int:
        """The smallest k with P(X <= k) >= p, to the accuracy of a float."""
        share = exact(p, "p")
        if not RAREST <= share <= 1 - RAREST:
            raise InvalidParameter(
                f"`p` must lie between 1e-300 and 1 - 1e-300; got {p}.", "The noise has no smallest or largest value."
            )
        if share > Fraction(1, 2):
            # By symmetry P(X <= k) >= p is P(X <= -k-1) <= 1 - p: the lower tail, where `cdf` is accurate.
            return -self._last_at_most(float(1 - share)) - 1
        return self._first_at_least(float(share))

    def _first_at_least(self, p: float) -> int:
        k = self._guess(p)
        while self.cdf(k) < p:
            k += 1
        while self.cdf(k - 1) >= p:
            k -= 1
        return k

    def _last_at_most(self, p: float) -> int:
        k = self._guess(p)
        while self.cdf(k) > p:
            k -= 1
        while self.cdf(k + 1) <= p:
            k += 1
        return k


def checked_draws(n: int) -> int:
    """How many draws were asked for."""
    if isinstance(n, (bool, np.bool_)):
        raise InvalidParameter(f"`n` must be a whole number of draws; got {n}.")
    try:
        count = operator.index(n)
    except TypeError:
        raise InvalidParameter(f"`n` must be a whole number of draws; got {type(n).__name__}.") from None
    if not 0 <= count <= MOST_DRAWS:
        raise InvalidParameter(f"`n` must lie between 0 and {MOST_DRAWS:,}; got {count:,}.", "Draw in parts.")
    return count


def checked_scale(scale: Fraction, given: Exact, name: str, power: int = 1) -> Fraction:
    """The range in which everything here is proved and tested; `power` 2 is for a variance."""
    if not SMALLEST_SCALE**power <= scale <= LARGEST_SCALE**power:
        unit = "" if power == 1 else " squared"
        raise InvalidParameter(
            f"`{name}` must lie between 1/1000{unit} and 2^40{unit}; got {given}.",
            "Below it there is no noise to speak of; above it little of any data is left.",
        )
    return scale


def cell_shift(scale: Fraction, widest: int, power: int = 1) -> int:
    """The smallest s for which scale / 2^(power s) is at most `widest`."""
    shift = 0
    while scale > widest << power * shift:
        shift += 1
    return shift
