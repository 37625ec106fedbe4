"""Every system call of the spool stands here, and nowhere else: so a test can let each of them fail, one by one."""

from __future__ import annotations

import fcntl
import os

READ = os.O_RDONLY
CREATE = os.O_RDWR | os.O_CREAT | os.O_TRUNC
CHANGE = os.O_RDWR
TOUCH = os.O_RDWR | os.O_CREAT
FOLDER = os.O_RDONLY | os.O_DIRECTORY


def open_file(name: str, flags: int, within: int | None = None) -> int:
    return os.open(name, flags | os.O_CLOEXEC, 0o600, dir_fd=within)


def close(number: int) -> None:
    os.close(number)


def write(number: int, data: memoryview, offset: int) -> int:
    return os.pwrite(number, data, offset)


def read(number: int, size: int, offset: int) -> bytes:
    return os.pread(number, size, offset)


def sync(number: int) -> None:
    os.fsync(number)


def truncate(number: int, size: int) -> None:
    os.ftruncate(number, size)


def status(number: int) -> os.stat_result:
    return os.fstat(number)


def rename(old: str, new: str, within: int) -> None:
    os.rename(old, new, src_dir_fd=within, dst_dir_fd=within)


def unlink(name: str, within: int) -> None:
    os.unlink(name, dir_fd=within)


def names(within: int) -> list[str]:
    return os.listdir(within)


def exists(name: str) -> bool:
    return os.path.lexists(name)


def make_folder(name: str) -> None:
    os.makedirs(name, mode=0o700, exist_ok=True)


def protect(number: int, mode: int) -> None:
    os.fchmod(number, mode)


def lock(number: int) -> None:
    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
