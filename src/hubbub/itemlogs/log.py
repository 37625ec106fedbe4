"""A log as pairs of numbers: who has which item, each pair once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Confidential
from hubbub.confidential.sealed import Sealed
from hubbub.errors import InvalidInput
from hubbub.itemlogs.bounding import joined


@dataclass(frozen=True, eq=False)
class ItemLog(Sealed):
    """Confidential pairs of user and item: numbers in place of names, sorted by user, no pair twice.

    Made by `read_items`. How many users, items and pairs there are is confidential too: it prints none of it.

    >>> ItemLog.of([("ann", "flu"), ("bob", "flu"), ("ann", "flu")])
    <an item log, confidential>
    """

    users: Confidential[NDArray[np.uint32]] = field(repr=False)
    items: Confidential[NDArray[np.uint32]] = field(repr=False)
    labels: Confidential[Sequence[str]] = field(repr=False)

    def __post_init__(self) -> None:
        # A pair twice would count twice, and bounds are enforced user by user: nothing here is taken on trust.
        users, items, labels = self.users.reveal(), self.items.reveal(), self.labels.reveal()
        words = joined(users, items)
        if np.any(words[1:] <= words[:-1]) or (len(items) and int(items.max()) >= len(labels)):
            raise InvalidInput(
                "The pairs of an item log must be different, sorted by user and item, and every item must have a name.",
                "Make a log with `read_items`.",
            )

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> ItemLog:
        """A small log from pairs of names, for tests and examples."""
        users = {name: code for code, name in enumerate(dict.fromkeys(user for user, _ in pairs))}
        items = {name: code for code, name in enumerate(dict.fromkeys(item for _, item in pairs))}
        codes = sorted({(users[user], items[item]) for user, item in pairs})
        return cls.from_codes(
            np.array([user for user, _ in codes], dtype=np.uint32),
            np.array([item for _, item in codes], dtype=np.uint32),
            list(items),
        )

    @classmethod
    def from_codes(cls, users: NDArray[np.uint32], items: NDArray[np.uint32], labels: Sequence[str]) -> ItemLog:
        """Pairs that are different, and sorted by user and item."""
        return cls(Confidential(users), Confidential(items), Confidential(labels))

    def __repr__(self) -> str:
        return "<an item log, confidential>"
