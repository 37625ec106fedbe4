"""The field of 2^128 - 28 * 2^64 + 1 elements: four limbs of 32 bits each.

With B = 2^32 the modulus says B^4 = 28 B^2 - 1, so what lies beyond the fourth limb is folded back by a small
multiplication and a subtraction.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hubbub.gather.prio3.field import Elements, Field, aligned

MODULUS = 2**128 - 28 * 2**64 + 1
LIMBS = 4
BITS = np.uint64(32)
LOW = np.uint64(2**32 - 1)
SIGNED_LOW = np.int64(2**32 - 1)
SIGNED_BITS = np.int64(32)
FOLD = np.int64(28)
BLOCK = 4096
"""So many products at a time: what is worked on stays in the processor's cache."""


class _Field128(Field):
    name = "Field128"
    modulus = MODULUS
    encoded_size = 16
    limbs = LIMBS
    limb_bits = 32
    odd_part = 4611686018427387897

    def add(self, x: Elements, y: Elements) -> Elements:
        x, y = aligned(x, y)
        return _settled((x + y).view(np.int64))

    def sub(self, x: Elements, y: Elements) -> Elements:
        x, y = aligned(x, y)
        return _settled(x.view(np.int64) - y.view(np.int64))

    def mul(self, x: Elements, y: Elements) -> Elements:
        x, y = aligned(x, y)
        shape = np.broadcast_shapes(x.shape[1:], y.shape[1:])
        size = math.prod(shape)
        if size <= BLOCK:
            return _product(x, y, shape)
        flat_x, flat_y = (np.broadcast_to(z, (LIMBS, *shape)).reshape(LIMBS, size) for z in (x, y))
        out = np.empty((LIMBS, size), dtype=np.uint64)
        for begin in range(0, size, BLOCK):
            part = slice(begin, min(begin + BLOCK, size))
            out[:, part] = _product(flat_x[:, part], flat_y[:, part], (part.stop - begin,))
        return out.reshape(LIMBS, *shape)

    def sum(self, x: Elements, axis: int = -1) -> Elements:
        return _settled(x.sum(axis=axis, dtype=np.uint64).view(np.int64))

    def tight(self, x: Elements) -> Elements:
        # x is at or above the modulus exactly when x + 2^128 - modulus does not fit; then that is x - modulus.
        raised = x.view(np.int64).copy()
        raised[2] += FOLD
        raised[0] -= 1
        over = _carried(raised)
        return np.where(over > 0, raised.view(np.uint64), x)

    def from_words(self, words: NDArray[np.uint8]) -> Elements:
        limbs = np.ascontiguousarray(words).view("<u4")
        return np.ascontiguousarray(np.moveaxis(limbs, -1, 0)).astype(np.uint64)

    def to_words(self, x: Elements) -> NDArray[np.uint8]:
        return np.ascontiguousarray(np.moveaxis(x, 0, -1).astype("<u4")).view(np.uint8)

    def beyond(self, words: NDArray[np.uint8]) -> NDArray[np.bool_]:
        halves = np.ascontiguousarray(words).view("<u8")
        low, high = halves[..., 0], halves[..., 1]
        border = np.uint64(2**64 - 28)
        answer: NDArray[np.bool_] = (high > border) | ((high == border) & (low >= np.uint64(1)))
        return answer


def _product(x: Elements, y: Elements, shape: tuple[int, ...]) -> Elements:
    columns = np.zeros((2 * LIMBS, *shape), dtype=np.uint64)
    for at in range(LIMBS):
        products = x[at] * y
        columns[at : at + LIMBS] += products & LOW
        products >>= BITS
        columns[at + 1 : at + 1 + LIMBS] += products
    # Each column is a sum of at most 7 numbers below 2^32. Folded twice it is below 2^46 in size.
    signed = columns.view(np.int64)
    signed[4:6] += FOLD * signed[6:8]
    signed[2:4] += FOLD * signed[4:6] - signed[6:8]
    signed[0:2] -= signed[4:6]
    return _settled(signed[:LIMBS])


def _carried(limbs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Carries in place, so that all limbs are from 0 to 2^32 - 1; what is left over beyond the fourth is returned."""
    for at in range(LIMBS - 1):
        limbs[at + 1] += limbs[at] >> SIGNED_BITS
    over = limbs[LIMBS - 1] >> SIGNED_BITS
    limbs &= SIGNED_LOW
    return np.asarray(over)


def _settled(limbs: NDArray[np.int64]) -> Elements:
    """Any limbs below 2^61 in size as a loose element: a number from 0 to 2^128 - 1.

    The first carry leaves over at most 2^30 in size. Folded back, the number lies within 2^100 of the range
    [0, 2^128), so the second carry leaves over -1, 0 or 1; and folding that back cannot leave the range again: a
    number that was too large by some is now below 2^100, one that was too small is above 2^128 - 2^101.
    """
    for _ in range(2):
        over = _carried(limbs)
        limbs[2] += FOLD * over
        limbs[0] -= over
    _carried(limbs)
    return limbs.view(np.uint64)


Field128 = _Field128()
