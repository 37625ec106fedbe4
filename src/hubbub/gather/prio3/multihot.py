"""Some of many buckets each, counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub.errors import InvalidInput
from hubbub.gather.prio3.chunks import ChunkedCircuit, best_chunk_length
from hubbub.gather.prio3.circuit import RangedBits, at_least_one, whole_number
from hubbub.gather.prio3.field import Elements, Field
from hubbub.gather.prio3.field128 import Field128


class MultihotCountVec(ChunkedCircuit[Sequence[bool], list[int]]):
    """Valid: `length` zeros and ones, at most `max_weight` of them ones (section 7.4.5)."""

    name = "multihot_count_vec"

    def __init__(self, length: int, max_weight: int, chunk_length: int | None = None, field: Field = Field128) -> None:
        self.length = at_least_one(length, "length", field.modulus)
        self.max_weight = at_least_one(max_weight, "max_weight", length + 1)
        self._bits = RangedBits(field, max_weight)
        encoded = length + self._bits.bits
        super().__init__(
            field, encoded_length=encoded, output_length=length, checks=2,
            chunk_length=best_chunk_length(encoded) if chunk_length is None else chunk_length,
        )  # fmt: skip

    def encode(self, measurement: Sequence[bool]) -> Elements:
        if len(measurement) != self.length:
            raise InvalidInput(f"A measurement here has {self.length:,} entries; got {len(measurement):,}.")
        bits = [whole_number(value, 1, "Each entry here") for value in measurement]
        if sum(bits) > self.max_weight:
            raise InvalidInput(f"At most {self.max_weight:,} entries may be set.", "Choose which before sending.")
        return np.concatenate([self.field.small(np.array(bits)), self._bits.write([sum(bits)])], axis=-1)

    def also(self, encoded: Elements, shares: int) -> list[Elements]:  # noqa: ARG002
        weight = self.field.sum(encoded[..., : self.length])
        return [self.field.sub(weight, self._bits.read(encoded[..., self.length :]))]

    def truncate(self, encoded: Elements) -> Elements:
        return encoded[..., : self.length]

    def decode(self, total: Elements) -> list[int]:
        return self.field.to_ints(total)

    @property
    def parameters(self) -> dict[str, int]:
        return {"length": self.length, "max_weight": self.max_weight, "chunk_length": self.chunk_length}

    @property
    def largest(self) -> int:
        return 1

    @property
    def sensitivity(self) -> int:
        return self.max_weight

    @property
    def square_sensitivity(self) -> int:
        return self.max_weight

    @property
    def change(self) -> int:
        return min(2 * self.max_weight, self.length)

    @property
    def square_change(self) -> int:
        return self.change
