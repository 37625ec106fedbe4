"""Public browsing sessions, packed: what a model is learned from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput
from hubbub.released import Keys


@dataclass(frozen=True, eq=False, slots=True)
class Sessions:
    """Session s visits the keys `visits[bounds[s] : bounds[s + 1]]`, one per tick, in that order.

    `starts` holds the tick at which each session begins, where that is known.

    >>> s = Sessions.of(Keys(["front", "news"]), [["front", "news", "news"], ["news"]])
    >>> s.lengths.tolist(), s.visits.tolist()
    ([3, 1], [0, 1, 1, 1])
    """

    keys: Keys
    visits: NDArray[np.int32]
    bounds: NDArray[np.int64]
    starts: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if self.bounds.ndim != 1 or len(self.bounds) < 1 or self.bounds[0] != 0 or self.bounds[-1] != len(self.visits):
            raise InvalidInput("The bounds of packed sessions must begin at 0 and end at the number of visits.")
        if (np.diff(self.bounds) < 1).any():
            raise InvalidInput("A session without a visit is not a session.", "Leave empty sessions out.")
        if len(self.visits) and not 0 <= self.visits.min() <= self.visits.max() < len(self.keys):
            raise InvalidInput("A session visits a key that is not in the list of keys.")
        if self.starts is not None and self.starts.shape != (len(self),):
            raise InvalidInput("`starts` must hold one tick a session.")

    @classmethod
    def of(cls, keys: Keys, sessions: Iterable[Sequence[str]]) -> Sessions:
        """Pack lists of names."""
        packed = [[keys.position(name) for name in session] for session in sessions]
        bounds = np.concatenate([[0], np.cumsum([len(s) for s in packed], dtype=np.int64)]).astype(np.int64)
        visits = np.array([v for s in packed for v in s], dtype=np.int32)
        return cls(keys, visits, bounds)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.bounds)

    @property
    def last_tick(self) -> int:
        """The last tick in which a session was seen; sessions that begin nowhere begin at 0."""
        return int((self.lengths + (0 if self.starts is None else self.starts)).max()) - 1

    def truncated(self, max_ticks: int) -> Sessions:
        """Every session cut after its first `max_ticks` visits."""
        place = np.arange(len(self.visits)) - np.repeat(self.bounds[:-1], self.lengths)
        bounds = np.concatenate([[0], np.cumsum(np.minimum(self.lengths, max_ticks))])
        return Sessions(self.keys, self.visits[place < max_ticks], bounds, self.starts)

    def chosen(self, which: NDArray[np.int64], starts: NDArray[np.int64] | None = None) -> Sessions:
        """The sessions with the numbers `which` (repeats allowed), in that order, beginning at `starts`."""
        lengths = self.lengths[which]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        place = np.arange(bounds[-1]) - np.repeat(bounds[:-1] - self.bounds[which], lengths)
        if starts is None and self.starts is not None:
            starts = self.starts[which]
        return Sessions(self.keys, self.visits[place], bounds, starts)
