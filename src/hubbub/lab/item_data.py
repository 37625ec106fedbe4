"""Public and simulated data as item logs."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hubbub.itemlogs import ItemLog
from hubbub.lab.data import find
from hubbub.lab.msnbc import msnbc

KOSARAK = "kosarak_head/kosarak_head36k.dat.gz"


@lru_cache(maxsize=1)
def kosarak_log() -> ItemLog:
    """The first 36,682 visitors of a news portal; an item is a link that they followed."""
    return read_transactions(find(KOSARAK))


def read_transactions(path: Path) -> ItemLog:
    """One user a line, items as whole numbers; plain or gzip."""
    data = path.read_bytes()
    lines = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).split(b"\n")
    rows = [line.split() for line in lines if line.strip()]
    users = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    return packed(users, np.array([int(word) for row in rows for word in row], dtype=np.int64))


@lru_cache(maxsize=1)
def msnbc_log() -> ItemLog:
    """All 989,818 sessions of msnbc.com; an item is one of 17 categories that a session visits."""
    sessions = msnbc()
    return packed(np.repeat(np.arange(len(sessions)), sessions.lengths), sessions.visits.astype(np.int64))


@lru_cache(maxsize=4)
def search_log(
    users: int = 50_000, words: int = 200_000, mean: int = 15, exponent: float = 1.05, seed: int = 1
) -> ItemLog:
    """A simulated search log: word r is typed with a chance proportional to r^-exponent, numbers of words a user are
    geometric."""
    random = np.random.default_rng(seed)
    degrees = random.geometric(1 / mean, users)
    chances = np.cumsum(np.arange(1, words + 1) ** -exponent)
    items = np.searchsorted(chances / chances[-1], random.random(int(degrees.sum())))
    return packed(np.repeat(np.arange(users), degrees), items.astype(np.int64))


def packed(users: NDArray[np.int64], items: NDArray[np.int64]) -> ItemLog:
    """Every pair once; items are called by their numbers."""
    names, codes = np.unique(items, return_inverse=True)
    pairs = np.unique(users.astype(np.uint64) << np.uint64(32) | codes.astype(np.uint64))
    return ItemLog.from_codes(
        (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32), [str(name) for name in names]
    )


LOGS: dict[str, Callable[[], ItemLog]] = {
    "kosarak_head": kosarak_log,
    "msnbc": msnbc_log,
    "search log, 15 words a user": search_log,
    "search log, 2 words a user": lambda: search_log(mean=2),
    "search log, 1 word a user": lambda: search_log(mean=1),
}
"""What the methods are compared on."""
