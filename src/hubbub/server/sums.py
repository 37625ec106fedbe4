"""Sums of released values, with intervals that hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

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
        self._value = 0.0
        self._variance = 0.0
        self._dependent = 0.0

    def add(self, release: Release, positions: Sequence[int] | None = None) -> None:
        """Add the keys at `positions` (all, if None) of one tick."""
        at = slice(None) if positions is None else list(positions)
        self.ticks += 1
        if release.measurements is None or release.noise_variance is None:
            self.predicted += 1
            values, errors = release.values[at], release.standard_errors[at]
            self._value += float(np.sum(np.where(np.isfinite(values), values, 0.0)))
            self._dependent += float(np.sum(np.where(np.isfinite(values), errors, math.inf)))
        else:
            measured = release.measurements[at]
            self._value += float(measured.sum())
            self._variance += release.noise_variance * len(measured)

    @property
    def quantity(self) -> Quantity:
        """The sum; cut at zero, since what is counted is never negative."""
        error = math.sqrt(self._variance) + self._dependent
        reach = REACH * error
        lower, upper = max(self._value - reach, 0.0), max(self._value + reach, 0.0)
        return Quantity(max(self._value, 0.0), error, lower, upper)


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
