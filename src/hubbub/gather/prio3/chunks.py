"""The check that all elements are 0 or 1, a chunk at a time, that three circuits have in common."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from hubbub.gather.prio3.circuit import Circuit, Measurement, Result, at_least_one
from hubbub.gather.prio3.field import Elements, Field

LONGEST = 2**24
"""Longer vectors than this would take a gigabyte a report."""


class ChunkedCircuit(Circuit[Measurement, Result]):
    """For each chunk the sum of r^j x_j (x_j - 1), with r from the joint randomness: zero for zeros and ones, and for
    anything else only if r is one of few unlucky elements."""

    def __init__(
        self, field: Field, *, encoded_length: int, output_length: int, chunk_length: int, checks: int
    ) -> None:
        at_least_one(encoded_length, "length", LONGEST + 1)
        self.chunk_length = at_least_one(chunk_length, "chunk_length", LONGEST + 1)
        calls = -(-encoded_length // chunk_length)
        super().__init__(
            field, calls=calls, arity=2 * chunk_length, encoded_length=encoded_length, output_length=output_length,
            joint_length=calls, checks=checks,
        )  # fmt: skip

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:
        field, size = self.field, self.chunk_length
        padded = field.zeros(encoded.shape[1], self.calls * size)
        padded[..., : self.encoded_length] = encoded
        # Chunks last: then wires stand as the proof wants them, one wire's values for all calls beside each other.
        bits = np.moveaxis(padded.reshape(*padded.shape[:2], self.calls, size), -1, -2)
        powers = np.moveaxis(field.powers(joint, size), -1, -2)
        out = np.empty((field.limbs, encoded.shape[1], self.arity, self.calls), dtype=np.uint64)
        out[..., 0::2, :] = field.mul(powers, bits)
        out[..., 1::2, :] = field.sub(bits, self.one_of(shares))
        return out

    def gadget(self, wires: Elements) -> Elements:
        return self.field.sum(self.field.mul(wires[..., 0::2, :], wires[..., 1::2, :]), axis=-2)

    def results(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        in_range = self.field.sum(outputs)
        return np.stack([in_range, *self.also(encoded, shares)], axis=-1)

    def one_of(self, shares: int) -> Elements:
        """Each server's share of the constant 1."""
        return self.field.constant(pow(shares, -1, self.field.modulus))

    @abstractmethod
    def also(self, encoded: Elements, shares: int) -> list[Elements]:
        """What must be zero besides."""


def best_chunk_length(encoded_length: int) -> int:
    """The chunk length with the shortest proof; the smallest of those that tie. All parties must use the same.

    A chunk length c costs 2 c + 2 (p - 1) + 1 elements, p being the first power of two above the number of chunks; for
    each p only the smallest c that needs no more than p - 1 chunks can be best.

    >>> best_chunk_length(4096)
    66
    """
    at_least_one(encoded_length, "encoded_length", LONGEST + 1)
    tried: list[tuple[int, int]] = []
    for power in range(1, encoded_length.bit_length() + 1):
        chunk = -(-encoded_length // (2**power - 1))
        points = 1 << (-(-encoded_length // chunk)).bit_length()
        tried.append((2 * chunk + 2 * points - 1, chunk))
    return min(tried)[1]
