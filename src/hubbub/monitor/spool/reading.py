"""What one call of `poll` gathers."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from hubbub.collect.sources import JsonLines
from hubbub.monitor.spool.frame import Frame
from hubbub.monitor.spool.parsed import Parsed
from hubbub.monitor.spool.place import Place

POLL_BYTES = 16 * 2**20
POLL_LINES = 200_000


class Reading:
    """Events in their order, out of frames that were read before and frames from the disk, which are read in one go.

    `at` is the place behind all that is in here, at any moment: also when the disk fails in the middle.
    """

    def __init__(self, lines: JsonLines, at: Place) -> None:
        self._lines, self.at = lines, at
        self._pieces: list[pl.DataFrame] = []
        self._bodies: list[bytes] = []
        self._bytes = self._count = self.malformed = 0

    @property
    def room(self) -> int:
        """How many more bytes it may take; nothing once there are many lines."""
        return POLL_BYTES - self._bytes if self._count < POLL_LINES else 0

    def add(self, parsed: Parsed) -> None:
        self._parse()
        self.at = parsed.end
        self._pieces.append(parsed.events)
        self.malformed += parsed.malformed
        self._bytes, self._count = self._bytes + parsed.size, self._count + parsed.events.height

    def add_raw(self, frames: Iterator[tuple[Frame, Place]]) -> None:
        """As many frames as there is room for."""
        for frame, end in frames:
            self.at = end
            if frame.body:
                self._bodies.append(frame.body)
            self._bytes, self._count = self._bytes + len(frame.body), self._count + frame.lines
            if self.room <= 0:
                return

    def events(self) -> pl.DataFrame:
        self._parse()
        if not self._pieces:
            return self._lines.parse(b"")[0]
        return self._pieces[0] if len(self._pieces) == 1 else pl.concat(self._pieces, rechunk=True)

    def _parse(self) -> None:
        if self._bodies:
            events, malformed = self._lines.parse(b"\n".join(self._bodies))
            self._pieces.append(events)
            self.malformed += malformed
            self._bodies = []
