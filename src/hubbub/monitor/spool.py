"""Events that were sent to us, kept on disk from the acknowledgement until their tick is settled."""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from hubbub.collect import Batch, Source
from hubbub.collect.clock import Clock
from hubbub.collect.sources import JsonLines, Receipt
from hubbub.errors import InvalidInput, Overloaded, StoreUnavailable

SEGMENT_BYTES = 16 * 2**20
MOST_KEYS = 100_000
_POLL = "spool"


class Spool(Source):
    """A folder of append-only files: `push` writes and syncs before it returns, `poll` reads.

    So what was acknowledged survives a crash, and is read again from the place where counting had got to. A batch
    with an idempotency key that was seen before is acknowledged and not written again. Files are readable by
    this user alone and are deleted once all their ticks are settled: they hold raw events.

    A record is a line of JSON (key, length of the body) and the body. A crash can leave half a record at the end; it
    was never acknowledged, and is cut off when the spool is opened.
    """

    def __init__(
        self, folder: Path, clock: Clock, *, max_bytes: int = 2**30, segment_bytes: int = SEGMENT_BYTES
    ) -> None:
        self._folder, self._clock = folder, clock
        self._max_bytes, self._segment_bytes = max_bytes, segment_bytes
        self._lines = JsonLines()
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._keys: OrderedDict[str, None] = OrderedDict()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._numbers = sorted(int(path.stem) for path in folder.glob("*.spool")) or [1]
            for number in self._numbers:
                self._recover(number)
            self._out = self._append_to(self._numbers[-1])
        except OSError as error:
            raise _unavailable(folder, error) from None
        self._ends = {number: self._path(number).stat().st_size for number in self._numbers}
        self._at = (self._numbers[0], 0)

    # ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def push(self, stream: str, body: bytes, idempotency_key: str | None) -> Receipt:
        """Take a batch of NDJSON events, whole; on disk when this returns."""
        del stream  # one spool serves one stream
        if idempotency_key is not None and len(idempotency_key) > 200:
            raise InvalidInput("An idempotency key has at most 200 characters.", "Use a UUID.")
        events, malformed = self._lines.parse(body)
        with self._lock:
            if self._out < 0:
                raise Overloaded("The monitor is stopping.", "Send the batch again, with the same idempotency key.")
            if idempotency_key is not None and idempotency_key in self._keys:
                return Receipt(0, 0, duplicate=True)
            if sum(self._ends.values()) + len(body) > self._max_bytes:
                raise Overloaded(
                    f"The spool holds {self._max_bytes:,} bytes of events that wait to be counted.",
                    "Send the batch again later, with the same idempotency key.",
                )
            self._write(json.dumps({"key": idempotency_key, "bytes": len(body)}).encode() + b"\n" + body + b"\n")
            self._remember(idempotency_key)
            self._arrived.notify_all()
        return Receipt(events.height, malformed, duplicate=False)

    def _write(self, record: bytes) -> None:
        number = self._numbers[-1]
        try:
            if self._ends[number] >= self._segment_bytes:
                os.close(self._out)
                number += 1
                self._out = self._append_to(number)
                self._numbers.append(number)
                self._ends[number] = 0
            left = memoryview(record)
            while left:
                left = left[os.write(self._out, left) :]
            os.fsync(self._out)
        except OSError as error:
            # Half a record must not stay: the next one would be read as its body. Cutting off needs no space.
            os.ftruncate(self._out, self._ends[number])
            raise _unavailable(self._folder, error) from None
        self._ends[number] += len(record)

    # ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def open(self, positions: Mapping[str, str]) -> bool:
        if not positions:
            self._at = (self._numbers[0], 0)
            return True
        number, offset = map(int, positions[_POLL].split(":"))
        if number not in self._ends:
            self._at = (self._numbers[0], 0)
            return False
        self._at = (number, offset)
        return True

    def poll(self, timeout: float = 1.0) -> Batch | None:
        with self._lock:
            if not self._unread():
                self._arrived.wait(timeout)
            complete = self._clock()
            self._turn_page()
            unread = self._unread()
            number, offset = self._at
        if not unread:
            return Batch.of([], positions=self._positions(), complete=complete)
        with self._path(number).open("rb") as file:
            file.seek(offset)
            head = json.loads(file.readline())
            body = file.read(head["bytes"] + 1)[:-1]
            offset = file.tell()
        with self._lock:
            self._at = (number, offset)
            self._turn_page()
            done = complete if not self._unread() else None
        events, malformed = self._lines.parse(body)
        return Batch.of(events, positions=self._positions(), complete=done, key=head["key"], malformed=malformed)

    def settle(self, positions: Mapping[str, str]) -> None:
        if not positions:
            return
        needed = int(positions[_POLL].split(":")[0])
        with self._lock:
            for number in [n for n in self._numbers if n < needed]:
                self._path(number).unlink(missing_ok=True)
                self._numbers.remove(number)
                del self._ends[number]

    def close(self) -> None:
        with self._lock:
            if self._out >= 0:
                os.close(self._out)
                self._out = -1

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _unread(self) -> bool:
        number, offset = self._at
        return offset < self._ends[number] or number != self._numbers[-1]

    def _turn_page(self) -> None:
        number, offset = self._at
        if offset >= self._ends[number] and number != self._numbers[-1]:
            self._at = (self._numbers[self._numbers.index(number) + 1], 0)

    def _positions(self) -> dict[str, str]:
        return {_POLL: f"{self._at[0]}:{self._at[1]}"}

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:012d}.spool"

    def _append_to(self, number: int) -> int:
        return os.open(self._path(number), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def _recover(self, number: int) -> None:
        """Read a file's records once: remember their keys, cut off what a crash left half written."""
        path = self._path(number)
        if not path.exists():
            return
        whole = 0
        with path.open("rb") as file:
            while line := file.readline():
                try:
                    head = json.loads(line)
                    length = head["bytes"]
                except (ValueError, KeyError, TypeError):
                    break
                if len(file.read(length + 1)) < length + 1:
                    break
                whole = file.tell()
                self._remember(head["key"])
        if whole < path.stat().st_size:
            os.truncate(path, whole)

    def _remember(self, key: str | None) -> None:
        if key is not None:
            self._keys[key] = None
            if len(self._keys) > MOST_KEYS:
                self._keys.popitem(last=False)


def _unavailable(folder: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f"Events cannot be kept in {folder}: {error.strerror}. Nothing was acknowledged.",
        "Free space or give another folder, then send the batch again.",
    )
