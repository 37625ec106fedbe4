"""How users divide one weight among their items, in whole numbers.

| symbol | name here | meaning |
|---|---|---|
| G | `UNIT` | the whole weight of a user: no user's weights have a length above G |
| d | degree | how many items the user picked |

Everything here is done for each user alone, given what was released before. Proof: docs/proofs/itemlogs.md, section 4.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from hubbub.itemlogs.bounding import Pairs, at_random, by_score
from hubbub.itemlogs.thresholds import UNIT
from hubbub.noise import Lottery


def weigh(pairs: Pairs, items: int, max_items: int) -> NDArray[np.int64]:
    """The weight of every item: a user who picked d <= `max_items` items gives each floor(G/sqrt(d)).

    d floor(G/sqrt(d))^2 <= G^2, so that the rounding never makes a user's weights longer. Sums are below 2^53 for
    8 billion users, and exact.

    >>> weigh((np.array([0, 0, 1], dtype=np.uint32), np.array([0, 1, 1], dtype=np.uint32)), 3, 2).tolist()
    [741455, 1790031, 0]
    """
    users, codes = pairs
    if not len(users):
        return np.zeros(items, dtype=np.int64)
    shares = np.array([0, *(isqrt(UNIT * UNIT // d) for d in range(1, max_items + 1))], dtype=np.float64)
    per_user = shares[np.bincount(users)]
    return np.bincount(codes, weights=per_user[users], minlength=items).astype(np.int64)


def picks(pairs: Pairs, limit: int, lottery: Lottery) -> Pairs:
    """What each user gives weight to when nothing is known yet: at most `limit` items, by lot."""
    return at_random(pairs, limit, lottery)


def picks_again(
    pairs: Pairs, limit: int, lottery: Lottery, scores: NDArray[np.int64], unlisted: NDArray[np.bool_], cut: int
) -> Pairs:
    """What each user gives weight to after a first round: at most `limit` items that are `unlisted` (not published
    yet) and have a score above `cut`, the highest first. Who has none gives all to the best of the rest.
    """
    users, codes = pairs
    left = unlisted[codes]
    users, codes = users[left], codes[left]
    good = scores[codes] > cut
    hopeful = np.zeros(int(users[-1]) + 1 if len(users) else 0, dtype=np.bool_)
    hopeful[users[good]] = True
    best = by_score((users[good], codes[good]), limit, scores, lottery)
    rest = ~hopeful[users]
    last = by_score((users[rest], codes[rest]), 1, scores, lottery)
    return np.concatenate((best[0], last[0])), np.concatenate((best[1], last[1]))
