"""Where events come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from types import TracebackType

from hubbub.collect.batch import Batch


class Source(ABC):
    """A stream of batches that can be read again from a position. To add one, write `poll`; the rest has defaults.

    The contract, from which "nothing acknowledged is lost, nothing is counted twice" follows:

    - events are handed over in one order, and again in the same order after `open` at an earlier position;
    - a batch's `positions` lie behind its last event;
    - `complete` is set only when nothing that had arrived by then is left unread;
    - what was not yet passed to `settle` can be read again.

    >>> class Two(Source):
    ...     def __init__(self): self.left = 2
    ...     def poll(self, timeout=1.0):
    ...         self.left -= 1
    ...         return Batch.of([]) if self.left >= 0 else None
    >>> with Two() as source: len(list(source))
    2
    """

    def open(self, positions: Mapping[str, str]) -> bool:
        """Start behind `positions` (empty: at the beginning). False if what came after them is gone."""
        return not positions

    @abstractmethod
    def poll(self, timeout: float = 1.0) -> Batch | None:
        """The next batch; an empty one if nothing came within `timeout` seconds; None when the source is over."""

    def settle(self, positions: Mapping[str, str]) -> None:
        """Everything before `positions` will never be asked for again: a broker may be told so."""
        del positions

    def close(self) -> None:
        """Let go of files and connections. Closing twice does no harm."""
        return

    def __iter__(self) -> Iterator[Batch]:
        while (batch := self.poll()) is not None:
            yield batch

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
