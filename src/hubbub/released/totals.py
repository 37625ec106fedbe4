"""How many are at several keys together, in one tick or over a span of ticks; free of charge, from releases alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import InvalidParameter
from hubbub.released.domain import Domain
from hubbub.released.joint import Causes
from hubbub.released.release import Release
from hubbub.released.skewed import NORMAL, interval
from hubbub.released.value import Value

_ONE = np.ones(1)
_LAPLACE = 2.12
"""A single Laplace variable needs 2.118 standard errors for 95 of 100 times, a sum of several less."""


class SpanTotal(NamedTuple):
    """Of some keys over some ticks: the sum over all ticks (vehicle-ticks, visitor-ticks), and the mean of a tick."""

    total: Value
    mean: Value
    ticks: int


def total(release: Release, cells: ArrayLike) -> Value:
    """How many are at these keys together, with an interval that is never too narrow for what is known of its errors.

    Where the release says how errors of different keys go together (`release.joint`), that is used. Otherwise
    correlated errors are taken to go together fully. Where single keys were cut at zero and err by themselves, their
    measurements are added: those were not cut.

    >>> from hubbub.released import Grid, Tick
    >>> one, grid = np.ones(6), Grid(3, 2)
    >>> release = Release(Tick(0), grid, 4 * one, one, 2 * one, 6 * one, np.full(6, 4), 1.0)
    >>> print(total(release, [0, 1, 2, 3]))
    16.0 ± 2.0
    """
    some = positions_of(release.keys, cells)
    if release.joint is None and _was_cut(release):
        return _of_measurements(release, some)
    causes = _causes(release, some)
    return as_value(causes.value, causes.variance, release.is_predicted, skewed=release.joint is not None)


def total_over(releases: Iterable[Release], cells: ArrayLike) -> SpanTotal:
    """The same over several ticks of one stream, in their order; they are read one by one, and none is kept.

    Errors of neighbouring ticks go together: what was wrong a tick ago mostly still is. Where a release says how far
    (`release.joint`), that is used. Otherwise the errors of all ticks are taken to go together fully.

    >>> from hubbub.released import Grid, Tick
    >>> one, grid = np.ones(6), Grid(3, 2)
    >>> ticks = [Release(Tick(t), grid, 4 * one, one, 2 * one, 6 * one, np.full(6, 4), 1.0) for t in range(10)]
    >>> span = total_over(ticks, [0, 1, 2, 3])
    >>> print(span.total, "|", span.mean)
    160 ± 20 | 16.0 ± 2.0
    """
    span = Span(cells)
    for release in releases:
        span.add(release)
    return span.total


class Span:
    """Some keys over ticks that come one by one; `None` means all keys."""

    def __init__(self, cells: ArrayLike | None = None) -> None:
        self._cells = cells
        self._keys: Domain | None = None
        self._some = np.zeros(0, dtype=np.int64)
        self._sums, self._ticks, self._last, self._measured = _Sum(), 0, -1, False

    def add(self, release: Release) -> None:
        if self._keys is None:
            self._keys = release.keys
            cells = np.arange(len(release.keys)) if self._cells is None else self._cells
            self._some = positions_of(release.keys, cells)
        if release.keys != self._keys or release.tick.index <= self._last:
            raise InvalidParameter(
                f"A span is made of ticks of one stream, in their order and with the same {self._keys.noun}s.",
                "Ask for the ticks before and after a change one by one.",
            )
        self._sums.add(_causes(release, self._some))
        self._ticks, self._last = self._ticks + 1, release.tick.index
        self._measured = self._measured or not release.is_predicted

    @property
    def total(self) -> SpanTotal:
        if not self._ticks:
            raise InvalidParameter("A span needs at least one tick.", "Give the releases of one or more ticks.")
        value, variance, ticks = self._sums.value, self._sums.variance, self._ticks
        whole = as_value(value, variance, not self._measured)
        return SpanTotal(whole, as_value(value / ticks, variance / ticks**2, not self._measured), ticks)


def positions_of(keys: Domain, cells: ArrayLike) -> NDArray[np.int64]:
    """Positions in the domain, each once and in order; any other is refused."""
    some = np.asarray(cells, dtype=np.int64).ravel()
    if not (some[1:] > some[:-1]).all():  # whole maps are asked for at every tick, and are in order
        some = np.unique(some)
    if some.size and not 0 <= some[0] <= some[-1] < len(keys):
        raise InvalidParameter(
            f"The stream has {len(keys):,} {keys.noun}s, and the area asks for others.",
            "Give positions in the stream's domain, such as those of `area`.",
        )
    return some


class _Sum:
    """Sums over ticks, and their variance. Ticks whose causes are not the same ones are taken to go together fully."""

    def __init__(self) -> None:
        self.value = 0.0
        self._done, self._open, self._most = 0.0, 0.0, 0.0
        self._before = np.zeros(0)
        """For each cause, the covariance of the sum so far with what is off now."""

    def add(self, now: Causes) -> None:
        self.value += now.value
        if len(self._before) != len(now.loads):
            self._done, self._open, self._before = self._error, 0.0, np.zeros(len(now.loads))
        before = now.kept * self._before
        own = now.loads * now.variances
        self._open += float((now.loads * (2 * before + own)).sum())
        self._most += math.sqrt(max(now.variance, 0.0))
        self._before = before + own

    @property
    def _error(self) -> float:
        return self._done + math.sqrt(max(self._open, 0.0))

    @property
    def variance(self) -> float:
        """Never above that of errors that go together fully: what is kept from tick to tick is told by a model."""
        return min(self._error, self._most) ** 2


def _was_cut(release: Release) -> bool:
    """Whether estimates of single keys were cut at zero.

    Noise that falls below zero is then left out of a sum and noise above it is not: of a million empty cells the
    estimates add up to millions, and so do those of one empty cell over a million ticks. Measurements were never cut.
    """
    if release.measurements is None or release.noise_variance is None:
        return False
    return bool(release.values.min() == 0 and (release.standard_errors[release.values == 0] > 0).any())


def _measured(release: Release, some: NDArray[np.int64]) -> tuple[float, float]:
    """The sum of the measurements, which may be below zero, and its error."""
    assert release.measurements is not None
    return float(release.measurements[some].sum()), math.sqrt(release.variance_of_sum(some))


def _of_measurements(release: Release, some: NDArray[np.int64]) -> Value:
    value, error = _measured(release, some)
    reach = _LAPLACE * error
    return Value(max(value, 0.0), error, max(value - reach, 0.0), max(value + reach, 0.0))


def _causes(release: Release, some: NDArray[np.int64]) -> Causes:
    if release.joint is not None:
        return release.joint.causes(release.keys, release.values, some)
    if _was_cut(release):
        # Not cut at zero either: what is cut in every tick adds up. The noise is new in each.
        value, error = _measured(release, some)
        return Causes(value, np.array([error]), _ONE, np.zeros(1))
    errors = release.standard_errors[some]
    together = release.correlated or release.is_predicted
    error = float(errors.sum()) if together else float(np.sqrt((errors**2).sum()))
    # A cause that nobody knows more of: the whole error is one, and stays for ever.
    return Causes(float(release.values[some].sum()), np.array([error]), _ONE, _ONE)


def as_value(value: float, variance: float, predicted: bool = False, *, skewed: bool = False) -> Value:
    """A sum whose error has this variance, with its interval: nothing below zero is possible.

    Where a model says how errors come about, few are `skewed`: spread further upwards than downwards.
    """
    error = math.sqrt(variance)
    lower, upper = max(value - NORMAL * error, 0.0), max(value + NORMAL * error, 0.0)
    value = max(value, 0.0)
    if skewed:
        low, high = interval(np.array(value), np.array(variance))
        lower, upper = max(lower, float(low)), max(upper, float(high))
    return Value(value, error, lower, upper, predicted=predicted)
