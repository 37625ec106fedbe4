"""One number each, added up."""

from __future__ import annotations

from hubbub.gather.prio3.circuit import Circuit, RangedBits, whole_number
from hubbub.gather.prio3.field import Elements, Field
from hubbub.gather.prio3.field64 import Field64


class Sum(Circuit[int, int]):
    """Valid: whole numbers from 0 to `max_measurement` (section 7.4.2)."""

    name = "sum"

    def __init__(self, max_measurement: int, field: Field = Field64) -> None:
        self.max_measurement = max_measurement
        self._bits = RangedBits(field, max_measurement)
        bits = self._bits.bits
        super().__init__(field, calls=bits, arity=1, encoded_length=bits, output_length=1, joint_length=0, checks=bits)

    def encode(self, measurement: int) -> Elements:
        return self._bits.write([whole_number(measurement, self.max_measurement, "A measurement of this sum")])

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:  # noqa: ARG002
        return encoded[..., None, :]

    def gadget(self, wires: Elements) -> Elements:
        value = wires[..., 0, :]
        return self.field.sub(self.field.mul(value, value), value)

    def results(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:  # noqa: ARG002
        return outputs

    def truncate(self, encoded: Elements) -> Elements:
        return self._bits.read(encoded)[..., None]

    def decode(self, total: Elements) -> int:
        return self.field.to_ints(total)[0]

    @property
    def parameters(self) -> dict[str, int]:
        return {"max_measurement": self.max_measurement}

    @property
    def largest(self) -> int:
        return self.max_measurement

    @property
    def sensitivity(self) -> int:
        return self.max_measurement

    @property
    def square_sensitivity(self) -> int:
        return self.max_measurement**2
