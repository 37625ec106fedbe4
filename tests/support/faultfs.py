"""Builds the preloaded file system of `faultfs.c`, and speaks to it from within a process that runs on it."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("faultfs.c")

GIVES = {
    "open": ("ENOSPC", "EMFILE", "EIO", "EINTR", "EACCES"),
    "read": ("EIO", "EINTR"),
    "write": ("ENOSPC", "EIO", "EINTR", "short"),
    "fsync": ("ENOSPC", "EIO", "EINTR"),
    "truncate": ("ENOSPC", "EIO", "EINTR"),
    "unlink": ("EIO", "EACCES"),
    "rename": ("ENOSPC", "EIO", "EACCES"),
    "mmap": ("ENOMEM", "EMFILE"),
    "lock": ("ENOLCK", "EIO", "EINTR"),
    "stat": ("EIO", "EACCES"),
    "chmod": ("EIO", "EACCES"),
    "mkdir": ("ENOSPC", "EIO", "EACCES"),
}
"""Each kind of call, and the errors that it can give."""

KINDS = tuple(GIVES)

ERRORS = {
    "ENOSPC": errno.ENOSPC,  # the disk is full, or has no inodes left
    "EMFILE": errno.EMFILE,  # the process has too many files open
    "EIO": errno.EIO,  # the disk is broken
    "EINTR": errno.EINTR,  # a signal came
    "EACCES": errno.EACCES,
    "ENOLCK": errno.ENOLCK,
    "ENOMEM": errno.ENOMEM,
    "short": 0,  # a write that writes half
}


def build() -> Path:
    """The compiled library; a RuntimeError where there is no compiler. Made once for each version of its source."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise RuntimeError("there is no C compiler: install gcc and libc6-dev")
    name = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    made = Path(tempfile.gettempdir()) / f"hubbub-faultfs-{os.getuid()}-{name}.so"
    if not made.exists():
        draft = made.with_suffix(f".{os.getpid()}")
        command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(draft), str(SOURCE), "-ldl", "-pthread"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the compiler says: {done.stderr[-2000:]}")
        os.replace(draft, made)
    return made


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """What a process needs to run on it: `FAULTFS_ARM="write 3 28 1"`, `FAULTFS_LOG=…`, `FAULTFS_READONLY=1`."""
    return {**os.environ, "LD_PRELOAD": str(build()), "FAULTFS_FOLDER": str(folder), **settings}


class FaultFs:
    """The library that this process was started with. Its state is the process's own, and is copied by a fork."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None)
        try:
            self._arm, self._disarm = library.faultfs_arm, library.faultfs_disarm
        except AttributeError:
            raise RuntimeError("this process does not run on the faulty file system: see `environment`") from None
        self._library = library
        library.faultfs_hits.restype = library.faultfs_seen.restype = ctypes.c_long
        self._arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_long]

    def watch(self, folder: Path) -> None:
        """From now on this folder is the faulty one."""
        self._library.faultfs_watch(os.fsencode(folder))

    def arm(self, kind: str, nth: int, error: int, times: int = 1) -> None:
        """The `nth` call of `kind` from now fails with `error`, `times` times; -1: from then on, always."""
        if self._arm(kind.encode(), nth, error, times):
            raise ValueError(kind)

    def disarm(self) -> None:
        self._disarm()

    def hits(self) -> int:
        """How many calls have failed since it was disarmed."""
        return int(self._library.faultfs_hits())

    def seen(self, kind: str) -> int:
        """How many calls of `kind` were seen since it was armed or disarmed."""
        return int(self._library.faultfs_seen(kind.encode()))

    def read_only(self, on: bool) -> None:
        self._library.faultfs_readonly(int(on))

    def log(self, path: Path) -> None:
        """Write every change and every flush to this file, which must not lie in the watched folder."""
        if self._library.faultfs_log(os.fsencode(path)):
            raise OSError(f"cannot write {path}")

    def note(self, text: str) -> None:
        """Put a word into the log, at this place in the order of things."""
        self._library.faultfs_note(text.encode())
