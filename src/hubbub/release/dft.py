"""The Fourier perturbation of a whole series at once (Rastogi & Nath 2010; Fan 2014, Alg. 2). Offline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter, TickOutOfOrder, UnknownKey
from hubbub.exact import whole
from hubbub.noise import ByteSource, DiscreteLaplace
from hubbub.privacy import Guarantee
from hubbub.released import Cost, Keys, Release

Array = NDArray[np.float64]

COEFFICIENTS = 20
"""The paper's d."""
_FINENESS = 2000
_LARGEST = 2.0**30
"""Counts are cut here, which moves nobody's part by more: the transform's floating-point error stays below a step."""
_NORMAL = 1.959963984540054


class Dft:
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
    >>> dft = Dft(Keys(["flu"]), Guarantee.pure(User(horizon=478), 1))
    >>> round(dft.sensitivity / math.sqrt(478), 3), round(math.sqrt(39), 3)  # ours, and the simple bound
    (3.622, 6.245)
    """

    name = "dft"

    def __init__(
        self,
        keys: Keys,
        guarantee: Guarantee,
        *,
        coefficients: int = COEFFICIENTS,
        source: ByteSource | None = None,
    ) -> None:
        horizon = guarantee.unit.horizon
        if horizon is None or guarantee.kind != "pure":
            raise InvalidParameter(
                "`dft` transforms a whole series, so it needs a unit with a horizon and a pure epsilon.",
                "Use Guarantee.pure(hb.User(horizon=…), epsilon).",
            )
        self.keys, self.guarantee = keys, guarantee
        self.coefficients = whole(coefficients, "coefficients")
        if 2 * self.coefficients - 1 > horizon:
            raise InvalidParameter(
                f"A series of {horizon:,} ticks has no {self.coefficients:,} coefficients.",
                f"Use at most {(horizon + 1) // 2:,}.",
            )
        self._basis = _basis(horizon, self.coefficients)
        self.sensitivity = _sensitivity(guarantee, len(keys), len(self._basis))
        # A grid that is fine beside the noise: rounding moves each coordinate by at most one step more.
        coordinates = len(self._basis) * len(keys)
        self._grid = self.sensitivity / (_FINENESS * coordinates)
        steps = math.ceil(self.sensitivity / self._grid) + 2 * coordinates
        self._noise = DiscreteLaplace(Fraction(steps) / guarantee.budget, source=source)

    def release_series(self, series: Sequence[Counts]) -> list[Release]:
        """Every tick's release; the whole cost is written to the first."""
        horizon = len(self._basis[0])
        if [counts.tick.index for counts in series] != list(range(horizon)):
            raise TickOutOfOrder(
                f"`dft` needs the counts of all {horizon:,} ticks, in order; got {len(series):,}.",
                "Give 0 where nothing was counted; for a live stream use an online method.",
            )
        if any(counts.keys != self.keys for counts in series):
            raise UnknownKey("The counts have other keys than the series.", "All ticks have the same keys.")
        counted = np.stack([counts.values.reveal() for counts in series]).astype(np.float64)
        counted = np.minimum(counted, _LARGEST)
        steps = np.rint(self._basis @ counted / self._grid).astype(np.int64)
        steps += self._noise.sample(steps.size).reshape(steps.shape)
        values = self._basis.T @ (steps * self._grid)
        # What the noise adds is known, what the dropped coefficients held is not: the interval is of the noise alone.
        error = self._grid * np.sqrt(self._noise.variance * (self._basis**2).sum(axis=0))
        releases = []
        for t, counts in enumerate(series):
            at, wide = values[t], np.full(len(self.keys), error[t])
            low, high = np.maximum(at - _NORMAL * wide, 0.0), np.maximum(at + _NORMAL * wide, 0.0)
            cost = Cost.nothing() if t else Cost(epsilon=self.guarantee.budget)
            releases.append(Release(counts.tick, self.keys, np.maximum(at, 0.0), wide, low, high, cost=cost))
        return releases


def _basis(ticks: int, coefficients: int) -> Array:
    """The orthonormal constant, cosines and sines of the first frequencies, a row each."""
    t = np.arange(ticks)
    rows = [np.full(ticks, 1 / math.sqrt(ticks))]
    for k in range(1, coefficients):
        angle = 2 * math.pi * k * t / ticks
        rows += [np.cos(angle) * math.sqrt(2 / ticks), np.sin(angle) * math.sqrt(2 / ticks)]
    return np.stack(rows)


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
    return bound * (1 + 1e-9)  # the formula's own rounding
