"""A log made up from a published list: nobody is in it."""

from __future__ import annotations

import numpy as np

from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.itemlogs.bounding import distinct, joined
from hubbub.itemlogs.log import ItemLog
from hubbub.itemlogs.published import Published

MOST = 20_000_000
"""Users that are made up at most: each of them takes memory."""


def made_up_log(published: Published, users: int, seed: int = 7) -> ItemLog:
    """`users` users; of each item as many have it as the list says, whoever chance picks.

    >>> from hubbub.itemlogs.publishing import publish_items
    >>> log = {"user": [f"u{i}" for i in range(900)], "item": ["weather", "news", "flu"] * 300}
    >>> made_up_log(publish_items(log, epsilon=1, delta="1e-6", max_items=1), 900)
    <an item log, confidential>
    """
    whole(users, "users", "It is a public number: how many users the log will have.")
    if users > MOST:
        raise InvalidParameter(
            f"`users` must be at most {MOST:,} for a plan; got {users:,}.",
            "Plan with fewer: how many more people an item needs does not depend on it.",
        )
    if published.counts is None:
        raise InvalidParameter("The list has no counts.", "Take one that was published with counts.")
    if not len(published):
        raise InvalidParameter("The list is empty: there is nothing to try on.", "Take a public log.")
    random = np.random.default_rng(seed)  # not for privacy: nobody is in a made-up log
    words = [
        joined(random.choice(users, min(max(int(count), 1), users), replace=False).astype(np.uint32), _same(item))
        for item, count in enumerate(published.counts)
    ]
    pairs = distinct(words)
    return ItemLog.from_codes(
        (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32), list(published.items)
    )


def _same(item: int) -> np.ndarray:
    return np.array([item], dtype=np.uint32)
