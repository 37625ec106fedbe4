"""Who is who, without keeping names."""

from __future__ import annotations

import secrets  # keys of hashes, not for privacy
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter

_KNOWN = ("person", "agent")


class Identity:
    """Turns the columns that name a person or a session into two 64-bit hashes.

    Names are never kept: the seeds are drawn anew in each process and never leave it, so a dump of the state does not
    tell an address, and nobody outside can craft a name that collides with another's. Two hashes together make a
    mistaken identity a matter of 2^-128 a pair.

    >>> first, second = Identity(("person", "agent")).of(pl.DataFrame({"person": ["a", "a"], "agent": ["x", "y"]}))
    >>> bool(first[0] == first[1])
    False
    """

    def __init__(self, columns: Sequence[str] = ("person",)) -> None:
        if "person" not in columns or not set(columns) <= set(_KNOWN) or isinstance(columns, str):
            raise InvalidParameter(
                f"`identify` names the columns that tell sessions apart; got {columns!r}.",
                'Use ("person",) for ids, ("person", "agent") for a host and its browser.',
            )
        self.columns = tuple(dict.fromkeys(columns))
        # Not noise: these keys only have to be unknown to whoever writes the events.
        self._seeds = [(secrets.randbits(63), secrets.randbits(63)) for _ in self.columns]

    def of(self, events: pl.DataFrame) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        first = np.zeros(events.height, np.uint64)
        second = np.zeros(events.height, np.uint64)
        for name, (one, two) in zip(self.columns, self._seeds, strict=True):
            # A column that is not there is empty in every row: who somebody is must not depend on the rows beside.
            column = events.get_column(name) if name in events.columns else pl.Series([None], dtype=pl.String)
            # A sum of keyed hashes of the parts collides no more often than one hash of the whole.
            first += column.hash(one).to_numpy()
            second += column.hash(two).to_numpy()
        return first, second
