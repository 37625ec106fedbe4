"""One file of the spool, as it is known in memory, and how its frames are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hubbub.monitor.spool.descriptor import Descriptor
from hubbub.monitor.spool.frame import FRAME_MAGIC, HEADER_BYTES, Frame, Header, frame_bytes, longer_chain, read_frame
from hubbub.monitor.spool.place import Place

READ_BYTES = 16 * 2**20


@dataclass(slots=True)
class Segment:
    """A header and the frames behind it; `end` and `chain` stand behind the last frame that counts.

    `raw` says how many bytes of events are in it: a segment that holds none has nothing to hide.
    """

    header: Header
    end: int
    chain: bytes
    raw: int = 0

    @classmethod
    def empty(cls, header: Header) -> Segment:
        return cls(header, HEADER_BYTES, header.chain)

    @property
    def first(self) -> Place:
        return Place(self.header.segment, HEADER_BYTES, self.header.chain)

    @property
    def last(self) -> Place:
        return Place(self.header.segment, self.end, self.chain)

    def grow(self, frame: Frame, place: Place) -> None:
        self.end, self.chain = place.offset, place.chain
        self.raw += len(frame.body)

    def holds(self, file: Descriptor, place: Place) -> bool:
        """Whether `place` is the end of a frame here (or the beginning), with the same frames before it."""
        if place.offset > self.end:
            return False
        ends = [self.first, *(end for _, end in walk(file, self.header, self.first, place.offset))]
        return ends[-1] == place


def walk(file: Descriptor, header: Header, start: Place, end: int) -> Iterator[tuple[Frame, Place]]:
    """The frames from `start` to `end`, each with the place behind it. It stops at what is no whole frame."""
    place = start
    data, base = b"", place.offset
    while place.offset < end:
        at = place.offset - base
        framed = read_frame(data, at, header.seed, place.offset)
        if framed is None:
            if base == place.offset and data:
                return  # as much as the frame says it needs was read, and it is not right
            base = place.offset
            data = file.read(min(READ_BYTES, end - base), base)
            size = frame_bytes(data, 0, header.seed, base)
            if size is None or base + size > end:
                return
            if size > len(data):
                data = file.read(size, base)
            continue
        frame, after = framed
        chain = longer_chain(place.chain, memoryview(data)[at:after])
        place = Place(place.segment, base + after, chain)
        yield frame, place


def frame_behind(file: Descriptor, header: Header, offset: int, size: int) -> bool:
    """Whether a whole frame begins anywhere behind `offset`. A group is written only after the one before it was
    synced: so a frame that stands behind something unreadable shows that this was once whole."""
    data = file.read(size - offset, offset)
    at = data.find(FRAME_MAGIC, 1)
    while at >= 0:
        if read_frame(data, at, header.seed, offset + at) is not None:
            return True
        at = data.find(FRAME_MAGIC, at + 1)
    return False
