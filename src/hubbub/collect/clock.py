"""A clock that knows when it cannot be trusted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]
"""Anything that tells the time, in UTC."""

_LEAN = 0.05
"""How much faster or slower than real time the clock may run to follow a wall clock that drifts."""

STEP = timedelta(seconds=1)
"""A wall clock that is off by more than this has been set, or the machine was asleep: it does not drift that fast."""

HOLD = timedelta(seconds=10)
"""How long a wall clock must keep to its new time before it is followed."""

_KEPT = 100


class SteadyClock:
    """The wall clock, followed with care.

    It runs with the machine's monotonic time and leans towards the wall clock, by at most 5 %. If the wall clock is
    set (by more than a second), this one goes on as before, and jumps to the new time once that has held for ten
    seconds: a clock that is a day ahead for a moment does not close a day's ticks. From the old time to the new one
    the machine's events bear wrong times, or none; `doubtful` tells it, and ticks in that span are not measured.

    >>> wall, steady = [1000.0], [0.0]
    >>> clock = SteadyClock(wall=lambda: wall[0], steady=lambda: steady[0])
    >>> wall[0], steady[0] = 1070.0, 10.0  # ten seconds later the wall clock is a minute ahead
    >>> clock().timestamp()
    1010.0
    >>> wall[0], steady[0] = 1080.0, 20.0  # and stays there
    >>> clock().timestamp()
    1080.0
    >>> clock.doubtful(datetime.fromtimestamp(1020, UTC), datetime.fromtimestamp(1030, UTC))
    True
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._wall, self.steady = wall, steady
        self._now, self._read_at = wall(), steady()
        self._off: tuple[float, float] | None = (
            None  # since when (steady), and by how much, the wall clock is elsewhere
        )
        self._spans: list[tuple[float, float]] = []
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        with self._lock:
            reading, wall = self.steady(), self._wall()
            passed, self._read_at = reading - self._read_at, reading
            before = self._now
            self._now += passed
            off = wall - self._now
            if abs(off) <= STEP.total_seconds():
                self._off = None
                most = _LEAN * passed
                self._now += min(max(off, -most), most)
            else:
                self._follow(before, wall, off, reading)
            return datetime.fromtimestamp(self._now, UTC)

    def doubtful(self, begins: datetime, ends: datetime) -> bool:
        """Whether the clock was set to or from anywhere within this span."""
        low, high = begins.timestamp(), ends.timestamp()
        with self._lock:
            return any(first < high and low < last for first, last in self._spans)

    @property
    def ahead(self) -> timedelta:
        """How far the wall clock is ahead of this one; far from nothing after it was set."""
        with self._lock:
            return timedelta(seconds=self._wall() - self._now)

    def _follow(self, before: float, wall: float, off: float, reading: float) -> None:
        if self._off is None or abs(self._off[1] - off) > STEP.total_seconds():
            self._off = (reading, off)
            self._spans = [*self._spans[1 - _KEPT :], (min(before, wall), max(self._now, wall))]
        first, last = self._spans[-1]
        self._spans[-1] = (min(first, wall), max(last, self._now, wall))
        if reading - self._off[0] >= HOLD.total_seconds():
            self._now, self._off = wall, None
