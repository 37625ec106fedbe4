"""Sums of released values, with intervals that hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Release
from hubbub.server.quantity import Quantity

REACH = 2.12
"""Half a 95 % interval in standard errors. A single Laplace variable needs 2.118, a sum of several less, a Gaussian
1.96: with this factor the interval covers at least 95 of 100 times, whatever the sum is made of."""


class Sum:
    """Adds released values over ticks and keys.

    Where a tick was measured it adds *measurements*: their noise is independent across ticks and keys and its variance
    is known, so the variance of a sum is the sum of variances, and cutting at zero has not shifted them. Estimates of
    a filter err together from tick to tick, in a way that a release does not tell. They are used only where a tick was
    predicted, and there the standard errors themselves are added, which is right for any dependence.
    """

    def __init__(self) -> None:
        self.ticks = 0
        self.predicted = 0
        # Of each key; numbers until the first tick says how many keys there are.
        self._values: NDArray[np.float64] | float = 0.0
        self._dependent: NDArray[np.float64] | float = 0.0
        self._variance = 0.0
        self._keys = 0

    def add(self, release: Release, positions: Sequence[int] | None = None) -> None:
        """Add the keys at `positions` (all, if None) of one tick."""
        at = slice(None) if positions is None else list(positions)
        self.ticks += 1
        if release.measurements is None or release.noise_variance is None:
            self.predicted += 1
            values, errors = release.values[at], release.standard_errors[at]
            known = np.isfinite(values)
            self._values = self._values + np.where(known, values, 0.0)
            self._dependent = self._dependent + np.where(known, errors, math.inf)
            self._keys = len(values)
        else:
            measured = release.measurements[at]
            self._values = self._values + measured.astype(np.float64)
            self._variance += release.noise_variance
            self._keys = len(measured)

    @property
    def quantity(self) -> Quantity:
        """The sum over all keys that were added."""
        error = math.sqrt(self._variance * self._keys) + float(np.sum(self._dependent))
        return _quantity(float(np.sum(self._values)), error)

    def each(self, keys: int) -> list[Quantity]:
        """The sum of each of the `keys` keys."""
        values, dependent = (np.broadcast_to(part, keys) for part in (self._values, self._dependent))
        errors = math.sqrt(self._variance) + dependent
        return [_quantity(value, error) for value, error in zip(values.tolist(), errors.tolist(), strict=True)]


def _quantity(value: float, error: float) -> Quantity:
    """Cut at zero, since what is counted is never negative."""
    reach = REACH * error
    return Quantity(max(value, 0.0), error, max(value - reach, 0.0), max(value + reach, 0.0))


def total_of(release: Release) -> Quantity:
    """The sum over all keys of one tick."""
    return sum_of([release])


def sum_of(releases: Iterable[Release], positions: Sequence[int] | None = None) -> Quantity:
    adding = Sum()
    for release in releases:
        adding.add(release, positions)
    return adding.quantity


def share_of(part: Quantity, whole: Quantity) -> Quantity | None:
    """`part` in per cent of `whole`, the errors carried over to first order; None where that says nothing.

    >>> share_of(Quantity(340, 10, 320, 360), Quantity(1000, 30, 940, 1060)).text
    '34.0 ± 1.4'
    """
    if part.state != "measured" or whole.state != "measured":
        return None
    share = 100 * part.value / whole.value
    error = share * math.hypot(part.error / part.value, whole.error / whole.value)
    return Quantity(share, error, max(share - REACH * error, 0.0), min(share + REACH * error, 100.0))
