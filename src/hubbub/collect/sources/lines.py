"""Whole lines from a stream of bytes, in bounded memory."""

from __future__ import annotations

from typing import BinaryIO

MAX_LINE = 65_536
"""A longer line is skipped and counted: no web server writes one, and memory must be bounded."""

_BLOCK = 16 * 2**20


class LineReader:
    """Cuts what `file` gives into blocks of whole lines.

    >>> import io
    >>> reader = LineReader(io.BytesIO(b"one\\ntw"))
    >>> reader.read(), reader.consumed, reader.read()
    (b'one\\n', 4, b'')
    """

    def __init__(self, file: BinaryIO, *, max_line: int = MAX_LINE, block: int = _BLOCK, consumed: int = 0) -> None:
        self._file, self._max_line, self._block = file, max_line, max(block, max_line)
        self._tail = b""
        self._skipping = False
        self.consumed = consumed
        """Bytes up to the end of the last line that was handed over or skipped."""
        self.oversized = 0
        self.at_end = False

    def read(self) -> bytes:
        """The next lines; nothing if there is no whole line left (then `at_end` is set)."""
        while True:
            fresh = self._file.read(self._block)
            self.at_end = len(fresh) < self._block and not fresh
            if not fresh:
                return b""
            cut = fresh.rfind(b"\n") + 1
            if self._skipping:
                self._skip(fresh, cut)
                if self._skipping:
                    continue
                fresh, cut = self._tail, self._tail.rfind(b"\n") + 1
                self._tail = b""
            if not cut:
                self._keep(self._tail + fresh)
                continue
            whole = memoryview(fresh)  # one copy of a block, not three
            lines = b"".join((self._tail, whole[:cut]))
            self.consumed += len(lines)
            self._tail = b""
            self._keep(bytes(whole[cut:]))
            lines = self._without_long(lines)
            if lines:
                return lines

    def rest(self) -> bytes:
        """What is left behind the last line break, as a line: the end of a file that is over."""
        tail, self._tail = self._tail, b""
        self.consumed += len(tail)
        return tail + b"\n" if tail else b""

    def _keep(self, tail: bytes) -> None:
        if len(tail) > self._max_line:
            self.consumed += len(tail)
            self.oversized += 1
            self._skipping, tail = True, b""
        self._tail = tail

    def _skip(self, fresh: bytes, cut: int) -> None:
        """Inside a line that is too long: throw away up to its end."""
        if not cut:
            self.consumed += len(fresh)
            return
        first = fresh.find(b"\n") + 1
        self.consumed += first
        self._skipping, self._tail = False, fresh[first:]

    def _without_long(self, lines: bytes) -> bytes:
        """Hop from line break to line break by the longest step: quick when no line is too long."""
        at, kept, start = 0, [], 0
        while at < len(lines):
            hop = lines.rfind(b"\n", at, at + self._max_line + 1) + 1
            if hop <= at:
                self.oversized += 1
                kept.append(lines[start:at])
                at = start = lines.find(b"\n", at) + 1
            else:
                at = hop
        return lines if not start else b"".join([*kept, lines[start:]])
