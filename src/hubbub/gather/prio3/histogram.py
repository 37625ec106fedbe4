"""One bucket each, counted."""

from __future__ import annotations

import numpy as np

from hubbub.gather.prio3.chunks import ChunkedCircuit, best_chunk_length
from hubbub.gather.prio3.circuit import whole_number
from hubbub.gather.prio3.field import Elements, Field
from hubbub.gather.prio3.field128 import Field128


class Histogram(ChunkedCircuit[int, list[int]]):
    """Valid: exactly one of `length` buckets (section 7.4.4)."""

    name = "histogram"

    def __init__(self, length: int, chunk_length: int | None = None, field: Field = Field128) -> None:
        self.length = length
        super().__init__(
            field, encoded_length=length, output_length=length, checks=2,
            chunk_length=best_chunk_length(length) if chunk_length is None else chunk_length,
        )  # fmt: skip

    def encode(self, measurement: int) -> Elements:
        bucket = whole_number(measurement, self.length - 1, "The bucket of this histogram")
        return self.field.small((np.arange(self.length) == bucket).astype(np.int64))

    def also(self, encoded: Elements, shares: int) -> list[Elements]:
        return [self.field.sub(self.field.sum(encoded), self.one_of(shares))]

    def truncate(self, encoded: Elements) -> Elements:
        return encoded

    def decode(self, total: Elements) -> list[int]:
        return self.field.to_ints(total)

    @property
    def parameters(self) -> dict[str, int]:
        return {"length": self.length, "chunk_length": self.chunk_length}

    @property
    def largest(self) -> int:
        return 1

    @property
    def sensitivity(self) -> int:
        return 1

    @property
    def square_sensitivity(self) -> int:
        return 1

    @property
    def change(self) -> int:
        return 2 if self.length > 1 else 0

    @property
    def square_change(self) -> int:
        return self.change
