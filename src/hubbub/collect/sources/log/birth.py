"""When a file was made: Python's `os` does not tell on Linux."""

from __future__ import annotations

import ctypes
import os
import struct

_EMPTY_PATH, _BIRTH, _ROOM = 0x1000, 0x800, 256  # AT_EMPTY_PATH, STATX_BTIME, the size of a `struct statx`


def birth(descriptor: int) -> int | None:
    """In nanoseconds since 1970; None where the system or the file system does not keep it.

    >>> with open(__file__) as file:
    ...     birth(file.fileno()) is None or birth(file.fileno()) > 0
    True
    """
    known = getattr(os.fstat(descriptor), "st_birthtime", None)  # macOS, FreeBSD
    if known is not None:
        return int(known * 10**9)
    if _statx is None:
        return None
    room = ctypes.create_string_buffer(_ROOM)
    if _statx(descriptor, b"", _EMPTY_PATH, _BIRTH, room) != 0:
        return None
    (mask,) = struct.unpack_from("=I", room, 0)
    seconds, nanoseconds = struct.unpack_from("=qI", room, 80)
    return int(seconds) * 10**9 + int(nanoseconds) if mask & _BIRTH else None


def _found() -> ctypes._NamedFuncPointer | None:
    try:
        call = ctypes.CDLL(None).statx
    except (OSError, AttributeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p]
    call.restype = ctypes.c_int
    return call


_statx = _found()
