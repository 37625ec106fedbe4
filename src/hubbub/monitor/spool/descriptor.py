"""A file descriptor that cannot outlive its file."""

from __future__ import annotations

import errno
from types import TracebackType

from hubbub.monitor.spool import calls


class Descriptor:
    """Owns one number of the process's open files. Whoever closes it forgets the number in the same breath.

    The kernel gives the numbers of closed files away again, to a viewer's connection for instance. A number that was
    kept would then write raw events into it. So there is no way to the number but through this object, and after
    `close` every call fails here, before it reaches the kernel.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Descriptor.open(folder, calls.FOLDER) as file: pass
    >>> file.sync()
    Traceback (most recent call last):
    OSError: [Errno 9] The file is closed.
    """

    def __init__(self, number: int) -> None:
        self._number: int | None = number

    @classmethod
    def open(cls, name: str, flags: int, within: Descriptor | None = None) -> Descriptor:
        return cls(calls.open_file(name, flags, None if within is None else within.number))

    @property
    def number(self) -> int:
        if self._number is None:
            raise OSError(errno.EBADF, "The file is closed.")
        return self._number

    def write(self, data: bytes, offset: int) -> None:
        """All of it; the kernel may take it in pieces."""
        left = memoryview(data)
        while left:
            try:
                taken = calls.write(self.number, left, offset)
            except InterruptedError:
                continue
            left, offset = left[taken:], offset + taken

    def read(self, size: int, offset: int) -> bytes:
        """`size` bytes, or fewer where the file ends before."""
        pieces = []
        while size > 0 and (piece := calls.read(self.number, size, offset)):
            pieces.append(piece)
            size, offset = size - len(piece), offset + len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def sync(self) -> None:
        calls.sync(self.number)

    def truncate(self, size: int) -> None:
        calls.truncate(self.number, size)

    @property
    def size(self) -> int:
        return calls.status(self.number).st_size

    @property
    def has_a_name(self) -> bool:
        """False once somebody deleted the file: what is written to it then is gone with this process."""
        return calls.status(self.number).st_nlink > 0

    def close(self) -> None:
        """Closing twice does no harm. An error is of no account: what must be on disk was synced before, and
        the kernel has let go of the number in any case."""
        number, self._number = self._number, None
        if number is not None:
            try:
                calls.close(number)
            except OSError:
                return

    def __enter__(self) -> Descriptor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
