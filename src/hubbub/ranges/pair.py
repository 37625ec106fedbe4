"""Ranges answered from both of a monitor's streams: noisy prefixes of ranges, and the live measurements."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.ranges.answer import PairAnswer
from hubbub.ranges.segment import Segment
from hubbub.ranges.window import CONTINUITY, GAUSSIAN_REACH, LAPLACE_REACH, RangeWindow
from hubbub.released import Domain, Release, Snapshot


class PairWindow:
    """The last W ticks of both streams, released values only.

    Two numbers are known about a range: that of the stream of ranges, R, with the variance V(R) of its strategy, and
    the sum L of the live measurements, with the sum V(L) of their variances. Their noises are independent and both are
    unbiased, so the mean weighted by inverse variances, (V(L) R + V(R) L) / (V(L) + V(R)), has the variance
    V(R) V(L) / (V(R) + V(L)): less than either. Proof: docs/proofs/pair.md.

    A tick that only the live stream has (a crash between the two) is added as it is. Where only ranges have
    measured some tick, L is not a sum over the same ticks, and R answers alone. So it does where `even` is False: a
    live mechanism that spends by what it saw before has variances that depend on its noise, and so would the weights.
    And so it does where the live noise differs from key to key or goes together between keys: a mean with one weight
    for all keys would not be the best one, and its error over several keys not known.
    """

    def __init__(self, window: RangeWindow, *, even: bool = True) -> None:
        self.window = window
        self._even = even
        rows = window.window + 1
        # Sums up to each tick over those that both have measured, as in `RangeWindow`.
        self._sums = np.zeros((rows, len(window.keys)), dtype=np.int64)
        self._variances = np.zeros(rows)
        self._alone = np.zeros(rows, dtype=np.int64)  # how many ticks ranges alone have measured
        self._extra_ticks: list[int] = []  # the live stream alone, oldest first
        self._extra: list[Release] = []

    # ── filling ──────────────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def of(
        cls,
        keys: Domain,
        window: int,
        snapshot: Snapshot,
        releases: Iterable[Release],
        live: Iterable[Release],
        *,
        even: bool = True,
    ) -> PairWindow:
        """From what a store holds: state and releases of the stream of ranges, and the live stream's releases."""
        made = cls(RangeWindow.of(keys, window, snapshot, releases), even=even)
        by_tick = {release.tick.index: release for release in live}
        for tick in range(made.window.oldest, made.window.next_tick):
            made._note(tick, by_tick.get(tick))
        return made

    @property
    def next_tick(self) -> int:
        return self.window.next_tick

    def extend(self, snapshot: Snapshot, releases: Iterable[Release], live: Iterable[Release]) -> None:
        """Take in all ticks up to the snapshot's: those of ranges since the last time, and the live ones."""
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
        if live is None or live.measurements is None:
            self._alone[row] += ours
        elif not ours:
            self._extra_ticks.append(tick)
            self._extra.append(live)
        elif self._even and isinstance(live.noise_variance, float) and not live.correlated:
            self._sums[row] += live.measurements
            self._variances[row] += live.noise_variance
        else:
            self._alone[row] += 1

    def _row(self, tick: int) -> int:
        return (tick + 1) % len(self._alone)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────

    def total(self, first: int, last: int, positions: Sequence[int] | None = None) -> PairAnswer:
        """The total over the keys at `positions` (all, if None).

        Noises of the range stream's keys are independent; a live release says itself how its keys add up.
        """
        values, variance, missing, weight = self._combined(first, last, positions)
        extra = sum(release.variance_of_sum(positions) for release in self._alone_live(first, last))
        value, error = float(values.sum()), math.sqrt(variance * len(values) + extra)
        return PairAnswer(value, error, *self._interval(value, error), first, last, missing, weight)

    def each(self, first: int, last: int, positions: Sequence[int] | None = None) -> list[PairAnswer]:
        """The total of each key at `positions`."""
        values, variance, missing, weight = self._combined(first, last, positions)
        at = slice(None) if positions is None else list(positions)
        variances = np.full(len(values), variance)
        for release in self._alone_live(first, last):
            variances += release.variances[at]
        return [
            PairAnswer(value, error, *self._interval(value, error), first, last, missing, weight)
            for value, error in zip(values.tolist(), np.sqrt(variances).tolist(), strict=True)
        ]

    def _alone_live(self, first: int, last: int) -> list[Release]:
        """The live releases of ticks that the range stream has not measured."""
        return self._extra[bisect_left(self._extra_ticks, first) : bisect_right(self._extra_ticks, last)]

    def _combined(
        self, first: int, last: int, positions: Sequence[int] | None
    ) -> tuple[NDArray[np.float64], float, int, float]:
        """One number per key, the variance of each but for what the live stream alone adds, missing ticks, and the
        weight of the range stream."""
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
        extra = self._alone_live(first, last)
        for release in extra:
            assert release.measurements is not None
            values += release.measurements[at]
        return values, variance, last - first + 1 - self.window.count(first, last) - len(extra), weight

    def _interval(self, value: float, error: float) -> tuple[float, float]:
        # A sum of independent Laplace noises of any weights has lighter tails at 95 % than a single one.
        reach = (LAPLACE_REACH if self.window.pure else GAUSSIAN_REACH) * error + CONTINUITY
        return max(value - reach, 0.0), max(value + reach, 0.0)

    def describe(self) -> Mapping[str, Any]:
        """The present tree as plain data."""
        return self.window.describe()
