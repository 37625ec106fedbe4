"""Which machine this is, as far as its files are concerned."""

from __future__ import annotations

import os
import re
import uuid
from contextlib import suppress
from pathlib import Path

from hubbub.errors import StoreUnavailable
from hubbub.state import state_folder

_NAME = re.compile(r"[0-9a-f]{32}")


def machine_name(folder: Path | None = None) -> str:
    """A random name that was given to this machine once, and is kept in its state folder.

    Offsets in a log mean something on the machine that has the log. A host name would do less well: containers get a
    new one at every start, and two machines may share one. A name that a power cut has damaged is not mended but
    replaced by another: then nothing is proved that was written under the old one.
    """
    path = (folder or state_folder()) / "machine"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = _read(path)
        if found is None:
            _make(path)
            found = _read(path)
        if found is None or not _NAME.fullmatch(found):
            _make(path, replacing=True)
            found = path.read_text()
        return found
    except OSError as error:
        raise StoreUnavailable(
            f"The name of this machine cannot be kept in {path.parent}: {error.strerror}.",
            "Make the folder writable for this user, or set HUBBUB_STATE to another one.",
        ) from None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except FileNotFoundError:
        return None


def _make(path: Path, *, replacing: bool = False) -> None:
    """A file that is whole or not there at all, also after a power cut; of two processes at once the first wins."""
    draft = path.with_name(f"machine-{uuid.uuid4().hex}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, uuid.uuid4().hex.encode())
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
