"""Every file that is written for a user: whole or not at all, never over what it was made from, nor over a store."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from hubbub.errors import InvalidInput

_SQLITE = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")


def check_output(path: Path, inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse a place for a file before any work is done: what is there must not be lost, or cannot be replaced.

    `inputs` are what is read; the same file under another name (a link, another spelling) is the same file.
    """
    for source in inputs:
        if source is not None and _same(path, Path(source)):
            raise InvalidInput(
                f"{path} is the file that is read: writing there would destroy it.", "Choose another place."
            )  # fmt: skip
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        if not path.parent.is_dir():
            raise cannot_write(path, error) from None
        return
    except OSError as error:
        raise cannot_write(path, error) from None
    if not stat.S_ISREG(mode):
        raise InvalidInput(
            f"{path} cannot be written: it is no regular file but a folder, a pipe or a device.",
            "Give the name of a file; what is there is left as it is.",
        )
    if any(_is_database(place) for place in (path, path.resolve())):
        raise InvalidInput(
            f"{path} is a database (SQLite) or belongs to one: what it holds, perhaps a ledger, would be lost.",
            "Choose another place. If it is not needed any more, delete it yourself.",
        )


@contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file that takes its place when the block ends without an error; until then, what was there stays.

    A link is followed, and a file that is replaced hands on its permissions.
    """
    check_output(path)
    target = path.resolve()
    draft = target.with_name(f".{target.name[:100]}-{uuid.uuid4().hex}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
            if mode == 0o666 and target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_output(path)  # a store may have come to lie there since
        os.replace(draft, target)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        with suppress(OSError):
            draft.unlink()


def write_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """The whole content in one go; see `whole_file`."""
    with whole_file(path, mode) as file:
        file.write(content)


def cannot_write(path: Path, error: OSError) -> InvalidInput:
    return InvalidInput(f"{path} cannot be written: {error.strerror}.", "Choose another place.")


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there: it may be made on the way
        return one.resolve() == other.resolve()


def _is_database(path: Path) -> bool:
    """Whether it is one by its first bytes, or by its name a file that SQLite keeps beside one."""
    for end in _BESIDE:
        if path.name.endswith(end) and _starts_as_database(path.with_name(path.name.removesuffix(end))):
            return True
    return _starts_as_database(path)


def _starts_as_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False
