"""A vector of numbers each, that add up to no more than a bound."""

from __future__ import annotations

from collections.abc import Sequence

from hubbub.errors import InvalidInput
from hubbub.gather.prio3.chunks import LONGEST, ChunkedCircuit, best_chunk_length
from hubbub.gather.prio3.circuit import RangedBits, at_least_one, whole_number
from hubbub.gather.prio3.field import Elements, Field
from hubbub.gather.prio3.field128 import Field128


class L1BoundSum(ChunkedCircuit[Sequence[int], list[int]]):
    """Valid: `length` whole numbers from 0 on, all together at most `max_value` (draft-ietf-ppm-l1-bound-sum-02).

    What a client with up to `max_value` things sends, each thing in one place and several in a place if need be.
    """

    name = "l1_bound_sum"

    def __init__(self, length: int, max_value: int, chunk_length: int | None = None, field: Field = Field128) -> None:
        self.length = at_least_one(length, "length", LONGEST + 1)
        self.max_value = at_least_one(max_value, "max_value", 2**62)
        self._bits = RangedBits(field, max_value)
        encoded = (length + 1) * self._bits.bits
        super().__init__(
            field, encoded_length=encoded, output_length=length, checks=2,
            chunk_length=best_chunk_length(encoded) if chunk_length is None else chunk_length,
        )  # fmt: skip

    def encode(self, measurement: Sequence[int]) -> Elements:
        if len(measurement) != self.length:
            raise InvalidInput(f"A measurement here has {self.length:,} numbers; got {len(measurement):,}.")
        numbers = [whole_number(value, self.max_value, "Each number here") for value in measurement]
        if sum(numbers) > self.max_value:
            raise InvalidInput(f"The numbers may add up to {self.max_value:,} at most.", "Choose before sending.")
        return self._bits.write([*numbers, sum(numbers)])

    def also(self, encoded: Elements, shares: int) -> list[Elements]:  # noqa: ARG002
        numbers = self._numbers(encoded)
        return [self.field.sub(self.field.sum(numbers[..., : self.length]), numbers[..., self.length])]

    def truncate(self, encoded: Elements) -> Elements:
        return self._numbers(encoded)[..., : self.length]

    def decode(self, total: Elements) -> list[int]:
        return self.field.to_ints(total)

    def _numbers(self, encoded: Elements) -> Elements:
        """The numbers, and at the end what they are said to add up to."""
        return self._bits.read(encoded.reshape(*encoded.shape[:-1], self.length + 1, self._bits.bits))

    @property
    def parameters(self) -> dict[str, int]:
        return {"length": self.length, "max_value": self.max_value, "chunk_length": self.chunk_length}

    @property
    def largest(self) -> int:
        return self.max_value

    @property
    def sensitivity(self) -> int:
        return self.max_value

    @property
    def square_sensitivity(self) -> int:
        return self.max_value**2

    @property
    def change(self) -> int:
        return min(2, self.length) * self.max_value

    @property
    def square_change(self) -> int:
        return min(2, self.length) * self.max_value**2
