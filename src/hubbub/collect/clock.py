"""A clock that does not jump."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]
"""Anything that tells the time, in UTC."""

_SLEW = 0.05
"""How much faster or slower than real time the clock may run to catch up with the wall clock."""


class SteadyClock:
    """The wall clock with its jumps smoothed away.

    A wall clock that is set forward by a day would close a day's ticks at once, and every event of that day would come
    too late. This clock follows the machine's monotonic time and leans towards the wall clock by at most 5 %.

    >>> wall, steady = [1000.0], [0.0]
    >>> clock = SteadyClock(wall=lambda: wall[0], steady=lambda: steady[0])
    >>> wall[0], steady[0] = 90_000.0, 10.0  # ten seconds later the wall clock is a day ahead
    >>> clock().timestamp()
    1010.5
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._steady = wall, steady
        self._now, self._read_at = wall(), steady()
        self._start = self._now

    def __call__(self) -> datetime:
        reading = self._steady()
        passed, self._read_at = reading - self._read_at, reading
        lean = self._wall() - (self._now + passed)
        most = _SLEW * passed
        self._now += passed + min(max(lean, -most), most)
        return datetime.fromtimestamp(self._now, UTC)

    @property
    def ahead(self) -> timedelta:
        """How far the wall clock is ahead of this one; far from nothing after a jump."""
        return timedelta(seconds=self._wall() - self._now)
