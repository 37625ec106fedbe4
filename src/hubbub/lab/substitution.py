"""Query substitution (Goetz 2012, 6.7.3; Jones et al. 2006): how people rephrase, learned from queries in a row.

A phrase is one keyword here; Jones et al. cut queries into longer ones by mutual information. Suggestions for a query
replace one of its keywords.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub.itemlogs.quality import Counts

Suggestion = tuple[int, int]
"""A keyword, and what to say instead."""

MOST = 5


def phrase_pairs(
    first: NDArray[np.int64], second: NDArray[np.int64], counts: Counts
) -> dict[int, list[tuple[int, int]]]:
    """For each keyword what people said instead, with counts, the most frequent first, at most `MOST`.

    `first` and `second` hold the keywords of queries in a row (below 0: none), `counts` how many users typed the two.
    A keyword that left a query goes with every keyword that came in.

    >>> phrase_pairs(np.array([[1, 2], [1, -1]]), np.array([[1, 3], [4, -1]]), np.array([5, 7]))
    {1: [(4, 7)], 2: [(3, 5)]}
    """
    left = (first >= 0) & ~(first[:, :, None] == second[:, None, :]).any(axis=2)
    came = (second >= 0) & ~(second[:, :, None] == first[:, None, :]).any(axis=2)
    rows, a, b = np.nonzero(left[:, :, None] & came[:, None, :])
    words = np.stack((first[rows, a], second[rows, b]), axis=1)
    pairs, where = np.unique(words, axis=0, return_inverse=True)
    sums = np.bincount(where.ravel(), weights=counts[rows], minlength=len(pairs)).astype(np.int64)
    found: dict[int, list[tuple[int, int]]] = {}
    for i in np.lexsort((pairs[:, 1], -sums)) if len(pairs) else ():
        others = found.setdefault(int(pairs[i, 0]), [])
        if len(others) < MOST:
            others.append((int(pairs[i, 1]), int(sums[i])))
    return dict(sorted(found.items()))


def suggestions(words: Sequence[int], pairs: Mapping[int, list[tuple[int, int]]], j: int) -> list[Suggestion]:
    """The j most frequent substitutions for a query of these keywords.

    >>> suggestions([1, 2], {1: [(4, 7), (5, 1)], 2: [(3, 5)]}, 2)
    [(1, 4), (2, 3)]
    """
    ranked = sorted((-count, word, other) for word in words for other, count in pairs.get(word, ()))
    return [(word, other) for _, word, other in ranked[:j]]


def precision(truth: Sequence[Suggestion], found: Sequence[Suggestion]) -> float:
    """The share of what was found that is in the truth."""
    return len(set(truth) & set(found)) / len(found)


def recall(truth: Sequence[Suggestion], found: Sequence[Suggestion]) -> float:
    """The share of the truth that was found."""
    return len(set(truth) & set(found)) / len(truth)


def map_as_printed(truth: Sequence[Suggestion], found: Sequence[Suggestion]) -> float:
    """The paper's MAP: the sum of (i + 1)/(rank + 1), where the rank of what is missing is *zero*.

    So whoever finds nothing has more than whoever finds everything:

    >>> map_as_printed([(1, 2), (1, 3)], [(1, 2), (1, 3)]), map_as_printed([(1, 2), (1, 3)], [])
    (2.0, 3.0)
    """
    ranks = {one: place for place, one in enumerate(found)}
    return sum((i + 1) / (ranks.get(one, 0) + 1) for i, one in enumerate(truth))


def average_precision(truth: Sequence[Suggestion], found: Sequence[Suggestion]) -> float:
    """What is called so elsewhere: the precision at each right place of the list, summed, by the length of the truth.

    >>> average_precision([(1, 2), (1, 3)], [(1, 2), (9, 9), (1, 3)])  # (1/1 + 2/3)/2
    0.833...
    """
    hits, total = 0, 0.0
    for place, one in enumerate(found, 1):
        if one in truth:
            hits += 1
            total += hits / place
    return total / len(truth)


def ndcg(truth: Sequence[Suggestion], found: Sequence[Suggestion]) -> float:
    """Normalised discounted cumulative gain (Chakrabarti et al. 2008): gain 2^grade - 1, discount 1/log2(1 + place).

    The first of the truth has the grade j, the last 1.

    >>> ndcg([(1, 2), (1, 3)], [(1, 2), (1, 3)]), round(ndcg([(1, 2), (1, 3)], [(1, 3), (1, 2)]), 3)
    (1.0, 0.797)
    """
    grades: dict[Suggestion, int] = {one: len(truth) - place for place, one in enumerate(truth)}

    def gain(ranking: Sequence[Suggestion]) -> float:
        return sum(((1 << grades.get(one, 0)) - 1) / math.log2(place + 2) for place, one in enumerate(ranking))

    return gain(found) / gain(truth)


MEASURES = {"precision": precision, "recall": recall, "MAP": average_precision, "NDCG": ndcg}


def compared(truth: Sequence[Sequence[Suggestion]], found: Sequence[Sequence[Suggestion]]) -> dict[str, float]:
    """All measures, averaged over the queries for which there is a suggestion; coverage, over all that have a truth.

    Coverage is the recall over all of them: where nothing was found it is 0. Where there is no suggestion at all, the
    others are nan.

    >>> compared([[(1, 2)], [(1, 3)], []], [[(1, 2)], [], [(1, 4)]])
    {'precision': 1.0, 'recall': 1.0, 'MAP': 1.0, 'NDCG': 1.0, 'coverage': 0.5}
    """
    asked = [(right, said) for right, said in zip(truth, found, strict=True) if right]
    answered = [(right, said) for right, said in asked if said]
    measured = {
        name: float(np.mean([measure(*both) for both in answered])) if answered else math.nan
        for name, measure in MEASURES.items()
    }
    return {**measured, "coverage": float(np.mean([recall(*both) for both in asked])) if asked else 0.0}
