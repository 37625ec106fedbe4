"""The field of 2^64 - 2^32 + 1 elements: one word each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.gather.prio3.field import Elements, Field, aligned

MODULUS = 2**64 - 2**32 + 1
P = np.uint64(MODULUS)
EXCESS = np.uint64(2**32 - 1)
"""2^64 modulo the modulus: what is owed when a word wraps around."""
LOW = np.uint64(2**32 - 1)
HALF = np.uint64(32)


class _Field64(Field):
    name = "Field64"
    modulus = MODULUS
    encoded_size = 8
    limbs = 1
    limb_bits = 64
    odd_part = 4294967295

    def add(self, x: Elements, y: Elements) -> Elements:
        x, y = aligned(x, y)
        total = x + y
        # A wrapped sum lacks 2^64; adding what that is may wrap once more, if both were loose.
        first = total + EXCESS * (total < x)
        return first + EXCESS * (first < total)

    def sub(self, x: Elements, y: Elements) -> Elements:
        x, y = aligned(x, y)
        left = x - y
        first = left - EXCESS * (x < y)
        return first - EXCESS * (first > left)

    def mul(self, x: Elements, y: Elements) -> Elements:
        x, y = aligned(x, y)
        x_low, x_high, y_low, y_high = x & LOW, x >> HALF, y & LOW, y >> HALF
        low = x_low * y_low
        cross = x_low * y_high
        middle = x_high * y_low + (low >> HALF) + (cross & LOW)  # below 2^64: (2^32-1)^2 + 2 (2^32-1)
        high = x_high * y_high + (middle >> HALF) + (cross >> HALF)
        return _reduced((middle << HALF) | (low & LOW), high)

    def sum(self, x: Elements, axis: int = -1) -> Elements:
        low = (x & LOW).sum(axis=axis, dtype=np.uint64)
        high = (x >> HALF).sum(axis=axis, dtype=np.uint64) + (low >> HALF)
        return _reduced((high << HALF) | (low & LOW), high >> HALF)

    def tight(self, x: Elements) -> Elements:
        return x - P * (x >= P)

    def from_words(self, words: NDArray[np.uint8]) -> Elements:
        found: Elements = np.ascontiguousarray(words).view("<u8")[..., 0].astype(np.uint64)[None]
        return found

    def to_words(self, x: Elements) -> NDArray[np.uint8]:
        words: NDArray[np.uint8] = np.ascontiguousarray(x[0][..., None].astype("<u8")).view(np.uint8)
        return words

    def beyond(self, words: NDArray[np.uint8]) -> NDArray[np.bool_]:
        answer: NDArray[np.bool_] = np.ascontiguousarray(words).view("<u8")[..., 0] >= P
        return answer


def _reduced(low: Elements, high: Elements) -> Elements:
    """low + 2^64 high, by 2^64 = 2^32 - 1 and 2^96 = -1."""
    top = high >> HALF
    left = low - top
    left = left - EXCESS * (low < top)  # cannot wrap again: a wrapped one is at least 2^64 - 2^32
    more = (high & LOW) * EXCESS
    total = left + more
    settled: Elements = total + EXCESS * (total < more)  # nor here: a wrapped one is at most 2^64 - 2^33
    return settled


Field64 = _Field64()
