"""One bit each, added up."""

from __future__ import annotations

import numpy as np

from hubbub.gather.prio3.circuit import Circuit, whole_number
from hubbub.gather.prio3.field import Elements, Field
from hubbub.gather.prio3.field64 import Field64


class Count(Circuit[int, int]):
    """Valid: 0 and 1 (section 7.4.1)."""

    name = "count"

    def __init__(self, field: Field = Field64) -> None:
        super().__init__(field, calls=1, arity=2, encoded_length=1, output_length=1, joint_length=0, checks=1)

    def encode(self, measurement: int) -> Elements:
        return self.field.of([whole_number(measurement, 1, "A measurement of a count")])

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:  # noqa: ARG002
        return np.stack([encoded, encoded], axis=-2)

    def gadget(self, wires: Elements) -> Elements:
        return self.field.mul(wires[..., 0, :], wires[..., 1, :])

    def results(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:  # noqa: ARG002
        return self.field.sub(outputs, encoded)

    def truncate(self, encoded: Elements) -> Elements:
        return encoded

    def decode(self, total: Elements) -> int:
        return self.field.to_ints(total)[0]

    @property
    def parameters(self) -> dict[str, int]:
        return {}

    @property
    def largest(self) -> int:
        return 1

    @property
    def sensitivity(self) -> int:
        return 1

    @property
    def square_sensitivity(self) -> int:
        return 1
