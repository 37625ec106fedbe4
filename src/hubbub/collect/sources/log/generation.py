"""One file of a chain of rotated logs, while it is read."""

from __future__ import annotations

import secrets  # names of files, not for privacy
import time

from hubbub.collect.sources.lines import LineCutter
from hubbub.collect.sources.log.opened import OpenFile
from hubbub.collect.sources.log.place import CHECK, HEAD, Place, checksum
from hubbub.collect.sources.log.seal import Sealing

_GRAIN = 20_000_000
"""Nanoseconds; no file system that matters here keeps coarser times of change."""


class Generation:
    """What stood under the log's name for a while: from its creation to its rotation, or from one cut to the next."""

    def __init__(self, number: int, file: OpenFile, *, lost: bool = False, token: str | None = None) -> None:
        self.token = token or secrets.token_hex(4)
        self.number, self.lost = number, lost
        self.file: OpenFile | None = file
        self.inode, self.packed = file.inode, file.packed
        self.cutter = LineCutter()
        self.sealing = Sealing(0)
        self._tail = self._recent = b""  # the last bytes before `cutter.consumed`, and before `cutter.taken`
        self.head = file.read_at(0, HEAD)
        self.end: int | None = None if file.packed else 0
        """Where its last whole line ended at the last look, or where it ended for good if it is over. None for a
        packed file, which is looked at when it is read."""
        self.before_end = b""
        self._size = self._changed = 0
        self._grown = time.monotonic()
        self.over = file.packed
        """Nothing will be written to it any more, or nothing that we would read."""
        self.started = self.finished = False
        self._whole = False  # packed, and not read any more: all places in it lie before that

    @classmethod
    def resumed(cls, token: str, place: Place, file: OpenFile) -> Generation:
        """Behind `place`, which `file` was found to hold."""
        self = cls(place.number, file, token=token)
        self.lost, self.started, self.finished = place.lost, True, place.over
        if place.offset is not None:
            self._tail = self._recent = file.read_at(place.offset - place.check, place.check)
            self._go_to(place.offset)
            if not file.packed:
                self.end = self._size = place.offset
                self.before_end = self._tail
        if place.over:
            self.over, self._whole = True, place.offset is None
            self.let_go()
        return self

    def begin_at_end(self) -> None:
        """Where it ended at the last look; what lies before that is not read."""
        if self.packed:
            self.finished = self._whole = True
            self.let_go()
            return
        self._tail = self._recent = self.before_end
        self._go_to(self.end or 0)

    def _go_to(self, offset: int) -> None:
        self.cutter, self.sealing = LineCutter(consumed=offset), Sealing(offset)

    def look(self) -> bool:
        """Learn how far it has grown. False if it no longer holds what it held: it was cut, and begins anew."""
        if self.file is None or self.packed or self.over:
            return True
        assert self.end is not None
        facts = self.file.facts()
        size = facts.st_size
        if size < self.end or not self._holds_end():
            return False
        end = self._line_end(size)
        before_end = self._before(end)
        head = self.file.read_at(0, min(size, HEAD))
        # The beginning is read last: if it is as before, so was all that was read until then.
        if not head.startswith(self.head) or len(head) < min(size, HEAD) or len(before_end) < min(end, CHECK):
            return False
        if size != self._size:
            self._grown = time.monotonic()
        # A change in the same instant as the look would leave the same time: then it counts as changed.
        settled = time.time_ns() - facts.st_ctime_ns > _GRAIN
        self._size, self._changed = size, facts.st_ctime_ns if settled else 0
        self.head, self.end, self.before_end = head, end, before_end
        return True

    def become(self, file: OpenFile | None, head: bytes, end: int | None, before_end: bytes) -> None:
        """From now on its bytes are read from `file`, a copy; None if there is none."""
        self.file, self.head, self.end, self.before_end = file, head, end, before_end
        if file is not None:
            self.inode, self.packed = file.inode, file.packed

    @property
    def quiet(self) -> float:
        """For how many seconds it has not grown, as far as we have seen."""
        return time.monotonic() - self._grown

    def stirred(self) -> bool:
        """Whether something was done to a file that we have only seen empty."""
        if self.file is None or self.packed or self.head:
            return False
        return self.file.facts().st_ctime_ns != self._changed

    def was(self, place: Place) -> bool:
        """Whether `place` lies in this file, which was read beyond it and may be closed."""
        same = 0 < place.head <= len(self.head) and checksum(self.head[: place.head]) == place.head_sum
        return same and (self._whole or place.offset is None or place.offset <= self.cutter.consumed)

    def retire(self) -> None:
        """It ends where it ended at the last look; what stands behind its last line break is a line too."""
        self.before_end, self.end, self.over = self._before(self._size), self._size, True

    def _holds_end(self) -> bool:
        assert self.file is not None
        assert self.end is not None
        return self.file.read_at(self.end - len(self.before_end), len(self.before_end)) == self.before_end

    def _before(self, offset: int) -> bytes:
        assert self.file is not None
        return self.file.read_at(max(offset - CHECK, 0), min(offset, CHECK))

    def _line_end(self, size: int) -> int:
        """Behind the last line break before `size`, looking backwards, no further than we knew."""
        assert self.file is not None
        assert self.end is not None
        at, step = size, 4096
        while at > self.end:
            start = max(at - step, self.end)
            found = self.file.read_at(start, at - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            at, step = start, min(4 * step, 2**20)
        return self.end

    def intact(self) -> bool:
        """Whether the file still holds what it held at the last look."""
        assert self.file is not None
        return self.packed or self.file.matches(self.head, self.end or 0, self.before_end)

    def frontier(self) -> Place:
        seal = self.sealing.seal()
        return Place.at(self.number, self.inode, self.head, self.end, self.before_end, self.over, self.lost, seal)

    def position(self) -> Place:
        offset = self.cutter.consumed
        return Place.at(self.number, self.inode, self.head, offset, self._tail, self.finished, self.lost)

    def take(self, fresh: bytes) -> bytes:
        """Whole lines out of the next bytes."""
        self.sealing.add(fresh)
        cut = fresh.rfind(b"\n") + 1
        if cut:
            self._tail = (self._recent + fresh[max(cut - CHECK, 0) : cut])[-CHECK:]
        self._recent = (self._recent + fresh[-CHECK:])[-CHECK:]
        return self.cutter.feed(fresh)

    def skip(self, offset: int) -> None:
        """Go on behind bytes that cannot be had any more."""
        oversized = self.cutter.oversized
        self._go_to(offset)
        self._tail = self._recent = b""
        self.cutter.oversized = oversized

    def finish(self) -> bytes:
        """The end of the file, as a line if it has no line break."""
        rest = self.cutter.rest()
        self._tail = self._recent
        self.finished = self.over = True
        self.end, self.before_end = self.cutter.consumed, self._tail
        self.let_go()
        return rest

    def let_go(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None
