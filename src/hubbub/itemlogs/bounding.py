"""At most so many items a user: which ones is decided for each user alone.

Arrays of pairs are sorted by user. Nothing here looks at more than one user's pairs and at what was released before.
Proof: docs/proofs/itemlogs.md, section 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.noise import Lottery

Pairs = tuple[NDArray[np.uint32], NDArray[np.uint32]]
"""Users and items, place by place."""

Keys = tuple[NDArray[Any], ...]
"""What pairs are ordered by, as for `numpy.lexsort`: the last decides first."""

AT_A_TIME = 1 << 17
"""Users whose items are compared at once."""


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
        return low, high, -scores[items[places]]  # far from the smallest number, which has no negative

    return _first(pairs, limit, keys)


def joined(users: NDArray[np.uint32], items: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Each pair as one word."""
    return users.astype(np.uint64) << np.uint64(32) | items.astype(np.uint64)


def distinct(parts: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Every word of the parts once, sorted; by sorting, which is several times faster here than NumPy's own way."""
    words = np.concatenate(parts)
    words.sort()
    new = np.ones(len(words), dtype=np.bool_)
    np.not_equal(words[1:], words[:-1], out=new[1:])
    return words[new]


def _first(pairs: Pairs, limit: int, keys: Callable[[NDArray[np.intp]], Keys]) -> Pairs:
    """The first `limit` pairs of each user in the order of `keys`, which are asked for where there is a choice only."""
    users, items = pairs
    degrees = np.bincount(users)
    crowded = np.flatnonzero(degrees > limit)
    if not len(crowded):
        return pairs
    begins = np.cumsum(degrees) - degrees
    keep = np.ones(len(users), dtype=np.bool_)
    for owners in _by_degree(crowded, degrees[crowded]):
        width = int(degrees[owners[0]])
        places = begins[owners][:, None] + np.arange(width)  # one line a user
        order = keys(places.ravel())
        leading = order[-1].reshape(places.shape)
        last = np.partition(leading, limit - 1, axis=1)[:, limit - 1 : limit]
        kept = leading <= last
        for row in np.flatnonzero(np.count_nonzero(kept, axis=1) != limit):  # equal ones: the other keys decide
            mine = [key.reshape(places.shape)[row] for key in order]
            kept[row] = False
            kept[row, np.lexsort(mine)[:limit]] = True
        keep[places] = kept
    return users[keep], items[keep]


def _by_degree(owners: NDArray[np.intp], degrees: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """The users in groups that have equally many items, not too many at a time."""
    order = np.argsort(degrees, kind="stable")
    ordered = degrees[order]
    borders = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    for group in np.split(owners[order], borders):
        yield from np.array_split(group, -(-len(group) // AT_A_TIME))
