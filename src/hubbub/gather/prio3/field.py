"""Vectors over a prime field: whole arrays at once, no Python integer in any loop over elements.

An array of field elements is an array of `uint64` whose *first* axis holds the limbs of each element (one for
`Field64`, four for `Field128`); all further axes are those of the elements. So slicing from the right
(`x[..., 3:]`) and reshaping the other axes need not know which field it is.

Elements may be kept *loose*: below 2^64 or 2^128, but not below the modulus. `tight` makes them unique, and is called
where it matters: before encoding and before comparing. Addition is never data-dependent in its control flow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput, InvalidParameter

Elements = NDArray[np.uint64]
"""The first axis is the limbs."""


class Field(ABC):
    """Arithmetic of one prime field (draft-irtf-cfrg-vdaf, section 6.1)."""

    name: str
    modulus: int
    encoded_size: int
    limbs: int
    limb_bits: int
    odd_part: int
    """The modulus is 2^k odd_part + 1, and 7 to this power generates the subgroup of order 2^k."""

    # ── what each field does in its own way ──────────────────────────────────────────────────────────────────────

    @abstractmethod
    def add(self, x: Elements, y: Elements) -> Elements: ...

    @abstractmethod
    def sub(self, x: Elements, y: Elements) -> Elements: ...

    @abstractmethod
    def mul(self, x: Elements, y: Elements) -> Elements: ...

    @abstractmethod
    def sum(self, x: Elements, axis: int = -1) -> Elements:
        """The sum along one axis of the elements, counted from the right (negative); at most 2^28 terms."""

    @abstractmethod
    def tight(self, x: Elements) -> Elements:
        """Each element as the one number below the modulus."""

    @abstractmethod
    def from_words(self, words: NDArray[np.uint8]) -> Elements:
        """Little-endian bytes, the last axis `encoded_size` long, as loose elements."""

    @abstractmethod
    def to_words(self, x: Elements) -> NDArray[np.uint8]:
        """The inverse of `from_words`, for tight elements."""

    @abstractmethod
    def beyond(self, words: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which of these encodings stand for no element, being the modulus or more."""

    # ── making and looking at elements ───────────────────────────────────────────────────────────────────────────

    def zeros(self, *shape: int) -> Elements:
        return np.zeros((self.limbs, *shape), dtype=np.uint64)

    def constant(self, value: int) -> Elements:
        """One element, without further axes: it goes with arrays of any shape."""
        return self.of([value]).reshape(self.limbs)

    def of(self, values: Iterable[int]) -> Elements:
        """A short vector from whole numbers: constants and tests, not hot paths."""
        mask = (1 << self.limb_bits) - 1
        rows = [[value % self.modulus >> self.limb_bits * i & mask for i in range(self.limbs)] for value in values]
        return np.ascontiguousarray(np.array(rows, dtype=np.uint64).reshape(-1, self.limbs).T)

    def small(self, values: NDArray[np.int64]) -> Elements:
        """Whole numbers from 0 to 2^32 - 1, of any shape."""
        out = self.zeros(*values.shape)
        out[0] = values
        return out

    def to_ints(self, x: Elements) -> list[int]:
        """A vector as Python integers: for results."""
        size = self.encoded_size
        data = self.encode(x)
        return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]

    def is_zero(self, x: Elements) -> NDArray[np.bool_]:
        answer: NDArray[np.bool_] = (self.tight(x) == 0).all(axis=0)
        return answer

    def equal(self, x: Elements, y: Elements) -> NDArray[np.bool_]:
        return self.is_zero(self.sub(x, y))

    # ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def encode(self, x: Elements) -> bytes:
        """A vector as bytes, element after element, each little-endian."""
        return self.to_words(self.tight(x)).tobytes()

    def encode_rows(self, x: Elements) -> list[bytes]:
        """A matrix as one byte string for each row."""
        rows = self.to_words(self.tight(x))
        return [row.tobytes() for row in rows]

    def decode(self, data: bytes, length: int) -> Elements:
        """A vector of exactly `length` elements; each must be encoded in the one right way."""
        if len(data) != length * self.encoded_size:
            raise InvalidInput(
                f"A vector of {length:,} elements of {self.name} takes {length * self.encoded_size:,} bytes; "
                f"got {len(data):,}.",
                "Was the message cut, or made for other parameters?",
            )
        words = np.frombuffer(data, dtype=np.uint8).reshape(length, self.encoded_size)
        if self.beyond(words).any():
            raise InvalidInput(f"A number in the message is no element of {self.name}: it is the modulus or more.")
        return self.from_words(words)

    # ── built from the above ─────────────────────────────────────────────────────────────────────────────────────

    def neg(self, x: Elements) -> Elements:
        return self.sub(np.zeros_like(x), x)

    def dot(self, x: Elements, y: Elements) -> Elements:
        """The sum of products along the last axis."""
        return self.sum(self.mul(x, y))

    def powers(self, x: Elements, count: int) -> Elements:
        """x, x^2, ..., x^count along a new last axis, by doubling."""
        out = x[..., None]
        while out.shape[-1] < count:
            have = out.shape[-1]
            more = self.mul(out[..., : count - have], out[..., -1:])
            out = np.concatenate([out, more], axis=-1)
        return out

    def root(self, order: int) -> int:
        """The root of unity of this order that everybody agrees on (a power of two)."""
        two_power = (self.modulus - 1) // self.odd_part
        if order < 1 or two_power % order:
            raise InvalidParameter(f"{self.name} has no root of unity of order {order:,}.")
        return pow(7, self.odd_part * (two_power // order), self.modulus)

    def roots(self, order: int, count: int | None = None, step: int = 1) -> Elements:
        """1, w, w^2, ... for w = root(order)^step; `order` of them unless told."""
        return _roots(self, order, order if count is None else count, step)

    def transform(self, x: Elements, step: int = 1) -> Elements:
        """Values at all n-th roots of unity of the polynomials whose coefficients stand along the last axis.

        With `step` -1 the inverse roots are taken, which undoes it but for a factor n.
        """
        n = x.shape[-1]
        if n == 1:
            return x
        # Even and odd coefficients, then one butterfly: all vectors of a level are done in one call.
        halves = np.stack([x[..., 0::2], x[..., 1::2]], axis=1)
        even, odd = np.moveaxis(self.transform(halves, step), 1, 0)
        turned = self.mul(odd, self.roots(n, n // 2, step))
        return np.concatenate([self.add(even, turned), self.sub(even, turned)], axis=-1)

    def between(self, x: Elements) -> Elements:
        """Values of polynomials given at the n-th roots of unity, at the points halfway: w^(1/2), w^(3/2), ..."""
        n = x.shape[-1]
        shift = _scaled_roots(self, n)
        return self.transform(self.mul(self.transform(x, -1), shift))

    def lagrange(self, points: Elements, n: int) -> Elements:
        """l_k(t), along a new last axis: a polynomial with values v_k at w^k has the value sum l_k(t) v_k at t.

        l_k(t) = (1/n) sum over j < n of (t w^-k)^j, a geometric sum with n = 2^m terms, which is the product of
        1 + (t w^-k)^(2^b) for b < m. Nothing is divided, so no point is special. Factor b has the period n / 2^b in k.
        """
        squares = [points]
        while 1 << len(squares) < n:
            squares.append(self.mul(squares[-1], squares[-1]))
        one = self.constant(1)
        out = np.broadcast_to(spread(self.constant(pow(n, -1, self.modulus)), points.ndim), points.shape)[..., None]
        for bit in reversed(range(n.bit_length() - 1)):
            period = n >> bit
            turned = self.mul(squares[bit][..., None], self.roots(period, period // 2, -1))
            factors = np.concatenate([self.add(one, turned), self.sub(one, turned)], axis=-1)
            out = self.mul(np.concatenate([out, out], axis=-1), factors)
        return out


def spread(x: Elements, ndim: int) -> Elements:
    """`x` with so many axes, new ones standing between the limbs and the elements' own."""
    return x.reshape(x.shape[:1] + (1,) * (ndim - x.ndim) + x.shape[1:])


def aligned(x: Elements, y: Elements) -> tuple[Elements, Elements]:
    """Both with as many axes, so that NumPy broadcasts elements against elements and limbs against limbs."""
    ndim = max(x.ndim, y.ndim)
    return spread(x, ndim), spread(y, ndim)


@lru_cache(maxsize=128)
def _roots(field: Field, order: int, count: int, step: int) -> Elements:
    root = pow(field.root(order), step, field.modulus)
    values, value = [], 1
    for _ in range(count):
        values.append(value)
        value = value * root % field.modulus
    found = field.of(values)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=32)
def _scaled_roots(field: Field, n: int) -> Elements:
    """The first n powers of the root of order 2n, each divided by n."""
    found = field.tight(field.mul(field.roots(2 * n, n), field.constant(pow(n, -1, field.modulus))))
    found.setflags(write=False)
    return found
