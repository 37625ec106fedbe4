"""Numbers in few bytes, and the envelope that all binary answers have."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput

LARGEST = 2**31 - 1
"""The largest number that is written; browsers keep numbers of 32 bits."""

MOST_BYTES = 2**31
"""What an envelope may hold when it is opened: a small file must not fill memory."""

_LENGTH = struct.Struct("<I")


class DamagedFrame(InvalidInput):
    """A binary answer that was cut, changed, or meant for another map."""


def damaged(what: str) -> DamagedFrame:
    return DamagedFrame(f"This is no whole answer of a map: {what}.", "Ask the server for it again.")


def varints(numbers: NDArray[np.int64]) -> bytes:
    """Whole numbers with a sign, seven bits a byte, the lowest first: small ones take one byte.

    >>> varints(np.array([0, -1, 1, 64])).hex()
    '0001028001'
    """
    folded = ((numbers << 1) ^ (numbers >> 63)).astype(np.uint64)
    long = np.ones(len(folded), dtype=np.int64)
    for shift in (7, 14, 21, 28):
        long += folded >> np.uint64(shift) > 0
    ends = np.cumsum(long)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    starts = ends - long
    for place in range(5):
        has = long > place
        if not has.any():
            break
        bits = (folded[has] >> np.uint64(7 * place) & np.uint64(127)).astype(np.uint8)
        out[starts[has] + place] = bits | np.where(long[has] > place + 1, 128, 0).astype(np.uint8)
    return out.tobytes()


def from_varints(content: bytes, many: int, at: int) -> tuple[NDArray[np.int64], int]:
    """`many` numbers that begin at byte `at`, and where they end."""
    if many < 0 or at > len(content):
        raise damaged("numbers are missing")
    body = np.frombuffer(content, dtype=np.uint8, offset=at)
    ends = np.flatnonzero(body < 128)[:many]
    if len(ends) < many:
        raise damaged("numbers are missing")
    if many == 0:
        return np.empty(0, dtype=np.int64), at
    starts = np.concatenate([[0], ends[:-1] + 1])
    long = ends - starts + 1
    if long.max() > 5:
        raise damaged("a number is too long")
    folded = np.zeros(many, dtype=np.int64)
    for place in range(int(long.max())):
        has = long > place
        folded[has] |= (body[starts[has] + place].astype(np.int64) & 127) << (7 * place)
    return (folded >> 1) ^ -(folded & 1), at + int(ends[-1]) + 1


def sealed(mark: bytes, head: dict[str, Any], *parts: bytes) -> bytes:
    """A mark of four letters, then all else as one stream of zlib: the length of the head, the head as JSON, the parts.

    Noise hardly repeats, and what serves text well is slow and long there; so each part is packed in the way that
    makes it shortest. For whoever unpacks it is one stream.
    """
    text = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
    pieces = [_LENGTH.pack(len(text)) + text, *(part for part in parts if part)]
    check = 1
    for piece in pieces:
        check = zlib.adler32(piece, check)
    packed = [shortest(piece, last=number == len(pieces)) for number, piece in enumerate(pieces, 1)]
    return b"".join([mark, b"\x78\x9c", *packed, check.to_bytes(4, "big")])


_QUICK, _SLOW = (zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE), (zlib.Z_DEFAULT_STRATEGY,)


def shortest(piece: bytes, *, last: bool = True, strategies: tuple[int, ...] = _QUICK + _SLOW) -> bytes:
    """A part of a stream of deflate that refers to nothing before it, and, unless it is the `last`, leaves it open."""

    def packed(strategy: int) -> bytes:
        packer = zlib.compressobj(6, zlib.DEFLATED, -15, 9, strategy)
        return packer.compress(piece) + packer.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)

    return min(map(packed, strategies), key=len)


def about(piece: bytes) -> int:
    """How long a part will be at most, told quickly."""
    return len(shortest(piece, strategies=_QUICK))


def opened(mark: bytes, sent: bytes) -> tuple[dict[str, Any], bytes, int]:
    """The head, the whole content, and where the body begins in it. What was cut or changed is refused."""
    if sent[:4] != mark:
        raise damaged("it does not begin as one")
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(sent[4:], MOST_BYTES)
    except zlib.error:
        raise damaged("it was changed on its way") from None
    if not unpacker.eof or unpacker.unused_data:
        raise damaged("its end is not where it should be")
    try:
        (length,) = _LENGTH.unpack_from(content)
        head = json.loads(content[4 : 4 + length])
    except (struct.error, ValueError):
        raise damaged("its head cannot be read") from None
    if not isinstance(head, dict):
        raise damaged("its head cannot be read")
    return head, content, 4 + length
