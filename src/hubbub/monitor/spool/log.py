"""The append-only log on disk: frames go in, are read again from any place, and are deleted by whole segments."""

from __future__ import annotations

import errno
import secrets  # not for privacy: seeds of checksums
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hubbub.errors import SpoolDamaged
from hubbub.monitor.spool import calls
from hubbub.monitor.spool.descriptor import Descriptor
from hubbub.monitor.spool.folder import Folder, damaged
from hubbub.monitor.spool.frame import HEADER_BYTES, Frame, Header, longer_chain
from hubbub.monitor.spool.place import Place
from hubbub.monitor.spool.segment import Segment, frame_behind, walk


class NotKept(Exception):
    """A frame is not in the log. `certain` is False where it might come back if the machine lost its power now.

    `reason` is the system's word for what failed: it names no file.
    """

    def __init__(self, certain: bool, error: OSError) -> None:
        super().__init__()
        self.certain = certain
        self.reason = error.strerror or type(error).__name__


class Log:
    """Segments in one chain. One thread at a time may change it; others may read meanwhile.

    What holds after any failure: the newest segment is either sound and open (`_tail`), or given up. A segment is given
    up after a failed write or flush, since what the kernel did with its pages cannot be known: the next one is then
    begun, and its header says where the one before really ends. Nothing is written before that has worked.
    """

    def __init__(
        self, folder: Path, see: Callable[[int, Frame], None], *, segment_bytes: int, segment_seconds: float
    ) -> None:
        self._segment_bytes, self._segment_seconds = segment_bytes, segment_seconds
        self._segments: dict[int, Segment] = {}
        self._tail: Descriptor | None = None
        self._next: tuple[Segment, Descriptor] | None = None
        self._dead: list[int] = []
        self.gone = self._in_doubt = False
        self._begun: float | None = None
        self._folder = Folder(folder)
        try:
            self._recover(see)
        except BaseException:
            self._let_go()
            raise

    @property
    def spool(self) -> str:
        return self._folder.manifest.spool

    @property
    def first(self) -> Place:
        return next(iter(self._segments.values())).first

    @property
    def end(self) -> Place:
        return self._newest.last

    @property
    def size(self) -> int:
        return sum(segment.end for segment in self._segments.values())

    @property
    def _newest(self) -> Segment:
        return next(reversed(self._segments.values()))

    # ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def append(self, frame: Frame) -> tuple[Place, Place]:
        """On disk when this returns; the places before and behind it. Raises `NotKept`, and the log is as it was."""
        try:
            tail = self._ready()
        except OSError as error:
            # Sent again, a batch that was in doubt still is: the first try may come back after a power cut.
            raise NotKept(not self._in_doubt, error) from None
        segment = self._newest
        data = frame.to_bytes(segment.header.seed, segment.end)
        try:
            if not tail.has_a_name:
                self.gone = True
                raise _deleted()
            tail.write(data, segment.end)
            tail.sync()
        except OSError as error:
            raise NotKept(self._give_up(), error) from None
        except BaseException:
            self._give_up()
            raise
        start = segment.last
        place = Place(start.segment, start.offset + len(data), longer_chain(start.chain, data))
        segment.grow(frame, place)
        self._begun = self._begun or time.monotonic()
        return start, place

    def look(self) -> None:
        """Notice that somebody deleted the files, before anybody is told that something was kept in them.

        Any thread may ask, also while another one writes: what is seen of a file that was just let go of says nothing.
        """
        tail = self._tail
        with suppress(OSError):
            if not (self._folder.is_there and (tail is None or tail.has_a_name)) and tail is self._tail:
                self.gone = True

    def turn(self, settled: Place) -> None:
        """Begin a new segment if that lets go of events: all here are settled, or the segment is old."""
        if self._newest.raw and (settled.reaches(self.end) or self._is_old()):
            self._rotate()

    def _ready(self) -> Descriptor:
        """The segment to write to. If a new one is due and cannot be begun, the old one is as good as before."""
        if self.gone:
            raise _deleted()
        if self._tail is None:
            return self._rotate()
        if self._newest.raw and (self._newest.end >= self._segment_bytes or self._is_old()):
            with suppress(OSError):
                return self._rotate()
        return self._tail if self._tail is not None else self._rotate()

    def _rotate(self) -> Descriptor:
        """The new file is open and on disk before the old one is closed; the manifest makes it the newest."""
        if self._next is None:
            before = self.end if self._segments else Place(0, 0, bytes(16))
            seed = secrets.token_bytes(16)  # not for privacy: a seed of checksums
            header = Header(bytes.fromhex(self.spool), before.segment + 1, seed, before.offset, before.chain)
            self._next = Segment.empty(header), self._folder.create(header)
        segment, file = self._next
        old, self._tail = self._tail, None
        if old is not None:
            old.close()
        # If this fails either manifest may be on disk: the old segment must not grow any more, and this step is
        # repeated before anything is written.
        self._publish(newest=segment.header.segment, whole=HEADER_BYTES)
        self._segments = {**self._segments, segment.header.segment: segment}
        self._tail, self._next, self._begun, self._in_doubt = file, None, None, False
        return file

    def _give_up(self) -> bool:
        """Take the half-written frame out again, and write no more to this file. Whether it is surely out."""
        certain = False
        tail, self._tail = self._tail, None
        if tail is not None:
            with suppress(OSError):
                tail.truncate(self._newest.end)
                tail.sync()
                certain = True
            tail.close()
        if not self.gone:
            with suppress(OSError):
                self._rotate()
                certain = True
        self._in_doubt |= not certain
        return certain

    def _is_old(self) -> bool:
        return self._begun is not None and time.monotonic() - self._begun >= self._segment_seconds

    # ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def locate(self, place: Place) -> Place | None:
        """Where `place` is in this log; None where that cannot be proved."""
        segment = self._segments.get(place.segment)
        if segment is not None:
            with self._folder.open(place.segment) as file:
                return place if segment.holds(file, place) else None
        # The segment is deleted, but its end is written in the header of the next.
        behind = self._segments.get(place.segment + 1)
        if behind is not None and (behind.header.before_end, behind.header.before_chain) == (place.offset, place.chain):
            return behind.first
        return None

    def read(self, at: Place, goal: Place) -> Iterator[tuple[Frame, Place]]:
        """Frames from `at` on, each with the place behind it: all of one segment, none behind `goal`."""
        segment = self._segments[at.segment]
        end = goal.offset if goal.segment == at.segment else segment.end
        with self._folder.open(at.segment) as file:
            for frame, place in walk(file, segment.header, at, end):
                yield frame, place
                at = place
        if at.offset < end:
            raise self.damage(f"segment {at.segment} was changed while it was in use")

    def turned(self, at: Place) -> Place:
        """The same place, or the beginning of the next segment if `at` is the end of one that grows no more."""
        segments = self._segments
        if at.segment not in segments:
            return next(iter(segments.values())).first
        behind = segments.get(at.segment + 1)
        return behind.first if behind is not None and at.offset >= segments[at.segment].end else at

    def damage(self, what: str) -> SpoolDamaged:
        return damaged(self._folder.path, what)

    # ── away ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def settled(self, before: Place) -> list[int]:
        """The segments that lie wholly before a place."""
        newest = self._newest
        return [n for n, segment in self._segments.items() if segment is not newest and before.reaches(segment.last)]

    def drop(self, numbers: list[int]) -> None:
        """Delete the oldest segments. What cannot be deleted now is deleted later: it counts no more."""
        if numbers:
            self._publish(oldest=max(numbers) + 1)
            self._segments = {n: segment for n, segment in self._segments.items() if n not in numbers}
            self._dead += numbers
        if self._dead:
            self._folder.delete(self._dead)
            self._dead = []

    def close(self) -> None:
        """Write down how far everything is on disk, so that a file that lost its end is noticed; and let go."""
        if self._tail is not None and self._newest.end != self._folder.manifest.whole:
            with suppress(OSError):
                self._publish(whole=self._newest.end)
        self._let_go()

    def _publish(self, **facts: int) -> None:
        self._folder.publish(replace(self._folder.manifest, **facts))  # type: ignore[arg-type]

    def _let_go(self) -> None:
        for file in (self._tail, self._next[1] if self._next is not None else None):
            if file is not None:
                file.close()
        self._tail = self._next = None
        self._folder.close()

    # ── at the start ─────────────────────────────────────────────────────────────────────────────────────────────

    def _recover(self, see: Callable[[int, Frame], None]) -> None:
        manifest, there = self._folder.manifest, self._folder.segments()
        numbers = range(manifest.oldest, manifest.newest + 1)
        self._dead = [number for number in there if number not in numbers]
        for number in numbers:
            if number not in there:
                raise self.damage(f"segment {number} is missing")
        for number in numbers:
            with self._folder.open(number) as file:
                header = Header.from_bytes(file.read(HEADER_BYTES, 0))
            if header is None or (header.spool.hex(), header.segment) != (self.spool, number):
                raise self.damage(f"the beginning of segment {number} was changed")
            self._segments[number] = Segment.empty(header)
        for number in numbers:
            self._read_again(number, see)
        with suppress(OSError):
            self.drop([])
        self._folder.sync()
        if not self._segments:
            self._rotate()

    def _read_again(self, number: int, see: Callable[[int, Frame], None]) -> None:
        segment, behind = self._segments[number], self._segments.get(number + 1)
        file = self._folder.open(number, calls.CHANGE if behind is None else calls.READ)
        try:
            size = file.size
            arrived = None
            for frame, place in walk(file, segment.header, segment.first, behind.header.before_end if behind else size):
                segment.grow(frame, place)
                see(number, frame)
                arrived = arrived or frame.arrived
            if behind is not None:
                if (segment.end, segment.chain) != (behind.header.before_end, behind.header.before_chain):
                    raise self.damage(f"segment {number} was changed")
                return
            self._cut_off(file, segment, size)
            if arrived is not None:
                self._begun = time.monotonic() - max(0.0, time.time() - arrived / 1e6)
            self._tail, file = file, None  # type: ignore[assignment]
        finally:
            if file is not None:
                file.close()

    def _cut_off(self, file: Descriptor, segment: Segment, size: int) -> None:
        """Behind the last whole frame stands at most one that was never acknowledged; anything else is damage."""
        torn, whole = segment.end < size, self._folder.manifest.whole
        if segment.end < whole or (torn and frame_behind(file, segment.header, segment.end, size)):
            raise self.damage(f"segment {segment.header.segment} was changed")
        if torn:
            file.truncate(segment.end)
        # A process that was killed may have left whole frames that are not on disk yet. From here on they count.
        file.sync()


def _deleted() -> OSError:
    return OSError(errno.ENOENT, "the spool's files were deleted while the monitor ran")
