"""What every draw of noise was given, and what came out; and the same once more with what came out kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.checks.failure import CheckFailed, expect
from hubbub.checks.replay.drawn import Drawn
from hubbub.noise import ByteSource, DiscreteGaussian, DiscreteLaplace, IntegerNoise


@dataclass(frozen=True)
class Law:
    """Which noise: its kind, and the exact number that it was made with (a scale, or a variance)."""

    kind: type[DiscreteLaplace] | type[DiscreteGaussian]
    parameter: Fraction

    @classmethod
    def of(cls, noise: IntegerNoise) -> Law:
        if isinstance(noise, DiscreteLaplace):
            return cls(DiscreteLaplace, noise.scale)
        if isinstance(noise, DiscreteGaussian):
            return cls(DiscreteGaussian, noise.variance_parameter)
        raise CheckFailed(f"A replay knows no price for noise of the kind {type(noise).__name__}.")

    def __str__(self) -> str:
        return f"{self.kind.__name__}({self.parameter})"


@dataclass
class Row:
    """One call of `sample`: so many draws of one law, made in `step`.

    `noise` is what was drawn, `given` what it was added to, `out` the sum, `used` whether it was added to anything, and
    `when` in which step: noise may be drawn ahead.
    """

    law: Law
    tape: Tape
    noise: NDArray[np.int64]
    recorded: Row | None = None
    step: int = field(init=False)
    when: NDArray[np.int64] = field(init=False)
    given: NDArray[np.int64] = field(init=False)
    out: NDArray[np.int64] = field(init=False)
    used: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.step = self.tape.step
        self.when = np.full(len(self.noise), self.step)
        self.given, self.out = np.zeros_like(self.noise), np.zeros_like(self.noise)
        self.used = np.zeros(len(self.noise), dtype=np.bool_)

    def meet(self, at: NDArray[np.intp], given: Any) -> NDArray[np.int64]:
        """Noise meets numbers: in a first run their sum; in a second the sum of the first, whatever was given."""
        numbers = np.asarray(given)
        expect(
            numbers.dtype.kind in "iu",
            f"Noise of {self.law} was added to numbers that are not whole ({numbers.dtype}): which fractions come out "
            "would tell them.",
        )
        expect(
            numbers.shape in (at.shape, ()) and (numbers.shape == at.shape or at.size == 1),
            "One draw of noise was added to several numbers: their difference comes out without any.",
        )
        expect(
            not self.used[at].any(),
            "Noise that had been added to something was added once more: the two sums tell how far apart they are.",
        )
        self.used[at], self.given[at], self.when[at] = True, numbers, self.tape.step
        if self.recorded is None:
            self.out[at] = self.noise[at] + numbers
        else:
            expect(bool(self.recorded.used[at].all()), "Noise was used that the neighbouring stream left unused.")
            self.out[at] = self.recorded.out[at]
        return self.out[at].copy()


class Tape:
    """Stands in for a source of randomness: hands out noise and sees what it is added to.

    The first run draws honestly (`source` gives the bytes). `again()` is the tape for a neighbour: it expects the same
    draws of the same laws in the same order, and answers each with the sum of the first run. So the neighbour sees the
    same noisy values, and whatever else it does differently depends on what is confidential.
    """

    secure = False

    def __init__(self, source: ByteSource, recorded: Sequence[Row] | None = None) -> None:
        self._source, self._recorded = source, recorded
        self._laws: dict[Law, IntegerNoise] = {}
        self.rows: list[Row] = []
        self.step = 0
        """Which step of the script runs; whoever plays sets it."""

    def again(self) -> Tape:
        return Tape(self._source, self._recorded if self._recorded is not None else self.rows)

    def draw(self, noise: IntegerNoise, n: int) -> Drawn:
        row = self._row(Law.of(noise), n)
        self.rows.append(row)
        return Drawn(row, np.arange(n))

    def take(self, count: int) -> bytes:
        raise CheckFailed(
            f"{count} random bytes were taken that belong to no noise: a replay sees what noise is added to, not what "
            "bytes are used for."
        )

    def _row(self, law: Law, n: int) -> Row:
        if self._recorded is None:
            if law not in self._laws:
                self._laws[law] = law.kind(law.parameter, self._source)
            return Row(law, self, self._laws[law].sample(n))
        number = len(self.rows)
        expect(number < len(self._recorded), f"Noise was drawn in step {self.step}, and for the neighbour it was not.")
        other = self._recorded[number]
        expect(
            (other.law, other.step, len(other.noise)) == (law, self.step, n),
            f"In step {self.step} {n} draws of {law} were made where the neighbour made {len(other.noise)} of "
            f"{other.law} in step {other.step}: what is drawn depends on what is confidential.",
        )
        return Row(law, self, other.noise, other)

    def finish(self) -> None:
        """The run is over: nothing may be left that only the neighbour drew or used."""
        if self._recorded is None:
            return
        expect(
            len(self.rows) == len(self._recorded),
            f"{len(self._recorded)} times noise was drawn for one neighbour, and {len(self.rows)} times for the other.",
        )
        for one, two in zip(self._recorded, self.rows, strict=True):
            same = (one.used == two.used) & (one.when == two.when)
            expect(bool(same.all()), f"Noise drawn in step {one.step} was used for one neighbour alone.")
