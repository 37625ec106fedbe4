"""Where this machine keeps what must not lie in a store."""

from __future__ import annotations

import os
import re
import secrets  # not for privacy: names and keys, no noise
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hubbub.errors import StoreUnavailable


def state_folder() -> Path:
    """`$HUBBUB_STATE`, else `$XDG_STATE_HOME/hubbub`, else `~/.local/state/hubbub`.

    It holds this machine's name, the key with which places in its files are sealed, and the marks that tell whether a
    store, or a round of gathering, was set back; so it must outlive
    the process, and must not be part of any backup of these.
    """
    if own := os.environ.get("HUBBUB_STATE"):
        return Path(own)
    if shared := os.environ.get("XDG_STATE_HOME"):
        return Path(shared) / "hubbub"
    try:
        return Path.home() / ".local" / "state" / "hubbub"
    except RuntimeError:
        raise StoreUnavailable(
            "This user has no home, so there is no place for marks, which tell whether a store was set back.",
            "Set HUBBUB_STATE to a folder that outlives the process and is not part of the store's backups.",
        ) from None


def kept_word(name: str, digits: int, folder: Path | None = None) -> str:
    """A random word of hexadecimal digits that is made once on this machine, kept in its state folder, and stays.

    A word that a power cut has damaged is not mended but replaced by another: then nothing is proved, and nothing can
    be read, that was written under the old one.
    """
    path = (folder or state_folder()) / name
    with _trouble(path.parent):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = _read(path)
        if found is None:
            _make(path, _word(digits))
            found = _read(path)
        if found is None or not re.fullmatch(f"[0-9a-f]{{{digits}}}", found):
            _make(path, _word(digits), replacing=True)
            found = path.read_text()
        return found


def kept_once(name: str, content: bytes, folder: Path) -> bytes:
    """What was kept first under this name, in this process or another: `content`, or what was there before it.

    It is durable when this returns, and it is never replaced.
    """
    path = folder / name
    with _trouble(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make(path, content)
        return path.read_bytes()


def kept(name: str, folder: Path) -> bytes | None:
    """What `kept_once` has kept; None if there is nothing."""
    with _trouble(folder):
        try:
            return (folder / name).read_bytes()
        except FileNotFoundError:
            return None


@contextmanager
def _trouble(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"What this machine keeps for itself cannot be kept in {folder}: {error.strerror}.",
            "Make the folder writable for this user, or set HUBBUB_STATE to another one.",
        ) from None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except FileNotFoundError:
        return None


def _word(digits: int) -> bytes:
    return secrets.token_hex(digits // 2).encode()  # not for privacy: a word that stays


def _make(path: Path, content: bytes, *, replacing: bool = False) -> None:
    """A file that is whole or not there at all, also after a power cut; of two processes at once the first wins."""
    draft = path.with_name(f"{path.name}-{secrets.token_hex(16)}")  # not for privacy: a free name
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, content)
        os.fsync(file)
    finally:
        os.close(file)
    try:
        if replacing:
            os.replace(draft, path)
        else:
            with suppress(FileExistsError):
                os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
