"""A simulated search log: users, sessions, queries of up to three keywords, clicks, and queries typed in a row.

| what | how it is made |
|---|---|
| keywords | word r with a chance proportional to 1/(r + 10), as in the law of Zipf and Mandelbrot |
| queries | most are typed again and again (query r with a chance proportional to 1/(r + 10)), one in five is new |
| sessions | of a user: geometric, 13 on average; after a query, another follows in a third of all cases |
| a query that follows | one keyword is replaced by a relative: word w by w xor j, j from 1 to 7, often small |
| clicks | in two of three cases one of the ten results of the query, the first ones more often |
| documents | that hold word r: 4 million/sqrt(r), times what chance makes of it |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hubbub.itemlogs import ItemLog
from hubbub.lab.item_data import packed

Ints = NDArray[np.int64]

NONE = -1
"""In a query of fewer than three keywords, the places that are left."""

MEMBERS = 3
_BITS = 20
SESSIONS, AGAIN, CLICKED, FRESH = 13, 1 / 3, 2 / 3, 0.2
DOCUMENTS = 4_000_000


@dataclass(frozen=True, eq=False)
class SearchLog:
    """One row for each query that was typed: who, which query, whether it followed the row before; and clicks.

    A query is a number; `words[query]` are its keywords. `documents[word]` is how many documents hold the word.
    """

    users: Ints
    queries: Ints
    follows: NDArray[np.bool_]
    click_users: Ints
    clicks: Ints
    words: Ints
    documents: Ints

    @property
    def keyword_rows(self) -> tuple[Ints, Ints]:
        """Users and keywords, one row for each keyword of each query that was typed."""
        found = self.words[self.queries]
        there = found != NONE
        return np.repeat(self.users, there.sum(axis=1)), found[there]

    @property
    def pair_rows(self) -> tuple[Ints, Ints]:
        """Users and pairs of queries in a row: first query * number of queries + second query."""
        second = np.flatnonzero(self.follows)
        return self.users[second], self.queries[second - 1] * len(self.words) + self.queries[second]

    def item_logs(self) -> dict[str, ItemLog]:
        """What may be published of it; items are called by their numbers."""
        return {
            "keywords": packed(*self.keyword_rows),
            "queries": packed(self.users, self.queries),
            "clicks": packed(self.click_users, self.clicks),
            "query pairs": packed(*self.pair_rows),
        }

    def anonymous(self, k: int) -> SearchLog:
        """Without all queries that fewer than k users typed (Adar 2007); and without clicks, which that has not."""
        once = once_each(self.users, self.queries)
        stays = np.bincount(once, minlength=len(self.words))[self.queries] >= k
        follows = self.follows & stays & np.roll(stays, 1)
        none = np.empty(0, dtype=np.int64)
        return SearchLog(
            self.users[stays], self.queries[stays], follows[stays], none, none, self.words, self.documents
        )  # fmt: skip


def once_each(users: Ints, items: Ints) -> Ints:
    """The item of each different pair of user and item, sorted."""
    many = int(users.max(initial=0)) + 1
    return np.unique(items * many + users) // many


@lru_cache(maxsize=2)
def simulated_search_log(
    users: int = 50_000, vocabulary: int = 200_000, popular: int = 200_000, seed: int = 1
) -> SearchLog:
    """The log of that many users; the same for the same seed."""
    random = np.random.default_rng(seed)
    sessions = random.geometric(1 / SESSIONS, users)
    lengths = random.geometric(1 - AGAIN, int(sessions.sum()))
    owners = np.repeat(np.repeat(np.arange(users), sessions), lengths)
    starts = np.cumsum(lengths) - lengths
    known = _made(random, popular, vocabulary)
    first = known[_zipf(random, len(lengths), popular)]
    new = random.random(len(lengths)) < FRESH
    first[new] = _made(random, int(new.sum()), vocabulary)
    typed = np.empty((len(owners), MEMBERS), dtype=np.int64)
    typed[starts] = first
    follows = np.ones(len(owners), dtype=np.bool_)
    follows[starts] = False
    for step in range(1, int(lengths.max())):
        later = starts[lengths > step] + step
        typed[later] = _rephrased(random, typed[later - 1], vocabulary)
    codes = _codes(typed)
    names, queries = np.unique(codes, return_inverse=True)
    clicked = random.random(len(owners)) < CLICKED
    result = np.minimum(random.geometric(0.5, int(clicked.sum())), 10) - 1
    documents = DOCUMENTS / np.sqrt(np.arange(1, vocabulary + 1)) * random.lognormal(0, 1, vocabulary)
    return SearchLog(
        owners,
        queries,
        follows,
        owners[clicked],
        queries[clicked] * 10 + result,
        _words(names),
        np.maximum(documents, 1).astype(np.int64),
    )


def _zipf(random: np.random.Generator, size: int, among: int) -> Ints:
    """Numbers below `among`, r with a chance proportional to 1/(r + 10)."""
    chances = np.cumsum(1 / np.arange(10, among + 10))
    return np.searchsorted(chances / chances[-1], random.random(size))


def _made(random: np.random.Generator, size: int, vocabulary: int) -> Ints:
    """Queries of one, two or three keywords, each query as a row."""
    made = _zipf(random, size * MEMBERS, vocabulary).reshape(size, MEMBERS)
    made[np.arange(MEMBERS) >= random.choice([1, 2, 3], size, p=[0.2, 0.4, 0.4])[:, None]] = NONE
    return made


def _rephrased(random: np.random.Generator, queries: Ints, vocabulary: int) -> Ints:
    """One keyword of each replaced by a relative."""
    said = queries.copy()
    rows = np.arange(len(said))
    place = random.integers(0, MEMBERS, len(said)) % np.maximum((said != NONE).sum(axis=1), 1)
    said.sort(axis=1)
    place = MEMBERS - 1 - place  # sorted, what is not there stands in front
    relative = said[rows, place] ^ np.minimum(random.geometric(0.4, len(said)), 7)
    said[rows, place] = np.where(relative < vocabulary, relative, said[rows, place])
    return said


def _codes(queries: Ints) -> Ints:
    """A query as one number, whatever the order of its keywords."""
    ordered = np.sort(queries, axis=1) + 1
    doubled = ordered[:, 1:] == ordered[:, :-1]
    ordered[:, 1:][doubled] = 0
    ordered.sort(axis=1)
    return ordered @ (1 << (_BITS * np.arange(MEMBERS, dtype=np.int64)))


def _words(codes: Ints) -> Ints:
    parts = [(codes >> (_BITS * place)) & ((1 << _BITS) - 1) for place in range(MEMBERS)]
    return np.stack(parts, axis=1) - 1
