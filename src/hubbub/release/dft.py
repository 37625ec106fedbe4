"""The Fourier perturbation of a whole series at once (Rastogi & Nath 2010; Fan 2014, Alg. 2). Offline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.mechanism import Estimate, Measurement, OfflineMechanism, Option, Traits
from hubbub.mechanism.kinds import Whole
from hubbub.noise import ByteSource, DiscreteLaplace
from hubbub.privacy import Guarantee
from hubbub.released import Cost, Domain, Tick

Array = NDArray[np.float64]

_FINENESS = 2000
_LARGEST = 2.0**30
"""Counts are cut here, which moves nobody's part by more, and bounds the transform's floating-point error."""
_BLOCK = 64
"""So many products are added up in whatever order the machine likes; beyond, halves are added, level by level."""
_NORMAL = 1.959963984540054


class Dft(OfflineMechanism):
    """The first `coefficients` Fourier coefficients of a series, with noise; the series is their inverse.

    It needs all counts before it releases anything, so it stands beside the online methods as a yardstick, not in
    place of them.

    | symbol | here | meaning |
    |---|---|---|
    | T | horizon | ticks of the series |
    | r | 2 d - 1 | real coordinates of d complex coefficients, in an orthonormal basis |
    | n | – | ticks in which the person counts, at most `max_ticks` |

    Guarantee
        Protects: one `unit` with a horizon; neighbouring series differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: discrete Laplace of scale S/epsilon on every coordinate, rounded to a grid of S/(2000 r), where S is
        the L1 change of the coordinates: for one key sqrt(T) (p + sqrt(r - 1) sqrt(p (1 - p))) at the worst p = n/T,
        which for n up to T is sqrt(T) (1 + sqrt(r))/2; for more keys sqrt(r keys n max_items), with keys counted
        only up to n max_items.
        Not covered: the choice of `coefficients`, which must not depend on the data.
        Reference: Rastogi & Nath 2010, Thm 4.1 (there with sqrt(d) for d coefficients); the bound here is our own.
        Proof: docs/proofs/dft.md (proved).

    >>> from hubbub.privacy import User
    >>> from hubbub.released import Keys
    >>> dft = Dft(Keys(["flu"]), Guarantee.pure(User(horizon=478), 1))
    >>> print(dft.guarantee)
    Each person's presence changes any output's probability by at most a factor e^1 = 2.72, over all 478 ticks ...
    >>> round(dft.sensitivity / math.sqrt(478), 3), round(math.sqrt(39), 3)  # ours, and the simple bound
    (3.622, 6.245)
    """

    name: ClassVar[str] = "dft"
    traits: ClassVar[Traits] = Traits(
        even_cost=False, online=False, guarantees=("pure",), needs_horizon=True, independent_ticks=False, plain=False
    )

    coefficients: Option[int] = Option(
        Whole(), 20, "The paper's d: how many Fourier coefficients are kept. Must not depend on the data."
    )

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        horizon = self.ticks
        if 2 * self.coefficients - 1 > horizon:
            raise InvalidParameter(
                f"A series of {horizon:,} ticks has no {self.coefficients:,} coefficients.",
                f"Use at most {(horizon + 1) // 2:,}.",
            )
        self._basis = _basis(horizon, self.coefficients)
        self.sensitivity = _sensitivity(guarantee, len(keys), len(self._basis))
        # A grid that is fine beside the noise: rounding moves each coordinate by at most one step more, and the
        # floating-point errors of the two sums by `stray`.
        coordinates = len(self._basis) * len(keys)
        self._grid = self.sensitivity / (_FINENESS * coordinates)
        stray = math.ceil(2 * _floating_error(horizon) / self._grid)  # of both neighbours, in steps
        steps = math.ceil(self.sensitivity / self._grid) + (1 + stray) * coordinates
        self._noise = DiscreteLaplace(Fraction(steps) / guarantee.budget, source=source)

    def _measure(self, series: Sequence[Counts], cost: Cost) -> Measurement:
        """The noisy coordinates, in steps of the grid, one row per coordinate and one column per key."""
        counted = np.stack([counts.values.reveal() for counts in series]).astype(np.float64)
        counted = np.minimum(counted, _LARGEST)
        steps = np.rint(_product(self._basis, counted) / self._grid).astype(np.int64)
        steps += self._noise.sample(steps.size).reshape(steps.shape)
        return Measurement(series[0].tick, self.keys, steps, self._noise.variance, cost)

    def _estimate(self, ticks: Sequence[Tick], measurement: Measurement) -> list[Estimate]:
        assert measurement.values is not None
        values = self._basis.T @ (measurement.values * self._grid)
        # What the noise adds is known, what the dropped coefficients held is not: the interval is of the noise alone.
        error = self._grid * np.sqrt(measurement.variance * (self._basis**2).sum(axis=0))
        estimates = []
        for t in range(len(ticks)):
            at, wide = values[t], np.full(len(self.keys), error[t])
            low, high = np.maximum(at - _NORMAL * wide, 0.0), np.maximum(at + _NORMAL * wide, 0.0)
            estimates.append(Estimate(np.maximum(at, 0.0), wide, low, high))
        return estimates


def _basis(ticks: int, coefficients: int) -> Array:
    """The orthonormal constant, cosines and sines of the first frequencies, a row each."""
    t = np.arange(ticks)
    rows = [np.full(ticks, 1 / math.sqrt(ticks))]
    for k in range(1, coefficients):
        angle = 2 * math.pi * k * t / ticks
        rows += [np.cos(angle) * math.sqrt(2 / ticks), np.sin(angle) * math.sqrt(2 / ticks)]
    return np.stack(rows)


def _product(basis: Array, counted: Array) -> Array:
    """`basis @ counted`, added up so that the error grows with the logarithm of the ticks and not with the ticks."""
    ticks = len(counted)
    if ticks <= _BLOCK:
        return basis @ counted
    half = ticks // 2
    return _product(basis[:, :half], counted[:half]) + _product(basis[:, half:], counted[half:])


def _floating_error(ticks: int) -> float:
    """How far a coordinate, as computed and divided by the grid, may lie from the exact product: docs/proofs/dft.md."""
    roundings = _BLOCK + max(0, math.ceil(math.log2(ticks / _BLOCK))) + 2
    return 1.01 * roundings * 2.0**-53 * math.sqrt(2 * ticks) * _LARGEST


def _sensitivity(guarantee: Guarantee, keys: int, coordinates: int) -> float:
    unit, ticks = guarantee.unit, guarantee.unit.horizon
    assert ticks is not None
    if keys == 1:
        best = (1 + 1 / math.sqrt(coordinates)) / 2
        p = min(unit.max_ticks / ticks, best)
        bound = math.sqrt(ticks) * (p + math.sqrt((coordinates - 1) * p * (1 - p)))
    else:
        changed = unit.max_ticks * unit.max_items
        bound = math.sqrt(coordinates * min(keys, changed) * changed)
    # The cosines as computed: each is off by at most this, in every coordinate and for every count of the unit.
    off = math.sqrt(2 / ticks) * (4 * math.pi * (coordinates + 1) + 4) * 2.0**-53
    return (bound + coordinates * unit.max_ticks * unit.max_items * off) * (1 + 1e-9)  # the formula's own rounding
