"""The open sessions, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Sealed


@dataclass(frozen=True, slots=True, repr=False)
class Memory(Sealed):
    """One entry an open session (or person), sorted by `person`: 40 bytes each.

    | field | meaning |
    |---|---|
    | `last` | time of its last request |
    | `tick` | tick of its last request |
    | `key` | where it was last |
    | `used` | in how many ticks it was counted |
    """

    person: NDArray[np.uint64]
    check: NDArray[np.uint64]
    last: NDArray[np.int64]
    tick: NDArray[np.int64]
    key: NDArray[np.int32]
    used: NDArray[np.int32]

    @classmethod
    def empty(cls) -> Memory:
        return cls(
            np.empty(0, np.uint64),
            np.empty(0, np.uint64),
            np.empty(0, np.int64),
            np.empty(0, np.int64),
            np.empty(0, np.int32),
            np.empty(0, np.int32),
        )

    def where(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Memory:
        return Memory(
            self.person[chosen],
            self.check[chosen],
            self.last[chosen],
            self.tick[chosen],
            self.key[chosen],
            self.used[chosen],
        )

    def merged(self, other: Memory) -> Memory:
        """Both together, sorted; no person is in both."""
        if not len(self):
            return other
        names = ("person", "check", "last", "tick", "key", "used")
        both = Memory(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))
        return both.where(np.argsort(both.person))

    def find(self, people: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The place of each of the sorted `people`, and whether it is really there."""
        if not len(self):
            return np.zeros(len(people), np.int64), np.zeros(len(people), np.bool_)
        place = np.minimum(np.searchsorted(self.person, people), len(self) - 1)
        return place, self.person[place] == people

    def __len__(self) -> int:
        return len(self.person)

    def __repr__(self) -> str:
        return "Memory(<confidential>)"
