"""The truth about simulated people, beside what was released about them. For the demo alone."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.released import Keys


class Truth:
    """Remembers the true counts of the last ticks, in memory, so that a page can lay them over the released ones.

    A real pipeline has no such thing, and cannot: only the lab may open confidential values.
    """

    def __init__(self, keys: Keys, ticks: int = 2_000) -> None:
        self._keys, self._ticks = keys, ticks
        self._counts: dict[int, NDArray[np.int64]] = {}
        self._lock = threading.Lock()

    def see(self, counts: Counts) -> None:
        with self._lock:
            self._counts[counts.tick.index] = counts.values.reveal()
            self._counts.pop(counts.tick.index - self._ticks, None)

    def overlay(self, stream: str, first: int, last: int) -> Mapping[str, Sequence[int | None]]:
        """For each key the true counts of the ticks `first` to `last`, both included; None where unknown."""
        del stream
        with self._lock:
            rows = [self._counts.get(tick) for tick in range(first, last + 1)]
        return {
            name: [None if row is None else int(row[at]) for row in rows] for at, name in enumerate(self._keys)
        }  # fmt: skip
