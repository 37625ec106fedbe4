"""Index caching (Goetz 2012, 6.7.2): whose lists of documents are held in memory, and how often that helps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.itemlogs.quality import Counts

MEMORY = 2**30
POSTING = 8
"""Bytes of memory, and of one document in a list."""

LONGEST = 200_000
"""Documents of a keyword that are held at most: the most relevant ones."""


def cached(counts: Counts, documents: Counts, memory: int = MEMORY) -> NDArray[np.bool_]:
    """Whose lists are held: keywords with the highest count per document first, as long as they fit.

    A keyword that was not published (count 0) is not held; one whose list does not fit any more is passed over.

    >>> cached(np.array([9, 8, 0, 1]), np.array([3, 1, 1, 1]), memory=4 * POSTING).tolist()
    [True, True, False, False]
    """
    sizes = np.minimum(documents, LONGEST) * POSTING
    held = np.zeros(len(counts), dtype=np.bool_)
    left = memory
    order = np.argsort(-counts / documents, kind="stable")
    for word in order[counts[order] > 0].tolist():
        if sizes[word] <= left:
            held[word] = True
            left -= int(sizes[word])
    return held


def hit_probability(held: NDArray[np.bool_], workload: Counts) -> float:
    """How likely the list of a typed keyword is in memory; `workload` is how often each keyword is typed.

    >>> hit_probability(np.array([True, False]), np.array([30, 10]))
    0.75
    """
    return float(workload[held].sum() / workload.sum())
