"""The fast sampler behind both distributions.

| symbol | here | meaning |
|---|---|---|
| f | `decay` | the falling function; a draw x has probability proportional to f(|x|) |
| s | `shift` | cells are 2^s wide; 0 means that there are none and the table holds the draws themselves |
| g(j) | `coarse` | f(2^s j), the height of step j |
| S | `sign` | 0 for x = a, 1 for x = -1 - a |

Proof: docs/proofs/noise.md, sections 3 to 5.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import NoiseOverflow
from hubbub.noise.decay import Decay
from hubbub.noise.digits import Uniform
from hubbub.noise.inversion import REACH, Inversion
from hubbub.noise.ladder import UNDECIDED, WORD, Ladder
from hubbub.noise.source import ByteSource

CHUNK = 1 << 17
"""Draws at a time: small enough for the cache, large enough to make calls cheap."""

UNKNOWN = -(2**15)
DOUBT = 2.0**-30
"""How near two floats must be to be left to exact arithmetic; the proof shows that errors stay below."""

TERMS = (1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1.0)
"""1 - exp(-t) is near t - t^2/2! + ... + t^7/7!"""


class Staircase:
    """Draws integers x with probability proportional to f(|x|)."""

    def __init__(self, decay: Decay, shift: int) -> None:
        self._decay = decay
        self._shift = shift
        self._coarse = decay.coarse(shift)
        self._inversion = Inversion(self._coarse, head=2 if shift else 1)
        self._cells = 1 << (63 - shift)  # from this cell on, numbers do not fit into 64 bits
        outcomes = self._inversion.buckets
        core = self._core(outcomes)
        limit = min(self._cells, -UNKNOWN - 1)
        unknown = (outcomes == UNDECIDED) | (core >= limit) | (core < -limit)
        if shift:
            unknown |= outcomes == 0
        self._table = np.where(unknown, UNKNOWN, core).astype(np.int16)
        if shift:
            weights, _ = self._coarse.weights(2 * WORD, REACH)
            lows = [low >> WORD for low, _ in weights]
            highs = [(high >> WORD) + 1 for _, high in weights]
            self._heights = Ladder(lows[::-1], highs[::-1])
            self._floats = np.array([1.0, *(low / 2**WORD for low in lows)])
            self._linear, self._square = float(decay.linear), float(decay.square)
            self._low_type = "<u2" if shift <= 16 else "<u4" if shift <= 32 else "<u8"

    def fill(self, out: NDArray[np.int64], source: ByteSource) -> None:
        """Overwrite `out` with draws."""
        for start in range(0, len(out), CHUNK):
            part = out[start : start + CHUNK]
            again = self._attempt(part, source)
            while len(again):
                redrawn = np.empty(len(again), dtype=np.int64)
                rejected = self._attempt(redrawn, source)
                part[again] = redrawn
                again = again[rejected]

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _core(self, outcomes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Outcome 2j-1 is +j, outcome 2j is -j; with cells these are cell j-1 and its mirror image -1 - (j-1)."""
        size = (outcomes + 1) >> 1
        negative = -(~outcomes & 1)  # all ones for the mirror image
        return (size - 1) ^ negative if self._shift else (size ^ negative) - negative

    def _attempt(self, out: NDArray[np.int64], source: ByteSource) -> NDArray[np.intp]:
        """Fill `out`; the places returned hold nothing and must be drawn again."""
        shorts = np.frombuffer(source.take(2 * len(out)), dtype="<u2")
        core = self._table.take(shorts, mode="clip")  # 16 digits cannot miss the table; `clip` only spares the check
        rest: NDArray[np.intp] = np.flatnonzero(core == UNKNOWN)
        outcomes = self._inversion.resolve(shorts[rest], source)
        resolved = self._core(outcomes)
        if not self._shift:
            out[:] = core
            out[rest] = resolved
            return rest[:0]
        if np.any((resolved >= self._cells) | (resolved < -self._cells)):
            raise _overflow()
        size = int(self._low_type[-1])
        low = np.frombuffer(source.take(size * len(out)), dtype=self._low_type)
        low = low >> low.dtype.type(8 * size - self._shift)
        np.left_shift(core, self._shift, out=out, dtype=np.int64)
        out[rest] = resolved << self._shift
        out ^= low.astype(np.int64)
        wedge = rest[outcomes == 0]
        values, accepted = self._wedge(len(wedge), source)
        out[wedge] = values
        rejected: NDArray[np.intp] = wedge[~accepted]
        return rejected

    def _wedge(self, count: int, source: ByteSource) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Points above the steps: a height V, the cell whose step it passes, a place in that cell; is it under f?"""
        words = np.frombuffer(source.take(16 * count), dtype="<u8")
        height, place = words[:count], words[count:]
        below = self._heights.place(height)
        cell = len(self._heights) - below
        sign = (place >> np.uint64(63)).astype(np.int64)
        low = (place & np.uint64((1 << self._shift) - 1)).astype(np.int64)
        values = ((cell << self._shift) + low) ^ -sign
        inside = (low + sign).astype(np.float64)
        start = (cell << self._shift).astype(np.float64)
        drop = inside * (self._linear + self._square * (2.0 * start + inside))
        curve = np.zeros(count)
        for term in TERMS:
            curve = (term - curve) * drop
        curve = self._floats.take(cell, mode="clip") * (1.0 - curve)
        margin = curve - height.astype(np.float64) * 2.0**-WORD
        accepted = margin > 0
        # Between two cells, below the last height of the table, too large, too near to the curve: decided exactly.
        doubtful = (below == UNDECIDED) | (below == 0) | (cell >= self._cells) | (np.abs(margin) <= DOUBT)
        for at in np.flatnonzero(doubtful):
            uniform = Uniform(source, int(height[at]), WORD)
            values[at], accepted[at] = self.wedge_exactly(uniform, int(low[at]), int(sign[at]))
        return values, accepted

    def wedge_exactly(self, uniform: Uniform, low: int, sign: int) -> tuple[int, bool]:
        """The same for one point, with as many digits of its height as it takes."""
        step = 1
        while uniform.below(partial(self._coarse.bounds, step)):
            step *= 2
        cell, end = step // 2, step  # the height lies below g(cell), where g(0) = 1, and not below g(end)
        while end - cell > 1:
            middle = (cell + end) // 2
            if uniform.below(partial(self._coarse.bounds, middle)):
                cell = middle
            else:
                end = middle
        size = (cell << self._shift) + low
        if not uniform.below(partial(self._decay.bounds, size + sign)):
            return 0, False
        if cell >= self._cells:
            raise _overflow()
        return size ^ -sign, True


def _overflow() -> NoiseOverflow:
    return NoiseOverflow("A noise value does not fit into 64 bits.", "Use a smaller scale.")


@lru_cache(maxsize=64)
def staircase(decay: Decay, shift: int) -> Staircase:
    """Tables take milliseconds to make, so those of the last distributions are kept; they hold nothing secret."""
    return Staircase(decay, shift)
