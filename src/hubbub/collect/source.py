"""Where events come from."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType

from hubbub.collect.batch import Batch

NAP = 0.05
"""Seconds between two looks at a source that cannot say when something arrives."""


class Source(ABC):
    """A stream of records that can be read again from a position.

    Two questions are asked of a source. *Where do you end, at this moment?* (`frontier`): the clock asks it when a
    tick closes, and the answer decides which records came in time. *What lies before that end?* (`poll`). What has
    arrived since is not handed over until a later frontier is named; so it does not matter how fast records are read,
    or how many come.

    The contract, from which "nothing is lost, nothing is counted twice, nobody's event decides over another's" follows:

    - records have one order, and are handed over in it, and again in it after `open` at an earlier position;
    - a batch's `positions` lie behind its last record;
    - what arrives after `frontier` was asked lies behind the answer, and a later answer never lies before an earlier
      one;
    - `poll` hands over nothing that lies behind `until`;
    - `open` answers True only where it is proved that everything behind the positions is still there, unchanged;
    - what was not yet passed to `settle` can be read again.

    >>> class Two(Source):
    ...     def __init__(self): self.left = 2
    ...     def poll(self, until):
    ...         self.left -= 1
    ...         return Batch.of([]) if self.left >= 0 else None
    >>> with Two() as source: len(list(source))
    2
    """

    waits_for_us = False
    """True where records wait for us while we are down (a log, a broker); False where they come by our own hand."""

    shared = False
    """True where a position means the same on every machine (a broker); False where it is one in files of this one."""

    @property
    def identity(self) -> str:
        """To what positions belong: a machine's log, a spool, a broker's stream. It holds no password."""
        return type(self).__name__

    @property
    def takes_events(self) -> bool:
        """False while those who send to us are refused. Asked where records do not wait for us."""
        return True

    @property
    def trouble(self) -> str:
        """What is wrong at present, in words that anyone may read; empty where nothing is."""
        return ""

    def open(self, positions: Mapping[str, str]) -> bool:
        """Start behind `positions`; empty means at the beginning of what there is.

        True only where it is *proved* that all that came after them is still there, unchanged and in its order. Empty
        positions prove nothing.
        """
        del positions
        return False

    def unchanged(self, frontiers: Sequence[Mapping[str, str]]) -> bool:
        """After `open`: whether the records before these frontiers, told by an earlier process, are still those that it
        read. For sources whose records somebody could rewrite where they are.
        """
        del frontiers
        return True

    def frontier(self) -> Mapping[str, str] | None:
        """Where the source ends at this moment; None while that cannot be told.

        Asked from another thread than the one that polls, at any time: quick, and free of errors that pass by
        themselves.
        """
        return {}

    @abstractmethod
    def poll(self, until: Mapping[str, str]) -> Batch | None:
        """The next records before `until`; an empty batch with `reached` if there are none; None when it is over.

        It does not wait for records. A source that is read once, from beginning to end, need not look at `until`.
        """

    def wait(self, seconds: float) -> None:
        """Come back when something may have arrived, or after `seconds`."""
        time.sleep(min(seconds, NAP))

    def settle(self, positions: Mapping[str, str]) -> None:
        """Everything before `positions` will never be asked for again: a broker may be told so."""
        del positions

    def close(self) -> None:
        """Let go of files and connections. Closing twice does no harm."""
        return

    def __iter__(self) -> Iterator[Batch]:
        """All that there is now, up to the end of a source that is read once, or to the present end of a live one."""
        until = self.frontier() or {}
        while (batch := self.poll(until)) is not None:
            yield batch
            if batch.reached:
                return

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
