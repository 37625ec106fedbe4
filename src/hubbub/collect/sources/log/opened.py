"""Files that are held open. Every system call of a followed log is made here or in `rotated.py`."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import stat
import threading
import zlib
from collections.abc import Callable
from typing import BinaryIO, cast

from hubbub.collect.sources.log.birth import birth
from hubbub.collect.sources.log.place import Place, checksum

PACKED: dict[str, Callable[[BinaryIO, str], object]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""What can be unpacked. Other packed files are seen, and cannot be read."""

UNREADABLE = (".zst", ".Z", ".lz4", ".lzo", ".7z", ".zip")

DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
"""What a packed file says that breaks off or is no such file. (A broken bz2 is an OSError without a number.)"""

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class NotAFile(OSError):
    """A folder, a pipe, a device: nothing that can be followed."""


class Unsettled(OSError):
    """Files are being renamed at this moment; look again."""


class OpenFile:
    """A regular file, by its descriptor. It can be renamed and unlinked meanwhile, and its inode cannot be reused.

    The descriptor never leaves this class, and each use of it holds a lock that `close` takes too: so no thread can
    read from a number that was closed and now belongs to something else.
    """

    def __init__(self, path: str, *, packing: str = "") -> None:
        self._lock = threading.Lock()
        self._packing = packing
        self._stream: BinaryIO | None = None
        if not stat.S_ISREG(os.stat(path).st_mode):  # before it is opened: opening a device may do something
            raise NotAFile(errno.EINVAL, "not a regular file")
        self._descriptor = os.open(path, _FLAGS)
        try:
            facts = os.fstat(self._descriptor)
            if not stat.S_ISREG(facts.st_mode):
                raise NotAFile(errno.EINVAL, "not a regular file")
            if packing in UNREADABLE:
                raise NotAFile(errno.EINVAL, "packed in a way that is not known here")
        except BaseException:
            self.close()
            raise
        self.inode = f"{facts.st_dev}:{facts.st_ino}"

    @property
    def packed(self) -> bool:
        return bool(self._packing)

    def facts(self) -> os.stat_result:
        with self._lock:
            return os.fstat(self._held())

    def born(self) -> int | None:
        """When the file was made, in nanoseconds; None where that is not kept."""
        with self._lock:
            return birth(self._held())

    def read_at(self, offset: int, count: int) -> bytes:
        """`count` bytes (unpacked), fewer only at the end."""
        if self._packing:
            return self._unpack(offset, count)
        parts, left = [], count
        while left > 0 and (part := self._pread(offset + count - left, left)):
            parts.append(part)
            left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def holds(self, place: Place) -> bool:
        """Whether this is the file of `place`, with the bytes that stood before it."""
        try:
            return self._holds(place)
        except DAMAGED:
            return False

    def _holds(self, place: Place) -> bool:
        if checksum(self.read_at(0, place.head)) != place.head_sum:
            return False
        return (
            place.offset is None or checksum(self.read_at(place.offset - place.check, place.check)) == place.check_sum
        )

    def matches(self, head: bytes, end: int, before: bytes) -> bool:
        """The same for bytes in memory. Of a packed file only the beginning is looked at: unpacking it all is slow."""
        try:
            if self.read_at(0, len(head)) != head:
                return False
        except DAMAGED:
            return False
        return self.packed or self.read_at(end - len(before), len(before)) == before

    def close(self) -> None:
        with self._lock:
            descriptor, self._descriptor = self._descriptor, -1
            self._stream = None
            if descriptor >= 0:
                # Linux has let go of the number even if this fails; closing again could hit another's.
                with contextlib.suppress(OSError):
                    os.close(descriptor)

    def _held(self) -> int:
        if self._descriptor < 0:
            raise OSError(errno.EBADF, "closed")
        return self._descriptor

    def _pread(self, offset: int, count: int) -> bytes:
        with self._lock:
            return os.pread(self._held(), count, offset)

    def _unpack(self, offset: int, count: int) -> bytes:
        stream = self._stream
        try:
            if stream is None or stream.tell() > offset:
                stream = cast(BinaryIO, PACKED[self._packing](io.BufferedReader(_Raw(self)), "rb"))
            stream.seek(offset)
            data = stream.read(count)
        except BaseException as error:
            self._stream = None  # begin again next time
            if isinstance(error, OSError) and error.errno is None:  # how bz2 says that it is damaged
                raise EOFError from None
            raise
        self._stream = stream
        return data


class _Raw(io.RawIOBase):
    """The packed bytes of an `OpenFile`, read from its beginning."""

    def __init__(self, file: OpenFile) -> None:
        self._file, self._at = file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + (0 if whence == os.SEEK_SET else self._at)  # nobody asks from the end
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        data = self._file._pread(self._at, len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)
