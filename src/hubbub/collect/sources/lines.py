"""Whole lines from a stream of bytes, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

MAX_LINE = 65_536
"""A longer line is skipped and counted: no web server writes one, and memory must be bounded."""

BLOCK = 16 * 2**20
"""How many bytes are read at a time, at the most."""


class LineCutter:
    """Takes bytes as they come, gives whole lines. A line above `max_line` is left out and counted at its end.

    >>> cutter = LineCutter()
    >>> cutter.feed(b"one\\ntw"), cutter.consumed, cutter.taken, cutter.feed(b"o\\n")
    (b'one\\n', 4, 6, b'two\\n')
    """

    def __init__(self, *, max_line: int = MAX_LINE, consumed: int = 0) -> None:
        self._max_line = max_line
        self._tail = b""
        self._skipped = 0  # bytes so far of a line that is too long
        self.consumed = consumed
        """Where the last whole line ended: to go on from here after a restart."""
        self.oversized = 0

    @property
    def taken(self) -> int:
        """Where the next bytes to feed lie."""
        return self.consumed + len(self._tail) + self._skipped

    def feed(self, fresh: bytes) -> bytes:
        cut = fresh.rfind(b"\n") + 1
        if not cut:
            self._keep(fresh)
            return b""
        start = 0
        if self._skipped:
            start = fresh.find(b"\n") + 1
            self.consumed += self._skipped + start
            self.oversized += 1
            self._skipped = 0
        whole = memoryview(fresh)  # one copy of a block, not three
        lines = b"".join((self._tail, whole[start:cut]))
        self.consumed += len(lines)
        self._tail = b""
        self._keep(bytes(whole[cut:]))
        return self._without_long(lines)

    def rest(self) -> bytes:
        """What is left behind the last line break, as a line: the end of a file that is over."""
        tail, self._tail = self._tail, b""
        self.oversized += self._skipped > 0
        self.consumed, self._skipped = self.consumed + len(tail) + self._skipped, 0
        return tail + b"\n" if tail else b""

    def _keep(self, fresh: bytes) -> None:
        if self._skipped or len(self._tail) + len(fresh) > self._max_line:
            self._skipped += len(self._tail) + len(fresh)
            self._tail = b""
        else:
            self._tail += fresh

    def _without_long(self, lines: bytes) -> bytes:
        lines, oversized = without_long(lines, self._max_line)
        self.oversized += oversized
        return lines


def without_long(lines: bytes, max_line: int = MAX_LINE) -> tuple[bytes, int]:
    """The same lines without those that are too long, and how many these are. The last line need have no end.

    It hops from line break to line break by the longest step: quick when no line is too long.

    >>> without_long(b"one\\nthree\\nsix\\nseven", 3)
    (b'one\\nsix\\n', 2)
    """
    at, kept, start, oversized = 0, [], 0, 0
    while len(lines) - at > max_line:
        hop = lines.rfind(b"\n", at, at + max_line + 1) + 1
        if hop <= at:
            oversized += 1
            kept.append(lines[start:at])
            at = start = lines.find(b"\n", at) + 1 or len(lines)
        else:
            at = hop
    return (b"".join([*kept, lines[start:]]), oversized) if oversized else (lines, 0)


class LineReader:
    """Cuts what `file` gives into blocks of whole lines.

    >>> import io
    >>> reader = LineReader(io.BytesIO(b"one\\ntw"))
    >>> reader.read(), reader.consumed, reader.read()
    (b'one\\n', 4, b'')
    """

    def __init__(self, file: BinaryIO, *, max_line: int = MAX_LINE, block: int = BLOCK, consumed: int = 0) -> None:
        self._file, self._block = file, max(block, 1)
        self._cutter = LineCutter(max_line=max_line, consumed=consumed)

    @property
    def consumed(self) -> int:
        """Bytes up to the end of the last line that was handed over or skipped."""
        return self._cutter.consumed

    @property
    def oversized(self) -> int:
        return self._cutter.oversized

    def read(self) -> bytes:
        """The next lines; nothing if there is no whole line left."""
        while fresh := self._file.read(self._block):
            if lines := self._cutter.feed(fresh):
                return lines
        return b""

    def rest(self) -> bytes:
        """What is left behind the last line break, as a line: the end of a file that is over."""
        return self._cutter.rest()


def pieces(lines: bytes, size: int) -> Iterator[memoryview]:
    """The same lines in pieces of about `size` bytes, each of whole lines.

    >>> [bytes(piece) for piece in pieces(b"a\\nb\\nlonger\\nc", 4)]
    [b'a\\nb\\n', b'longer\\n', b'c']
    """
    at, whole = 0, memoryview(lines)
    while at < len(lines):
        end = lines.rfind(b"\n", at, at + size) + 1 or lines.find(b"\n", at) + 1 or len(lines)
        yield whole[at:end]
        at = end


def separate(lines: bytes | memoryview) -> pl.Series:
    """Each line as a text of its own. What is no UTF-8 is replaced, and a line break is never part of that.

    >>> separate(b"one\\n\\ntwo").to_list()
    ['one', '', 'two']
    """
    if not lines:
        return pl.Series([], dtype=pl.String)
    if lines[-1] == 0x0A:
        lines = memoryview(lines)[:-1]
    return pl.Series([str(lines, "utf-8", "replace")], dtype=pl.String).str.split("\n").explode()
