"""What was really sent to a monitor, beside what it published."""

from __future__ import annotations

import threading
from collections import Counter

TICK = 1.0
LATENESS = 1.0
MARGIN = 0.1
"""The monitor's clock and ours may be that far apart."""


class Truth:
    """Events by second and key. A tick is one second, on whole ones.

    An event is `certain` if it had surely arrived before its tick could close: acknowledged, or written whole, before
    the tick's end plus the lateness. One for which that took longer (the monitor died under it, and it was sent again)
    is `unsure`: it may be in time or late. Those of ticks that somebody had already seen published are `late`: they
    count nowhere.
    """

    def __init__(self) -> None:
        self.certain: Counter[tuple[int, str]] = Counter()
        self.unsure: Counter[tuple[int, str]] = Counter()
        self.late = 0
        self._lock = threading.Lock()

    def note(self, events: list[tuple[int, str]], done: float) -> None:
        with self._lock:
            for second, key in events:
                in_time = done <= second + TICK + LATENESS - MARGIN
                (self.certain if in_time else self.unsure)[second, key] += 1

    def note_late(self, count: int) -> None:
        with self._lock:
            self.late += count

    @property
    def newest(self) -> int:
        """The newest second that has an event."""
        with self._lock:
            return max((second for second, _ in [*self.certain, *self.unsure]), default=0)
