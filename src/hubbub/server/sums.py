"""Sums of released values, with intervals that hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Release, Span, Value

REACH = 2.12
"""Half a 95 % interval in standard errors. A single Laplace variable needs 2.118, a sum of several less, a Gaussian
1.96: with this factor the interval covers at least 95 of 100 times, whatever the sum is made of."""


class Sum:
    """Adds released values over ticks and keys.

    Where a tick was measured it adds *measurements*: their noise is independent across ticks and its variance is known,
    so the variance of a sum is the sum of variances, and cutting at zero has not shifted them. A release says itself
    how its keys add up (`variance_of_sum`): their errors may go together. Estimates of
    a filter err together from tick to tick, in a way that a release does not tell. They are used only where a tick was
    predicted, and there the standard errors themselves are added, which is right for any dependence.

    Releases of a map that say how their errors go together (`release.joint`) measured areas and not keys: beside each
    key stands its share of an area, which is no measurement of it. Of those the estimates are added, the sum over keys
    by what they say, and each key with the standard errors themselves.
    """

    def __init__(self) -> None:
        self.ticks = 0
        self.predicted = 0
        # Of each key; numbers until the first tick says how many keys there are.
        self._values: NDArray[np.float64] | float = 0.0
        self._dependent: NDArray[np.float64] | float = 0.0
        self._variances: NDArray[np.float64] | float = 0.0
        # Of the sum over keys; ticks that say how errors go together have a sum of their own.
        self._whole, self._error, self._variance = 0.0, 0.0, 0.0
        self._span: Span | None = None

    def add(self, release: Release, positions: Sequence[int] | None = None) -> None:
        """Add the keys at `positions` (all, if None) of one tick."""
        at = slice(None) if positions is None else list(positions)
        self.ticks += 1
        if release.measurements is None or release.noise_variance is None:
            self.predicted += 1
            self._add_estimates(release, at, positions)
        elif release.joint is not None:
            self._add_estimates(release, at, positions)
        else:
            measured = release.measurements[at].astype(np.float64)
            self._values = self._values + measured
            self._variances = self._variances + release.variances[at]
            self._whole += float(measured.sum())
            self._variance += release.variance_of_sum(positions)

    def _add_estimates(self, release: Release, at: slice | list[int], positions: Sequence[int] | None) -> None:
        values, errors = release.values[at], release.standard_errors[at]
        known = np.isfinite(values)
        values, errors = np.where(known, values, 0.0), np.where(known, errors, math.inf)
        self._values = self._values + values
        self._dependent = self._dependent + errors
        if release.joint is not None:
            self._span = self._span or Span(positions)
            self._span.add(release)
        else:
            self._whole += float(values.sum())
            self._error += float(errors.sum())

    @property
    def quantity(self) -> Value:
        """The sum over all keys that were added."""
        whole, error = self._whole, math.sqrt(self._variance) + self._error
        if self._span is not None:
            span = self._span.total.total
            whole, error = whole + span.value, error + span.standard_error
        return self._value(whole, error)

    def each(self, keys: int, positions: Sequence[int] | None = None) -> list[Value]:
        """The sum of each of the `keys` keys, or of those at some `positions` among them."""
        at = slice(None) if positions is None else list(positions)
        parts = (self._values, self._dependent, self._variances)
        values, dependent, variances = (np.broadcast_to(part, keys)[at] for part in parts)
        errors = np.sqrt(variances) + dependent
        return [self._value(value, error) for value, error in zip(values.tolist(), errors.tolist(), strict=True)]

    def _value(self, value: float, error: float) -> Value:
        """Cut at zero, since what is counted is never negative. Predicted is what rests on no measurement at all."""
        reach = REACH * error
        numbers = max(value, 0.0), error, max(value - reach, 0.0), max(value + reach, 0.0)
        return Value(*numbers, predicted=0 < self.predicted == self.ticks)


def total_of(release: Release) -> Value:
    """The sum over all keys of one tick."""
    return sum_of([release])


def sum_of(releases: Iterable[Release], positions: Sequence[int] | None = None) -> Value:
    adding = Sum()
    for release in releases:
        adding.add(release, positions)
    return adding.quantity


def share_of(part: Value, whole: Value, *, correlated: bool = False) -> Value | None:
    """`part` in per cent of `whole`, the errors carried over to first order; None where that says nothing.

    Errors of keys that go together (`correlated`) are added as they are, which is right for any dependence.

    >>> print(share_of(Value(340, 10, 320, 360), Value(1000, 30, 940, 1060)))
    34.0 ± 1.4
    """
    if not (part.is_above_zero and whole.is_above_zero):
        return None
    share = 100 * part.value / whole.value
    own, other = part.standard_error / part.value, whole.standard_error / whole.value
    error = share * (own + other if correlated else math.hypot(own, other))
    reach = REACH * error
    return Value(share, error, max(share - reach, 0.0), min(share + reach, 100.0), predicted=part.predicted)
