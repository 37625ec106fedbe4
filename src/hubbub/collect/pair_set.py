"""Which session has which page, each pair once, in memory that grows with the pairs alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Sealed

_CODE = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


class PairSet(Sealed):
    """Pairs of a session's number and a page's number, at most `held` of a session: the first that it had.

    Pairs lie in sorted runs of which each is at least twice as long as the next, so adding many small batches costs
    little more than adding them at once.

    >>> pairs = PairSet(held=2)
    >>> pairs.add(np.array([0, 0, 0, 1, 0]), np.array([7, 7, 5, 7, 9]))
    >>> [column.tolist() for column in pairs.columns()]
    [[0, 0, 1], [5, 7, 7]]
    """

    def __init__(self, held: int) -> None:
        self._held = held
        self._runs: list[NDArray[np.uint64]] = []
        self._counts = np.zeros(0, np.int64)  # different pages of each session

    def add(self, sessions: NDArray[np.int64], codes: NDArray[np.int32]) -> None:
        """Pairs in each session's own order. A session's pairs must come in that order over all calls."""
        words = (sessions.astype(np.uint64) << _CODE) | codes.astype(np.uint64)
        _, first = np.unique(words, return_index=True)
        words = words[np.sort(first)]
        for run in self._runs:
            place = np.minimum(np.searchsorted(run, words), len(run) - 1)
            words = words[run[place] != words]
        if not len(words):
            return
        who = (words >> _CODE).astype(np.int64)
        order = np.argsort(who, kind="stable")
        words, who = words[order], who[order]
        if int(who[-1]) >= len(self._counts):
            self._counts = np.append(self._counts, np.zeros(max(int(who[-1]) + 1, 16), np.int64))
        begins = np.flatnonzero(np.append(True, who[1:] != who[:-1]))
        sizes = np.diff(np.append(begins, len(who)))
        rank = np.arange(len(who)) - np.repeat(begins, sizes)
        kept = words[self._counts[who] + rank < self._held]
        self._counts[who[begins]] += sizes
        if len(kept):
            self._insert(np.sort(kept))

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Sessions and pages, sorted by both."""
        words = np.sort(np.concatenate(self._runs)) if self._runs else np.empty(0, np.uint64)
        return (words >> _CODE).astype(np.int64), (words & _LOW).astype(np.int32)

    @property
    def codes(self) -> NDArray[np.int32]:
        """The pages that are in use."""
        return np.unique(np.concatenate([run & _LOW for run in self._runs])).astype(np.int32) if self._runs else (
            np.empty(0, np.int32)
        )  # fmt: skip

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def __repr__(self) -> str:
        return "PairSet(<confidential>)"

    def _insert(self, run: NDArray[np.uint64]) -> None:
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        self._runs.append(run)
