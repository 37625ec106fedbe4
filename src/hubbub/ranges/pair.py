"""Ranges answered from both of a monitor's streams: the companion's noisy prefixes and the live measurements."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.ranges.segment import Segment
from hubbub.ranges.window import CONTINUITY, GAUSSIAN_REACH, LAPLACE_REACH, RangeWindow
from hubbub.released import Keys, Release, Snapshot


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """The total of some keys from tick `first` to `last`, both included.

    `value` is unbiased (and so may be negative); `lower` to `upper` covers the truth in at least 95 of 100 cases and is
    cut at zero. `missing` ticks were measured in neither stream: what happened in them is not in the total. `weight` is
    the part that the range stream has in the answer; the live measurements have the rest.
    """

    first: int
    last: int
    value: float
    standard_error: float
    lower: float
    upper: float
    missing: int
    weight: float


class PairWindow:
    """The last W ticks of both streams, released values only.

    Two numbers are known about a range: the companion's R, with the variance V(R) of its strategy, and the sum L of the
    live measurements, with the sum V(L) of their variances. Their noises are independent and both are unbiased, so the
    mean weighted by inverse variances, (V(L) R + V(R) L) / (V(L) + V(R)), has the variance
    V(R) V(L) / (V(R) + V(L)): less than either. Proof: docs/proofs/pair.md.

    A tick that only the live stream has (a crash between the two) is added as it is. Where only the companion has
    measured some tick, L is not a sum over the same ticks, and R answers alone. So it does where `even` is False: a
    live mechanism that spends by what it saw before has variances that depend on its noise, and so would the weights.
    """

    def __init__(self, window: RangeWindow, *, even: bool = True) -> None:
        self.window = window
        self._even = even
        rows = window.window + 1
        # Sums up to each tick over those that both have measured, as in `RangeWindow`.
        self._sums = np.zeros((rows, len(window.keys)), dtype=np.int64)
        self._variances = np.zeros(rows)
        self._alone = np.zeros(rows, dtype=np.int64)  # how many ticks the companion alone has measured
        self._extra_ticks: list[int] = []  # the live stream alone, oldest first
        self._extra: list[tuple[NDArray[np.int64], float]] = []

    # ── filling ──────────────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def of(
        cls,
        keys: Keys,
        window: int,
        snapshot: Snapshot,
        releases: Iterable[Release],
        live: Iterable[Release],
        *,
        even: bool = True,
    ) -> PairWindow:
        """From what a store holds: the companion's state and releases, and the live stream's."""
        made = cls(RangeWindow.of(keys, window, snapshot, releases), even=even)
        found = {release.tick.index: release for release in live}
        for tick in range(made.window.oldest, made.window.next_tick):
            made._note(tick, found.get(tick))
        return made

    @property
    def next_tick(self) -> int:
        return self.window.next_tick

    def extend(self, snapshot: Snapshot, releases: Iterable[Release], live: Iterable[Release]) -> None:
        """Take in all ticks up to the snapshot's: the companion's releases since the last time, and the live ones."""
        facts = snapshot.facts
        opening = {one["start"]: one for one in facts["segments"] if one["start"] >= self.next_tick}
        measured = {release.tick.index: release for release in releases}
        beside = {release.tick.index: release for release in live}
        for tick in range(self.next_tick, facts["next"]):
            if tick in opening:
                self.window.open(Segment.from_dict({**opening[tick], "measured": 0}))
            release = measured.get(tick)
            if release is None or release.measurements is None:
                self.window.skip(1)
            else:
                self.window.append(release.measurements)
            self._note(tick, beside.get(tick))
        gone = bisect_left(self._extra_ticks, self.window.oldest)
        del self._extra_ticks[:gone], self._extra[:gone]

    def _note(self, tick: int, live: Release | None) -> None:
        row, before = self._row(tick), self._row(tick - 1)
        self._sums[row], self._variances[row] = self._sums[before], self._variances[before]
        self._alone[row] = self._alone[before]
        ours = self.window.is_measured(tick)
        if live is None or live.measurements is None or live.noise_variance is None or (ours and not self._even):
            self._alone[row] += ours
        elif ours:
            self._sums[row] += live.measurements
            self._variances[row] += live.noise_variance
        else:
            self._extra_ticks.append(tick)
            self._extra.append((live.measurements, live.noise_variance))

    def _row(self, tick: int) -> int:
        return (tick + 1) % len(self._alone)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────

    def total(self, first: int, last: int, positions: Sequence[int] | None = None) -> PairAnswer:
        """The total over the keys at `positions` (all, if None). Noises of keys are independent."""
        values, variance, missing, weight = self._combined(first, last, positions)
        value, error = float(values.sum()), math.sqrt(variance * len(values))
        return PairAnswer(first, last, value, error, *self._interval(value, error), missing, weight)

    def each(self, first: int, last: int, positions: Sequence[int] | None = None) -> list[PairAnswer]:
        """The total of each key at `positions`; their errors are alike."""
        values, variance, missing, weight = self._combined(first, last, positions)
        error = math.sqrt(variance)
        return [
            PairAnswer(first, last, value, error, *self._interval(value, error), missing, weight)
            for value in values.tolist()
        ]

    def _combined(
        self, first: int, last: int, positions: Sequence[int] | None
    ) -> tuple[NDArray[np.float64], float, int, float]:
        """One number a key, the variance of each, missing ticks, and the range stream's weight."""
        at = slice(None) if positions is None else list(positions)
        values = self.window.sums(first, last)[at].astype(float)
        variance = self.window.variance(first, last)
        row, before = self._row(last), self._row(first - 1)
        weight = 1.0
        if self._alone.item(row) == self._alone.item(before):
            beside = self._variances.item(row) - self._variances.item(before)
            if variance + beside > 0:
                weight = beside / (variance + beside)
                values = weight * values + (1 - weight) * (self._sums[row, at] - self._sums[before, at])
                variance *= weight
        a, b = bisect_left(self._extra_ticks, first), bisect_right(self._extra_ticks, last)
        for measurements, noise in self._extra[a:b]:
            values += measurements[at]
            variance += noise
        return values, variance, last - first + 1 - self.window.count(first, last) - (b - a), weight

    def _interval(self, value: float, error: float) -> tuple[float, float]:
        # A sum of independent Laplace noises of any weights has lighter tails at 95 % than a single one.
        reach = (LAPLACE_REACH if self.window.pure else GAUSSIAN_REACH) * error + CONTINUITY
        return max(value - reach, 0.0), max(value + reach, 0.0)

    def describe(self) -> Mapping[str, Any]:
        """The present tree as plain data."""
        return self.window.describe()
