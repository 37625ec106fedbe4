"""The bytes of a segment: a header, then one frame for each group of batches that was written in one go.

    header   magic 8 | version 2 | spool 16 | segment 8 | seed 16 | end of the segment before 8 | its chain 16 | crc 4
    frame    magic 4 | crc of the head 4 | crc of the rest 4 | length of the rest 8 | arrived 8 | lines 4 | keys 4
             then the rest: keys ... | bodies
    key      name 16 | digest of the body 16 | accepted 4 | malformed 4 | arrived 8

All numbers are little-endian; times are microseconds since 1970. The bodies are joined by line ends.

- The *crc of the head* covers the segment's random seed and the frame's offset. So what a sender writes into a body
  cannot look like a frame, nor can a frame of another file.
- The *chain* is a digest of the header and all frames up to a place; the header holds the chain of the segment
  before. It begins with the seed, which goes with the segment: a place that was written down elsewhere tells nothing
  about events that were deleted here.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

MAGIC = b"HUBSPOOL"
VERSION = 1
FRAME_MAGIC = b"\xf5\xc3\x9aH"
_HEADER = struct.Struct("<8sH16sQ16sQ16sI")
_HEAD = struct.Struct("<4sIIQqII")
_KEY = struct.Struct("<16s16sIIq")
HEADER_BYTES = _HEADER.size
HEAD_BYTES = _HEAD.size


@dataclass(frozen=True, slots=True)
class Header:
    """How a segment begins."""

    spool: bytes
    segment: int
    seed: bytes
    before_end: int
    before_chain: bytes

    def to_bytes(self) -> bytes:
        bare = _HEADER.pack(MAGIC, VERSION, self.spool, self.segment, self.seed, self.before_end, self.before_chain, 0)[
            :-4
        ]
        return bare + struct.pack("<I", zlib.crc32(bare))

    @property
    def chain(self) -> bytes:
        return hashlib.sha256(self.to_bytes()).digest()[:16]

    @classmethod
    def from_bytes(cls, data: bytes) -> Header | None:
        """None where these bytes are no header."""
        if len(data) < HEADER_BYTES:
            return None
        magic, version, spool, segment, seed, before_end, before_chain, crc = _HEADER.unpack(data[:HEADER_BYTES])
        if (magic, version, crc) != (MAGIC, VERSION, zlib.crc32(data[: HEADER_BYTES - 4])):
            return None
        return cls(spool, segment, seed, before_end, before_chain)


@dataclass(frozen=True, slots=True)
class Key:
    """What is remembered of a batch that had an idempotency key; `name` and `digest` are hashes."""

    name: bytes
    digest: bytes
    accepted: int
    malformed: int
    arrived: int


@dataclass(frozen=True, slots=True)
class Frame:
    """One group of batches. Its body holds raw events: it is not printed."""

    arrived: int
    lines: int
    keys: bytes
    body: bytes

    @classmethod
    def of(cls, arrived: int, lines: int, keys: list[Key], bodies: list[bytes]) -> Frame:
        packed = b"".join(_KEY.pack(k.name, k.digest, k.accepted, k.malformed, k.arrived) for k in keys)
        return cls(arrived, lines, packed, b"\n".join(bodies))

    def to_bytes(self, seed: bytes, offset: int) -> bytes:
        rest = self.keys + self.body
        fields = (zlib.crc32(rest), len(rest), self.arrived, self.lines, len(self.keys) // _KEY.size)
        bare = _HEAD.pack(FRAME_MAGIC, 0, *fields)[8:]
        return FRAME_MAGIC + struct.pack("<I", _crc(seed, offset, bare)) + bare + rest

    def __repr__(self) -> str:
        return "Frame(<confidential>)"


def unpacked(keys: bytes) -> Iterator[Key]:
    return (Key(*fields) for fields in _KEY.iter_unpack(keys))


def frame_bytes(data: bytes, at: int, seed: bytes, offset: int) -> int | None:
    """How long the frame is that begins at `at` in `data` and at `offset` in its segment; None where none begins."""
    if len(data) - at < HEAD_BYTES or data[at : at + 4] != FRAME_MAGIC:
        return None
    _, crc, _, length, _, _, keys = _HEAD.unpack_from(data, at)
    if crc != _crc(seed, offset, data[at + 8 : at + HEAD_BYTES]) or keys * _KEY.size > length:
        return None
    return HEAD_BYTES + int(length)


def read_frame(data: bytes, at: int, seed: bytes, offset: int) -> tuple[Frame, int] | None:
    """That frame, and where it ends in `data`; None where it is not there whole and unchanged."""
    size = frame_bytes(data, at, seed, offset)
    if size is None or len(data) - at < size:
        return None
    _, _, crc, _, arrived, lines, keys = _HEAD.unpack_from(data, at)
    begin, end = at + HEAD_BYTES, at + size
    if crc != zlib.crc32(memoryview(data)[begin:end]):
        return None
    middle = begin + keys * _KEY.size
    return Frame(arrived, lines, data[begin:middle], data[middle:end]), end


def longer_chain(chain: bytes, frame: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(chain)
    digest.update(frame)
    return digest.digest()[:16]


def _crc(seed: bytes, offset: int, head: bytes) -> int:
    return zlib.crc32(seed + offset.to_bytes(8, "little") + head)
