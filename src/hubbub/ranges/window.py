"""The last W ticks of released increments, and any range of them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.ranges.answer import RangeAnswer
from hubbub.ranges.old_streams import FAULTY, as_it_ran
from hubbub.ranges.segment import Segment
from hubbub.released import Domain, Release, Snapshot

LAPLACE_REACH = math.log(20) / math.sqrt(2)
"""Half width of the 95 % interval in standard deviations: a single Laplace noise has the heaviest tails of all sums."""

GAUSSIAN_REACH = 1.959963984540054

CONTINUITY = 0.5
"""Added to the half width: totals are whole numbers, and an interval narrower than one would not hold its own."""

_HALF = 2**63


class RangeWindow:
    """Sees released values only; so it may live in a server that has no access to anything confidential.

    Row t of `_sums` is the sum of all released increments up to tick t (modulo 2^64), so a range is one difference. How
    wrong it is follows from the segments it crosses: their noises are independent.
    """

    def __init__(self, keys: Domain, window: int, *, pure: bool) -> None:
        self.keys = keys
        self.window = whole(window, "window")
        self.pure = pure
        self._rows = self.window + 1
        self._sums = np.zeros((self._rows, len(keys)), dtype=np.int64)
        self._measured = np.zeros(self._rows, dtype=np.int64)  # measured ticks up to t, over the whole stream
        self._next = 0
        self._origin = 0  # the first tick that can be asked for, if the window reaches so far back
        self._segments: list[Segment] = []
        self._starts: list[int] = []
        self._before: list[int] = []  # `_measured` when each segment began
        self._whole: list[float] = []  # variance of all segments before each, taken whole

    # ── filling ──────────────────────────────────────────────────────────────────────────────────────────────────

    def open(self, segment: Segment) -> None:
        """From the next tick on a new segment is in force."""
        if self._segments:
            last = self._segments[-1]
            self._whole.append(self._whole[-1] + last.variance(0, last.measured))
        else:
            self._whole.append(0.0)
        self._segments.append(segment)
        self._starts.append(segment.start)
        self._before.append(int(self._measured[self._row(self._next - 1)]))
        if len(self._starts) > 1 and self._starts[1] <= self._next - self.window:
            gone = bisect_right(self._starts, self._next - self.window) - 1
            for held in (self._segments, self._starts, self._before, self._whole):
                del held[:gone]

    def append(self, increments: NDArray[np.int64]) -> None:
        """One measured tick: its released increments."""
        sums, measured = self._sums, self._measured
        before = self._next % self._rows
        row = (before + 1) % self._rows
        np.add(sums[before], increments, sums[row])
        measured[row] = measured.item(before) + 1
        self._segments[-1].measured += 1
        self._next += 1

    def append_many(self, increments: NDArray[np.int64]) -> None:
        """Many measured ticks of one segment, one per row."""
        count = len(increments)
        sums = np.cumsum(increments, axis=0)
        sums += self._sums[self._row(self._next - 1)]
        measured = self._measured[self._row(self._next - 1)] + np.arange(1, count + 1)
        kept = min(count, self._rows)
        rows = np.arange(self._next + count - kept + 1, self._next + count + 1) % self._rows
        self._sums[rows] = sums[count - kept :]
        self._measured[rows] = measured[count - kept :]
        self._segments[-1].measured += count
        self._next += count

    def skip(self, ticks: int) -> None:
        """That many ticks were not measured."""
        before = self._row(self._next - 1)
        rows = np.arange(self._next + 1, self._next + 1 + min(ticks, self._rows)) % self._rows
        sums, measured = self._sums[before].copy(), self._measured[before]
        self._sums[rows], self._measured[rows] = sums, measured
        self._next += ticks

    def _row(self, tick: int) -> int:
        return (tick + 1) % self._rows

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def next_tick(self) -> int:
        return self._next

    @property
    def oldest(self) -> int:
        """The first tick that can be asked for."""
        return max(self._origin, self._next - self.window)

    def total(self, first: int, last: int, key: str | None = None) -> RangeAnswer:
        """The total of `key` (may be left out if there is but one) over ticks `first` to `last`, free of charge."""
        self._check(first, last)
        if key is None:
            if len(self.keys) > 1:
                raise InvalidParameter("`key` must be given: the stream has more than one.", "Or ask for `totals`.")
            key = self.keys.names[0]
        i = self.keys.position(key)
        difference = self._sums.item(self._row(last), i) - self._sums.item(self._row(first - 1), i)
        value = float((difference + _HALF) % (2 * _HALF) - _HALF)  # the sums have gone round, the range has not
        error = math.sqrt(self.variance(first, last))
        reach = (LAPLACE_REACH if self.pure else GAUSSIAN_REACH) * error + CONTINUITY
        missing = last - first + 1 - self.count(first, last)
        return RangeAnswer(value, error, max(value - reach, 0.0), max(value + reach, 0.0), key, first, last, missing)

    def totals(self, first: int, last: int) -> dict[str, RangeAnswer]:
        """The same for every key."""
        return {key: self.total(first, last, key) for key in self.keys}

    def sums(self, first: int, last: int) -> NDArray[np.int64]:
        """The released totals alone, one per key."""
        self._check(first, last)
        difference: NDArray[np.int64] = self._sums[self._row(last)] - self._sums[self._row(first - 1)]
        return difference

    def variance(self, first: int, last: int) -> float:
        """Of the range's error, exactly, from the strategies in force."""
        i = bisect_right(self._starts, first) - 1
        j = bisect_right(self._starts, last) - 1
        if j < 0:
            return 0.0  # nothing was measured there
        i = max(i, 0)
        a = max(0, self._measured.item(self._row(first - 1)) - self._before[i])
        b = self._measured.item(self._row(last)) - self._before[j]
        if i == j:
            return self._segments[i].variance(a, b)
        left = self._segments[i]
        between = self._whole[j] - self._whole[i + 1]
        return left.variance(a, left.measured) + between + self._segments[j].variance(0, b)

    def count(self, first: int, last: int) -> int:
        """How many ticks from `first` to `last` were measured."""
        return self._measured.item(self._row(last)) - self._measured.item(self._row(first - 1))

    def is_measured(self, tick: int) -> bool:
        return self.count(tick, tick) > 0

    def _check(self, first: int, last: int) -> None:
        if type(first) is not int or type(last) is not int:
            kinds = f"{type(first).__name__} and {type(last).__name__}"
            raise InvalidParameter(f"`first` and `last` must be a tick's number, an int; got {kinds}.")
        if first > last:
            raise InvalidParameter(
                f"The range is reversed: `first` is {first}, `last` is {last}.", "Give the earlier tick first."
            )
        if last >= self._next:
            raise InvalidParameter(
                f"Tick {last} has not been released yet; the stream is at tick {self._next}.",
                "Ask again later, or for an earlier range.",
            )
        if first < self.oldest:
            raise InvalidParameter(
                f"Tick {first} lies before the window; the earliest that can be asked for is {self.oldest}.",
                f"The window holds {self.window:,} ticks. After a restart, `recall` the stored releases first.",
            )

    # ── after a restart, and for pages ───────────────────────────────────────────────────────────────────────────

    def state(self) -> list[dict[str, Any]]:
        """The segments that the window still touches, as plain data."""
        return [segment.to_dict() for segment in self._segments]

    def restore(self, next_tick: int, segments: list[dict[str, Any]]) -> None:
        """Go on at `next_tick`; what was released before must be recalled to be asked for."""
        self._sums[:], self._measured[:] = 0, 0
        self._next = self._origin = next_tick
        self._segments, self._starts, self._before, self._whole = [], [], [], []
        total = 0.0
        for facts in segments:
            segment = Segment.from_dict(facts)
            self._segments.append(segment)
            self._starts.append(segment.start)
            self._whole.append(total)
            total += segment.variance(0, segment.measured)
        counts = [segment.measured for segment in self._segments]
        self._before = [sum(counts[:i]) for i in range(len(counts))]
        self._measured[:] = sum(counts)

    def recall(self, releases: Iterable[Release]) -> None:
        """Fill in what was released before a restart: every release of the last ticks, oldest first, up to the last."""
        kept = list(releases)[-self.window :]
        ticks = [release.tick.index for release in kept]
        if ticks and (ticks[-1] != self._next - 1 or ticks != sorted(set(ticks))):
            raise InvalidParameter(
                f"The releases to recall must rise tick by tick up to {self._next - 1}, the last one released.",
                "Read them from the store in the order of ticks.",
            )
        if not kept:
            return
        by_tick = {release.tick.index: release for release in kept}
        row = self._row(self._next - 1)
        # Backward from the present, so that it does not matter where in a segment the first of them lies.
        oldest = max(ticks[0], self._next - self.window)  # with gaps, so many releases reach back further than the ring
        for tick in range(self._next - 1, oldest - 1, -1):
            before = self._row(tick - 1)
            release = by_tick.get(tick)
            measured = None if release is None else release.measurements
            self._sums[before] = self._sums[row] if measured is None else self._sums[row] - measured
            self._measured[before] = self._measured[row] - (measured is not None)
            row = before
        self._origin = oldest

    @classmethod
    def of(cls, keys: Domain, window: int, snapshot: Snapshot, releases: Iterable[Release]) -> RangeWindow:
        """From what a store holds of a range stream: for a server, which needs no mechanism to answer."""
        facts = snapshot.facts
        opened = cls(keys, window, pure=facts["pure"])
        segments = facts["segments"]
        if snapshot.version == FAULTY:
            segments = [as_it_ran(one) for one in segments]
        opened.restore(facts["next"], segments)
        opened.recall(releases)
        return opened

    def describe(self) -> dict[str, Any]:
        """The present tree as plain data, for a picture."""
        if not self._segments:
            return {"strategy": None, "title": "no tree yet", "levels": []}
        segment = self._segments[-1]
        levels = [
            {"span": span, "share": float(share), "variance": variance}
            for span, share, variance in zip(
                segment.strategy.spans, segment.strategy.shares, segment.variances, strict=True
            )
        ]
        return {
            "strategy": segment.strategy.to_dict(),
            "title": segment.strategy.title,
            "size": segment.strategy.size,
            "start": segment.start,
            "measured": segment.measured,
            "levels": levels,
            "segments": [{"start": s.start, "title": s.strategy.title} for s in self._segments],
        }
