"""How far released series lie from the truth: the three measures of Fan et al. 2014, section 5.3.

Rows are ticks, columns keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Series = NDArray[Any]


def average_relative_error(released: Series, truth: Series, least: float = 1.0) -> float:
    """Mean of |r - x| / max(x, least) over keys and ticks (Eq. 25; the paper's delta is `least` = 1).

    >>> average_relative_error(np.array([[110.0, 2.0]]), np.array([[100, 0]]))
    1.05
    """
    return float(np.mean(np.abs(released - truth) / np.maximum(truth, least)))


def top_precision(released: Series, truth: Series, top: int = 5) -> float:
    """Which part of the truly `top` largest keys is among the released ones, mean over ticks (Eq. 26).

    >>> top_precision(np.array([[9.0, 8.0, 1.0]]), np.array([[9, 2, 5]]), top=2)
    0.5
    """
    ours = np.argsort(-released, axis=1, kind="stable")[:, :top]
    wanted = np.argsort(-truth, axis=1, kind="stable")[:, :top]
    return float(np.mean([len(set(a) & set(b)) / top for a, b in zip(ours, wanted, strict=True)]))


def divergence(released: Series, truth: Series, least: float = 1.0) -> float:
    """Kullback-Leibler divergence of the released distribution over keys from the true one, mean over ticks (Eq. 27).

    A released value below `least` (noise can make it negative) is raised to it, without which the logarithm has no
    value; the paper does not say what it does there.

    >>> divergence(np.array([[50.0, 50.0]]), np.array([[50, 50]]))
    0.0
    """
    r = np.maximum(released, least)
    r = r / r.sum(axis=1, keepdims=True)
    x = truth / np.maximum(truth.sum(axis=1, keepdims=True), 1)
    terms = np.where(x > 0, x * np.log(np.where(x > 0, x, 1.0) / r), 0.0)
    return float(terms.sum(axis=1).mean())


def coverage(lower: Series, upper: Series, truth: Series) -> float:
    """How often the truth lies inside the interval."""
    return float(np.mean((lower <= truth) & (truth <= upper)))
