"""A file that grows and is rotated, followed by name."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from hubbub.collect.batch import Batch
from hubbub.collect.clock import Clock, SteadyClock
from hubbub.collect.source import Source
from hubbub.collect.sources.line_format import LineFormat
from hubbub.collect.sources.lines import LineReader
from hubbub.errors import InvalidInput

_CHECK = 256
_NAP = 0.05


class FollowedFile(Source):
    """Reads `path` as it grows, as `tail -F` does.

    | what happens | what is done |
    |---|---|
    | renamed, and a new file made | the old one is read to its end, then the new one from its beginning |
    | copied and cut to nothing | read from its beginning; lines written between copy and cut are lost to everyone |
    | gone for a while | waits |
    | a line without its end | waits for the rest |

    A position names the file (by device and inode), the offset, and a checksum of the bytes before it. After a restart
    the file is looked for among `path` and its rotated siblings (`path.1`, …); if it is not there, or its bytes have
    changed, `open` says that the past is gone.
    """

    def __init__(self, path: str | Path, lines: LineFormat, *, clock: Clock | None = None) -> None:
        self._path, self._lines, self._clock = Path(path), lines, clock or SteadyClock()
        self._file: BinaryIO | None = None
        self._reader: LineReader | None = None
        self._queue: list[Path] = []  # rotated files still to be read before `path`
        self._left = b""  # the last line of a rotated file, if it had no end
        self._counted = 0
        self._begun = False

    def open(self, positions: Mapping[str, str]) -> bool:
        self.close()
        self._begun = False
        if not positions:
            return True
        wanted = positions["file"].split(":")
        siblings = sorted(self._siblings(), key=lambda file: file.stat().st_mtime_ns)
        for i, file in enumerate(siblings):
            facts = file.stat()
            if [str(facts.st_dev), str(facts.st_ino)] == wanted[:2]:
                self._start(file, int(wanted[2]))
                if self._position() == positions["file"]:
                    self._queue = [later for later in siblings[i + 1 :] if later != self._path]
                    return True
                self.close()
        return False

    def poll(self, timeout: float = 1.0) -> Batch | None:
        end = time.monotonic() + timeout
        while True:
            reached = self._clock()  # before the look: all that was written by now will be read
            block = self._next_block()
            if block:
                return self._batch(block, None)
            if self._file is not None and not self._begun:
                return self._batch(b"", None)
            if self._file is not None and not self._moved_on():
                if time.monotonic() >= end:
                    return self._batch(b"", reached)
            elif self._file is None and time.monotonic() >= end:
                return Batch.of([], complete=reached)
            time.sleep(_NAP)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = self._reader = None
        self._queue = []

    def _batch(self, block: bytes, complete: object) -> Batch:
        assert self._reader is not None
        self._begun = True
        events, malformed = self._lines.parse(block)
        oversized, self._counted = self._reader.oversized - self._counted, self._reader.oversized
        return Batch.of(
            events,
            positions={"file": self._position()},
            complete=complete,  # type: ignore[arg-type]
            malformed=malformed,
            oversized=oversized,
        )

    def _next_block(self) -> bytes:
        if self._left:
            left, self._left = self._left, b""
            return left
        if self._file is None and not self._start_next():
            return b""
        assert self._file is not None
        assert self._reader is not None
        if not self._begun:
            return b""  # the first batch is empty and says where the beginning is
        if os.fstat(self._file.fileno()).st_size < self._reader.consumed:
            self._start(self._path, 0)  # cut to nothing
        return self._reader.read()

    def _moved_on(self) -> bool:
        """At the end of a file: if the name now belongs to another, go there."""
        assert self._file is not None
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return False
        here = os.fstat(self._file.fileno())
        if (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino) and not self._queue:
            return False
        if here.st_size > self._file.tell():
            return True  # something was written between the last read and the rename
        assert self._reader is not None
        self._left = self._reader.rest()
        return bool(self._left) or self._start_next()

    def _start_next(self) -> bool:
        file = self._queue.pop(0) if self._queue else self._path
        queue = self._queue
        try:
            self._start(file, 0)
        except FileNotFoundError:
            return False
        self._queue = queue
        return True

    def _start(self, file: Path, offset: int) -> None:
        try:
            opened = file.open("rb")
        except FileNotFoundError:
            raise
        except OSError as error:
            raise InvalidInput(f"The log cannot be read: {error}.", "Check its path and permissions.") from None
        self.close()
        opened.seek(offset)
        self._file, self._reader, self._counted = opened, LineReader(opened, consumed=offset), 0

    def _position(self) -> str:
        assert self._file is not None
        assert self._reader is not None
        facts, offset = os.fstat(self._file.fileno()), self._reader.consumed
        length = min(offset, _CHECK)
        before = os.pread(self._file.fileno(), length, offset - length)
        return f"{facts.st_dev}:{facts.st_ino}:{offset}:{zlib.crc32(before):08x}:{len(before)}"

    def _siblings(self) -> list[Path]:
        return [file for file in self._path.parent.glob(self._path.name + "*") if not file.name.endswith(".gz")]
