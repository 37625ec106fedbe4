"""A file of lines, read once from beginning to end."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, cast

from hubbub.collect.batch import Batch
from hubbub.collect.source import Source
from hubbub.collect.sources.line_format import LineFormat
from hubbub.collect.sources.lines import LineReader
from hubbub.errors import InvalidInput


class LineFile(Source):
    """Reads a log or a file of events, plain or gzip (told by its first bytes, not its name).

    A gzip file that breaks off gives what can be read; the rest counts as one malformed line. A position is the number
    of bytes read (after unpacking).
    """

    def __init__(self, path: str | Path, lines: LineFormat, *, skip_header: bool = False) -> None:
        self._path, self._lines, self._header = Path(path), lines, skip_header
        self._file = open_plain(self._path)
        self._reader = LineReader(self._file)
        self._over = False
        self._counted = 0
        if skip_header:
            self._seek(len(self._file.readline()))

    def open(self, positions: Mapping[str, str]) -> bool:
        if positions:
            self._seek(int(positions["file"]))
        return True

    def poll(self, timeout: float = 1.0) -> Batch | None:
        del timeout
        if self._over:
            return None
        broken = 0
        try:
            block = self._reader.read()
        except (EOFError, OSError, zlib.error):
            block, broken = b"", 1
        if not block:
            self._over = True
            block = self._reader.rest() if not broken else b""
        events, malformed = self._lines.parse(block)
        oversized, self._counted = self._reader.oversized - self._counted, self._reader.oversized
        positions = {"file": str(self._reader.consumed)}
        return Batch.of(events, positions=positions, malformed=malformed + broken, oversized=oversized)

    def close(self) -> None:
        self._file.close()

    def _seek(self, offset: int) -> None:
        self._file.seek(offset)
        self._reader = LineReader(self._file, consumed=offset)


def open_plain(path: Path) -> BinaryIO:
    """The file's bytes, unpacked if they are gzip."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return cast(BinaryIO, gzip.open(path, "rb")) if packed else path.open("rb")
    except OSError as error:
        raise InvalidInput(f"The file cannot be read: {error}.", "Check its path and permissions.") from None
