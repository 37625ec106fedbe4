"""What a measurement must be like: a circuit over a field that is zero for valid ones alone.

All circuits here have one gadget of degree 2 (a product, or a sum of products), called `calls` times, and what goes
into the gadget never depends on what came out of it. So all calls are laid out at once, as a matrix of wires.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.gather.prio3.field import Elements, Field

Measurement = TypeVar("Measurement")
Result = TypeVar("Result")


class Circuit(ABC, Generic[Measurement, Result]):
    """A validity circuit (draft-irtf-cfrg-vdaf, section 7.3.2). Arrays have the axes limbs, reports, then their own.

    | here | draft |
    |---|---|
    | `calls` | `GADGET_CALLS[0]` |
    | `arity` | `GADGETS[0].ARITY` |
    | `encoded_length` | `MEAS_LEN` |
    | `output_length` | `OUTPUT_LEN` |
    | `joint_length` | `JOINT_RAND_LEN` |
    | `checks` | `EVAL_OUTPUT_LEN` |
    """

    name: str

    def __init__(
        self, field: Field, *, calls: int, arity: int, encoded_length: int, output_length: int, joint_length: int,
        checks: int,
    ) -> None:  # fmt: skip
        self.field = field
        self.calls = calls
        self.arity = arity
        self.encoded_length = encoded_length
        self.output_length = output_length
        self.joint_length = joint_length
        self.checks = checks

    @abstractmethod
    def encode(self, measurement: Measurement) -> Elements:
        """A measurement as a vector; one that no honest client could have is refused."""

    @abstractmethod
    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:
        """What goes into the gadget: axes limbs, reports, arity, calls."""

    @abstractmethod
    def gadget(self, wires: Elements) -> Elements:
        """The gadget at many points at once: from axes limbs, ..., arity, points to limbs, ..., points."""

    @abstractmethod
    def results(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        """What must be zero, from what came out of the gadget (limbs, reports, calls): limbs, reports, checks."""

    @abstractmethod
    def truncate(self, encoded: Elements) -> Elements:
        """The part that is added up."""

    @abstractmethod
    def decode(self, total: Elements) -> Result:
        """A sum as numbers."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, int]:
        """What besides the name makes it this circuit and no other."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """The most that one valid report adds to any one number of the result."""

    @property
    @abstractmethod
    def sensitivity(self) -> int:
        """The most that one valid report adds to the whole result, all numbers together (its L1 norm)."""

    @property
    @abstractmethod
    def square_sensitivity(self) -> int:
        """The most that the squares of what one valid report adds come to (its L2 norm, squared)."""

    @property
    def change(self) -> int:
        """The most that another answer of one client changes the whole result by (L1)."""
        return self.sensitivity

    @property
    def square_change(self) -> int:
        """The same in squares (L2, squared)."""
        return self.square_sensitivity


def whole_number(value: object, largest: int, what: str) -> int:
    """A measurement's number from 0 to `largest`. It is confidential: no message repeats it."""
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if not isinstance(value, (int, np.integer)) or not 0 <= int(value) <= largest:
        raise InvalidInput(f"{what} must be a whole number from 0 to {largest:,}.", "Nothing was sent.")
    return int(value)


def at_least_one(value: int, name: str, below: int) -> int:
    """A parameter of a circuit."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < below:
        raise InvalidParameter(f"`{name}` must be a whole number from 1 to {below - 1:,}; got {value!r}.")
    return value


class RangedBits:
    """Numbers from 0 to `largest` as zeros and ones whose weights add up to `largest`, so that nothing else can be
    written (section 7.4.2): powers of two, and a last weight for the rest."""

    def __init__(self, field: Field, largest: int) -> None:
        self.largest = at_least_one(largest, "largest", field.modulus)
        self.bits = largest.bit_length()
        self.rest = 2 ** (self.bits - 1) - 1
        self.last = largest - self.rest
        self.weights = field.of([1 << bit for bit in range(self.bits - 1)] + [self.last])
        self._field = field

    def write(self, values: list[int]) -> Elements:
        """Numbers one after the other: limbs, numbers x bits."""
        kind: type = np.int64 if self.bits <= 62 else object
        numbers: NDArray[np.int64] = np.array(values, dtype=kind)
        over = numbers > self.rest
        left = numbers - over * self.last
        digits = [(left >> bit & 1).astype(np.int64) for bit in range(self.bits - 1)]
        return self._field.small(np.stack([*digits, over.astype(np.int64)], axis=-1).reshape(-1))

    def read(self, written: Elements) -> Elements:
        """The numbers, or shares of them: the last axis is the bits of one number."""
        return self._field.dot(written, self.weights)
