"""How good a published list is beside the counts it came from: coverage and precision (Goetz 2012, 6.6.2 and 6.7.1).

| name here | meaning |
|---|---|
| `true` | how many users have each item |
| `found` | the published count of each item; 0 for what was not published |
| j | only the j most frequent items of `true` are looked at |

These look at the truth: for public and simulated data only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def top(true: Counts, j: int) -> NDArray[np.intp]:
    """The places of the j most frequent items, of equal ones the first.

    >>> top(np.array([1, 5, 3, 5]), 3).tolist()
    [1, 3, 2]
    """
    return np.argsort(-true, kind="stable")[: min(j, np.count_nonzero(true))]


def coverage(true: Counts, found: Counts, j: int) -> float:
    """The share of the j most frequent items that were published; 1 if there are none.

    >>> coverage(np.array([9, 7, 5, 1]), np.array([8, 0, 6, 0]), 3)
    0.666...
    """
    first = top(true, j)
    return float(np.mean(found[first] > 0)) if len(first) else 1.0


def distance(true: Counts, found: Counts, j: int) -> float:
    """The average L1 distance of relative frequencies among the j most frequent items.

    >>> distance(np.array([3, 1]), np.array([1, 1]), 2)  # 0.75 and 0.25 against a half each
    0.25
    """
    p, q = _shares(true, found, j, least=0)
    return float(np.mean(np.abs(p - q)))


def divergence(true: Counts, found: Counts, j: int) -> float:
    """The Kullback-Leibler divergence of the same; counts below 1 are raised to 1, for the paper does not say.

    >>> divergence(np.array([1, 1]), np.array([1, 1]), 2), round(divergence(np.array([3, 1]), np.array([1, 1]), 2), 3)
    (0.0, 0.131)
    """
    p, q = _shares(true, found, j, least=1)
    return float(np.sum(p * np.log(p / q)))


def difference(true: Counts, found: Counts) -> float:
    """The average difference of counts over all items of the log, `found` scaled up to the same total.

    >>> difference(np.array([6, 2, 0]), np.array([3, 0, 0]))  # scaled: 8 and 0
    2.0
    """
    total = found.sum()
    scaled = found * (true.sum() / total) if total else np.zeros(len(true))
    return float(np.mean(np.abs(scaled - true)[true > 0]))


def relative_error(true: Counts, found: Counts, j: int) -> float:
    """How far the counts of those of the j most frequent items that were published are off, on average; nan if none is.

    >>> relative_error(np.array([10, 4, 2]), np.array([9, 5, 0]), 3)
    0.175
    """
    first = top(true, j)
    first = first[found[first] > 0]
    return float(np.mean(np.abs(found[first] / true[first] - 1))) if len(first) else float("nan")


def _shares(true: Counts, found: Counts, j: int, least: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first = top(true, j)
    p, q = np.maximum(true[first], least), np.maximum(found[first], least)
    return p / max(p.sum(), 1), q / max(q.sum(), 1)
