"""Drawing by inversion: a uniform number falls into one of many intervals, and nearly always 16 digits tell which."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.decay import Decay
from hubbub.noise.digits import Uniform
from hubbub.noise.ladder import UNDECIDED, WORD, Ladder
from hubbub.noise.source import ByteSource

SHORT = 16
BUCKETS = 1 << SHORT
REACH = 40
"""The table leaves out what has a probability of about 2^-40; it is found by exact arithmetic."""


class Outcomes(ABC):
    """Outcomes 0, 1, 2, ... of any distribution whose thresholds can be had to as many digits as one likes: outcome i
    covers the interval [c_(i-1), c_i) of [0, 1)."""

    def __init__(self) -> None:
        self._ladder = Ladder(*self.thresholds(WORD, REACH))
        self.buckets = self._fill_buckets()

    @abstractmethod
    def thresholds(self, bits: int, reach: int) -> tuple[list[int], list[int]]:
        """low_i <= c_i 2^bits <= high_i, for all outcomes up to the first with a weight below 2^-reach."""

    def resolve(self, shorts: NDArray[np.uint16], source: ByteSource) -> NDArray[np.intp]:
        """The outcome of each 16-digit beginning, with 48 more digits, and with as many as needed where those fail."""
        more = np.frombuffer(source.take(8 * len(shorts)), dtype="<u8") >> np.uint64(SHORT)
        words = (shorts.astype(np.uint64) << np.uint64(WORD - SHORT)) | more
        places = self._place(words)
        for at in np.flatnonzero(places == UNDECIDED):
            places[at] = self.resolve_exactly(Uniform(source, int(words[at]), WORD))
        return places

    def resolve_exactly(self, uniform: Uniform) -> int:
        """The outcome of one number, by drawing digits until no threshold is in doubt."""
        while True:
            uniform.extend()
            lows, highs = _exact_thresholds(self, uniform.bits)
            place = bisect_right(lows, uniform.value)
            if place < len(lows) and (place == 0 or uniform.value >= highs[place - 1]):
                return place

    def _place(self, words: NDArray[np.uint64]) -> NDArray[np.intp]:
        places = self._ladder.place(words)
        places[places == len(self._ladder)] = UNDECIDED  # beyond the last threshold of the table
        return places

    def _fill_buckets(self) -> NDArray[np.intp]:
        """The outcome of all numbers that begin with the same 16 digits, where there is only one."""
        begun, ended = self._ladder.passed(SHORT)
        places = np.where(begun == ended, begun, UNDECIDED)
        places[places == len(self._ladder)] = UNDECIDED
        return places


class Inversion(Outcomes):
    """The distribution on 0, +1, -1, +2, -2, ... with weights head, f(1), f(1), f(2), f(2), ...

    Outcomes are numbered in this order.
    """

    def __init__(self, decay: Decay, head: int) -> None:
        self._decay = decay
        self._head = head
        super().__init__()

    def thresholds(self, bits: int, reach: int) -> tuple[list[int], list[int]]:
        """low_i <= c_i 2^bits <= high_i, for all outcomes up to the first with a weight below 2^-reach."""
        work = bits + WORD
        # The total needs more terms than the table has outcomes: what is not known of it blurs every threshold.
        weights, after = self._decay.weights(work, bits + SHORT)
        head = self._head << work
        total_low = head + 2 * sum(low for low, _ in weights)
        total_high = head + 2 * (sum(high for _, high in weights) + after)
        share_low = (1 << 2 * work) // total_high
        share_high = (1 << 2 * work) // total_low + 1
        drop = 2 * work - bits
        end = 1 << (work - reach)
        sum_low = sum_high = head
        lows, highs = [head * share_low >> drop], [(head * share_high >> drop) + 1]
        for low, high in weights:
            for _ in "+-":
                sum_low += low
                sum_high += high
                lows.append(sum_low * share_low >> drop)
                highs.append((sum_high * share_high >> drop) + 1)
            if high < end:
                break
        return lows, highs


@lru_cache(maxsize=8)
def _exact_thresholds(outcomes: Outcomes, bits: int) -> tuple[list[int], list[int]]:
    return outcomes.thresholds(bits, bits)
