"""Events that are handed in from within the process: by an HTTP server, or by a test."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from hubbub.collect.batch import Batch
from hubbub.collect.clock import Clock, SteadyClock
from hubbub.collect.source import Source
from hubbub.collect.sources.json_lines import JsonLines
from hubbub.errors import Overloaded

_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a batch. It goes back to its sender alone.

    `settled` says whether a tick that used the batch was stored: only then is it safe from a crash of this process.
    """

    accepted: int
    malformed: int
    duplicate: bool
    settled: bool = False


class QueueSource(Source):
    """A queue in memory with a limit. Full means `Overloaded`, and nothing of the batch is taken.

    The same key again is the same batch: it is not counted again, and its receipt says whether it is settled by now. A
    sender that must lose nothing repeats a batch under the same key until `settled` is true; a batch that a crash took
    along is then simply new.

    >>> queue = QueueSource()
    >>> line = b'{"time": "2026-01-01T00:00:00Z", "person": "a", "path": "/"}'
    >>> queue.push(line, "key-1").accepted, queue.push(line, "key-1").duplicate
    (1, True)
    """

    def __init__(self, *, max_bytes: int = 256 * 2**20, zone: str = "UTC", clock: Clock | None = None) -> None:
        self._max_bytes, self._lines, self._clock = max_bytes, JsonLines(zone=zone), clock or SteadyClock()
        self._batches: list[tuple[int, Batch]] = []
        self._bytes = 0
        self._next = 1
        self._settled = 0
        self._known: OrderedDict[str, tuple[int, int, int]] = OrderedDict()
        self._changed = threading.Condition()
        self._closed = False

    def push(self, body: bytes, idempotency_key: str | None = None) -> Receipt:
        """Take NDJSON events, whole or not at all. May be called from several threads."""
        with self._changed:
            if idempotency_key is not None and (old := self._known.get(idempotency_key)) is not None:
                return Receipt(old[1], old[2], True, old[0] <= self._settled)
        events, malformed = self._lines.parse(body)
        with self._changed:
            if idempotency_key is not None and (old := self._known.get(idempotency_key)) is not None:
                return Receipt(old[1], old[2], True, old[0] <= self._settled)  # two at once: the other was first
            if self._closed or self._bytes + len(body) > self._max_bytes:
                raise Overloaded(
                    "More events arrive than can be kept; this batch was not taken.", "Send it again in a moment."
                )
            number, self._next = self._next, self._next + 1
            if idempotency_key is not None:
                self._known[idempotency_key] = (number, events.height, malformed)
                self._trim()
            batch = Batch.of(events, positions={"queue": str(number)}, key=idempotency_key, malformed=malformed)
            self._batches.append((len(body), batch))
            self._bytes += len(body)
            self._changed.notify()
            return Receipt(events.height, malformed, False)

    def open(self, positions: Mapping[str, str]) -> bool:
        """What was in memory before a restart is gone; senders repeat what was not settled."""
        return not positions

    def poll(self, timeout: float = 1.0) -> Batch | None:
        with self._changed:
            if not self._batches and not self._closed:
                self._changed.wait(timeout)
            if self._batches:
                size, batch = self._batches.pop(0)
                self._bytes -= size
                return batch
            return None if self._closed else Batch.of([], complete=self._now())

    def settle(self, positions: Mapping[str, str]) -> None:
        with self._changed:
            self._settled = max(self._settled, int(positions.get("queue", "0")))
            self._trim()

    def close(self) -> None:
        """Take no more; what is in the queue can still be read."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _now(self) -> datetime:
        return self._clock()

    def _trim(self) -> None:
        """Forget keys of settled batches, the oldest first; the collector drops their repetitions as too late."""
        while len(self._known) > _REMEMBERED and next(iter(self._known.values()))[0] <= self._settled:
            self._known.popitem(last=False)
