"""Events that were read when they came in, kept until they are asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import polars as pl

from hubbub.monitor.spool.place import Place

MOST_BYTES = 64 * 2**20
_EACH = 8 * 2**10
"""What a small table takes besides its events."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The events of one frame, which stands between two places."""

    start: Place
    end: Place
    events: pl.DataFrame
    malformed: int
    size: int

    def __repr__(self) -> str:
        return "Parsed(<confidential>)"


class ParsedFrames:
    """The oldest frames that were not asked for yet, up to a limit; others are read from the disk and parsed again."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._bytes = most, 0
        self._kept: dict[tuple[int, int], Parsed] = {}
        self._lock = threading.Lock()

    def keep(self, parsed: Parsed) -> None:
        with self._lock:
            if self._bytes + _cost(parsed) <= self._most:
                self._kept[parsed.start.segment, parsed.start.offset] = parsed
                self._bytes += _cost(parsed)

    def take(self, at: Place) -> Parsed | None:
        """The frame that begins at `at`. What lies before it is forgotten."""
        with self._lock:
            while self._kept:
                first = next(iter(self._kept.values()))
                if at == first.start or at.reaches(first.end):
                    del self._kept[first.start.segment, first.start.offset]
                    self._bytes -= _cost(first)
                    if at == first.start:
                        return first
                else:
                    return None
            return None

    def next(self, goal: Place) -> Place:
        """Up to where to read from the disk: the first frame that is kept, or `goal`."""
        with self._lock:
            first = next(iter(self._kept.values()), None)
            return goal if first is None or first.start.reaches(goal) else first.start


def _cost(parsed: Parsed) -> int:
    return int(parsed.events.estimated_size()) + _EACH
