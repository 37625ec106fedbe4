"""A file of lines, read once from beginning to end."""

from __future__ import annotations

import gzip
import zlib
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import BinaryIO, cast

from hubbub.collect.batch import Batch
from hubbub.collect.machine import machine_name
from hubbub.collect.source import Source
from hubbub.collect.sources.line_format import LineFormat
from hubbub.collect.sources.lines import LineReader
from hubbub.errors import InvalidInput

WORKERS = 2
"""Parsing is most of the work, and leaves Python's lock to others; reading and counting need a thread of their own."""


class LineFile(Source):
    """Reads a log or a file of events, plain or gzip (told by its first bytes, not its name).

    A gzip file that breaks off gives what can be read; the rest counts as one malformed line. A position is the number
    of bytes read (after unpacking), with the file's size and time of change: if they are another's when the file is
    opened again, it is not the file that was read. The next blocks are parsed by other threads while one is counted.
    """

    def __init__(self, path: str | Path, lines: LineFormat, *, skip_header: bool = False) -> None:
        self._path, self._lines, self._header = Path(path), lines, skip_header
        self._file = open_plain(self._path)
        self._facts = unchanged(self._path)
        self._reader = LineReader(self._file)
        self._over = False
        self._counted = 0
        self._workers = ThreadPoolExecutor(WORKERS, "hubbub-parse")
        self._ahead: deque[Future[Batch]] = deque()
        self._start = len(self._file.readline()) if skip_header else 0
        self._seek(self._start)

    @property
    def identity(self) -> str:
        return f"file:{machine_name()}:{self._path.absolute()}"

    def open(self, positions: Mapping[str, str]) -> bool:
        offset, _, facts = positions.get("file", "").partition(":")
        proved = facts == self._facts and offset.isascii() and offset.isdigit()
        self._forget()
        self._seek(int(offset) if proved else self._start)
        return proved

    def frontier(self) -> None:
        """A file that is read once is over when `poll` says so: there is nothing to cut before."""
        return

    def poll(self, until: Mapping[str, str] | None = None) -> Batch | None:
        del until
        while len(self._ahead) <= WORKERS and not self._over:
            self._ahead.append(self._read())
        return self._ahead.popleft().result() if self._ahead else None

    def close(self) -> None:
        self._forget()
        self._workers.shutdown()
        self._file.close()

    def _read(self) -> Future[Batch]:
        """Read a block here, in order; have it parsed beside whatever else is going on."""
        broken = 0
        try:
            block = self._reader.read()
        except (EOFError, OSError, zlib.error):
            block, broken = b"", 1
        if not block:
            self._over = True
            block = self._reader.rest() if not broken else b""
        oversized, self._counted = self._reader.oversized - self._counted, self._reader.oversized
        behind = f"{self._reader.consumed}:{self._facts}"
        return self._workers.submit(self._parse, block, behind, broken, oversized)

    def _parse(self, block: bytes, behind: str, broken: int, oversized: int) -> Batch:
        events, malformed = self._lines.parse(block)
        wrong = malformed + broken
        return Batch.of(
            events,
            layout=self._lines.layout,
            positions={"file": behind},
            malformed=wrong,
            oversized=oversized,
            reached=True,
        )

    def _forget(self) -> None:
        wait(self._ahead)
        self._ahead.clear()

    def _seek(self, offset: int) -> None:
        self._file.seek(offset)
        self._reader = LineReader(self._file, consumed=offset)
        self._over, self._counted = False, 0


def unchanged(path: Path) -> str:
    """What stays the same as long as nobody writes to the file."""
    facts = path.stat()
    return f"{facts.st_size}:{facts.st_mtime_ns}"


def open_plain(path: Path) -> BinaryIO:
    """The file's bytes, unpacked if they are gzip."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return cast(BinaryIO, gzip.open(path, "rb")) if packed else path.open("rb")
    except OSError as error:
        raise InvalidInput(f"The file cannot be read: {error}.", "Check its path and permissions.") from None
