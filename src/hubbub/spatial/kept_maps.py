"""What is computed once a map and kept on this machine, so that the next process finds it ready."""

from __future__ import annotations

import hashlib
import os
import secrets  # not for privacy: a free name for a draft
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import StoreUnavailable
from hubbub.state import state_folder

Array = NDArray[np.float64]
_SUM = hashlib.sha256().digest_size


def kept(name: str, size: int, make: Callable[[], Array]) -> Array:
    """What `make` gives, `size` numbers, from the file of an earlier process if it is there and whole.

    `name` must say everything that the numbers follow from. A file that was cut short, damaged or cannot be written
    is as if it were not there: it saves time, and nothing rests on it. What is in it follows from a public map alone.
    """
    path = _path(name)
    found = None if path is None else _read(path, size)
    if found is None:
        found = np.ascontiguousarray(make(), dtype="<f8")
        if path is not None:
            _write(path, found)
    return found


def _path(name: str) -> Path | None:
    try:
        return state_folder() / "maps" / f"{name}.sums"
    except StoreUnavailable:  # a user without a home: everything is computed again
        return None


def _read(path: Path, size: int) -> Array | None:
    try:
        written = path.read_bytes()
    except OSError:
        return None
    whole, numbers = written[:_SUM], written[_SUM:]
    if len(numbers) != 8 * size or hashlib.sha256(numbers).digest() != whole:
        return None
    return np.frombuffer(numbers, dtype="<f8").astype(np.float64)


def _write(path: Path, numbers: Array) -> None:
    """Whole or not at all: two processes at once write the same, and a reader never sees half of it."""
    draft = path.with_name(f"{path.name}-{secrets.token_hex(8)}")  # not for privacy: a free name
    content = numbers.tobytes()
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            draft.write_bytes(hashlib.sha256(content).digest() + content)
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
