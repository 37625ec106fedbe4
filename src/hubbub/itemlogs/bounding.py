"""At most so many items a user: which ones is decided for each user alone.

Arrays of pairs are sorted by user. Nothing here looks at more than one user's pairs and at what was released before.
Proof: docs/proofs/itemlogs.md, section 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hubbub.noise import Lottery

Pairs = tuple[NDArray[np.uint32], NDArray[np.uint32]]
"""Users and items, place by place."""

Keys = tuple[NDArray[np.generic], ...]
"""What pairs are ordered by, as for `numpy.lexsort`: the last decides first."""


def at_random(pairs: Pairs, limit: int, lottery: Lottery) -> Pairs:
    """At most `limit` items of each user, chosen uniformly by their tickets.

    >>> users = np.zeros(50, dtype=np.uint32)
    >>> kept = at_random((users, np.arange(50, dtype=np.uint32)), 3, Lottery())
    >>> len(kept[1]), len(set(kept[1].tolist()))
    (3, 3)
    """
    users, items = pairs

    def keys(places: NDArray[np.intp]) -> Keys:
        high, low = lottery.tickets(joined(users[places], items[places]))
        return low, high

    return _first(pairs, limit, keys)


def by_score(pairs: Pairs, limit: int, scores: NDArray[np.int64], lottery: Lottery) -> Pairs:
    """At most `limit` items of each user, those with the highest `scores` (one for each item); equal ones by ticket."""
    users, items = pairs

    def keys(places: NDArray[np.intp]) -> Keys:
        high, low = lottery.tickets(joined(users[places], items[places]))
        return low, high, -scores[items[places]]

    return _first(pairs, limit, keys)


def joined(users: NDArray[np.uint32], items: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Each pair as one word."""
    return users.astype(np.uint64) << np.uint64(32) | items.astype(np.uint64)


def _first(pairs: Pairs, limit: int, keys: Callable[[NDArray[np.intp]], Keys]) -> Pairs:
    """The first `limit` pairs of each user in the order of `keys`, which are asked for where there is a choice only."""
    users, items = pairs
    if not len(users):
        return pairs
    degrees = np.bincount(users)
    crowded = degrees > limit
    places = np.flatnonzero(crowded[users])
    if not len(places):
        return pairs
    order = np.lexsort((*keys(places), users[places]))
    ordered = places[order]
    mine = users[ordered]
    begins = np.flatnonzero(np.concatenate(([True], mine[1:] != mine[:-1])))
    ranks = np.arange(len(mine)) - np.repeat(begins, np.diff(np.append(begins, len(mine))))
    keep = np.ones(len(users), dtype=np.bool_)
    keep[ordered[ranks >= limit]] = False
    return users[keep], items[keep]
