"""A vector of numbers each, added up."""

from __future__ import annotations

from collections.abc import Sequence

from hubbub.errors import InvalidInput
from hubbub.gather.prio3.chunks import ChunkedCircuit, best_chunk_length
from hubbub.gather.prio3.circuit import RangedBits, whole_number
from hubbub.gather.prio3.field import Elements, Field
from hubbub.gather.prio3.field128 import Field128


class SumVec(ChunkedCircuit[Sequence[int], list[int]]):
    """Valid: `length` whole numbers, each from 0 to `max_measurement` (section 7.4.3)."""

    name = "sum_vec"

    def __init__(
        self, length: int, max_measurement: int, chunk_length: int | None = None, field: Field = Field128
    ) -> None:
        self.length = length
        self.max_measurement = max_measurement
        self._bits = RangedBits(field, max_measurement)
        encoded = length * self._bits.bits
        super().__init__(
            field, encoded_length=encoded, output_length=length, checks=1,
            chunk_length=best_chunk_length(encoded) if chunk_length is None else chunk_length,
        )  # fmt: skip

    def encode(self, measurement: Sequence[int]) -> Elements:
        if len(measurement) != self.length:
            raise InvalidInput(f"A measurement here has {self.length:,} numbers; got {len(measurement):,}.")
        return self._bits.write([whole_number(v, self.max_measurement, "Each number here") for v in measurement])

    def also(self, encoded: Elements, shares: int) -> list[Elements]:  # noqa: ARG002
        return []

    def truncate(self, encoded: Elements) -> Elements:
        return self._bits.read(encoded.reshape(*encoded.shape[:-1], self.length, self._bits.bits))

    def decode(self, total: Elements) -> list[int]:
        return self.field.to_ints(total)

    @property
    def parameters(self) -> dict[str, int]:
        return {
            "length": self.length,
            "max_measurement": self.max_measurement,
            "chunk_length": self.chunk_length,
        }

    @property
    def largest(self) -> int:
        return self.max_measurement

    @property
    def sensitivity(self) -> int:
        return self.length * self.max_measurement

    @property
    def square_sensitivity(self) -> int:
        return self.length * self.max_measurement**2
