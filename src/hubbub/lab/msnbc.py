"""The anonymous web data of msnbc.com, 28 September 1999 (UCI Machine Learning Repository)."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

import numpy as np

from hubbub.errors import InvalidInput
from hubbub.lab.data import find
from hubbub.models.sessions import Sessions
from hubbub.released import Keys

FILE = "msnbc/msnbc990928.seq.gz"


@lru_cache(maxsize=1)
def msnbc() -> Sessions:
    """All 989,818 sessions over 17 page categories."""
    return read_msnbc(find(FILE))


def read_msnbc(path: Path) -> Sessions:
    """Sessions in msnbc's format, plain or gzip: comments in `%`, a line of names, a line of numbers per session."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    lines = [line for line in data.split(b"\n") if line.strip() and not line.startswith(b"%")]
    if len(lines) < 2:
        raise InvalidInput(f"{path.name} holds no sessions.", "Expected a line of key names, then numbers from 1 on.")
    keys = Keys(lines[0].decode("utf-8", "replace").split())
    bounds = np.concatenate([[0], np.cumsum([len(line.split()) for line in lines[1:]])]).astype(np.int64)
    try:
        visits = np.array(b" ".join(lines[1:]).split(), dtype=np.int64)
    except ValueError:
        raise InvalidInput(
            f"{path.name} holds a visit that is not a number.", "Visits are numbers from 1 on."
        ) from None
    if visits.min() < 1 or visits.max() > len(keys):
        raise InvalidInput(
            f"{path.name} holds a visit to a key that has no name (the file names {len(keys)}).",
            "Visits are numbers from 1 on, into the line of names.",
        )
    return Sessions(keys, (visits - 1).astype(np.int32), bounds)
