"""Intervals for counts that were published *because* their noisy value was large."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.itemlogs.thresholds import Thresholds

LEVEL = 0.95
REACH = 40
"""Scales beyond which Laplace noise does not lie, for all that matters to an interval."""


def given_published(
    noisy: NDArray[np.int64], thresholds: Thresholds, level: float = LEVEL
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends between which the true count lies with probability `level`, *given* that the item was published.

    Without the condition, items just above the threshold would look surer than they are: they are there because their
    noise was high. Both tails of the conditional distribution move one way with the count (its likelihood ratio is
    monotone), so the counts that neither tail rejects are an interval; no count lies below tau.

    >>> from fractions import Fraction
    >>> given_published(np.array([40, 400]), Thresholds(Fraction(10), 1, 39))
    (array([  1., 370.]), array([ 49., 430.]))
    """
    values, where = np.unique(noisy, return_inverse=True)
    miss = (1 - level) / 2
    scale = float(thresholds.scale)
    reach = int(REACH * scale) + 1

    def at_least(c: NDArray[np.int64]) -> NDArray[np.float64]:
        return _survival(values - c, scale) / _survival(thresholds.publish + 1 - c, scale)

    def at_most(c: NDArray[np.int64]) -> NDArray[np.float64]:
        passed = _survival(thresholds.publish + 1 - c, scale)
        return (passed - _survival(values + 1 - c, scale)) / passed

    lowest = np.full_like(values, thresholds.keep)
    lower, upper = np.maximum(lowest, values - reach), values + reach
    # The smallest count that is not too small for a value as high, the largest not too large for one as low.
    low_bad, low_good = lower - 1, np.maximum(values, lower)
    while np.any(low_good - low_bad > 1):
        middle = (low_bad + low_good) // 2
        good = (at_least(middle) > miss) & (middle > low_bad)
        low_good, low_bad = np.where(good, middle, low_good), np.where(good, low_bad, middle)
    high_good, high_bad = values.copy(), upper + 1
    while np.any(high_bad - high_good > 1):
        middle = (high_good + high_bad) // 2
        good = at_most(middle) > miss  # where the two are neighbours, `middle` is known to be good
        high_good, high_bad = np.where(good, middle, high_good), np.where(good, high_bad, middle)
    return low_good[where].astype(np.float64), high_good[where].astype(np.float64)


def _survival(k: NDArray[np.int64], scale: float) -> NDArray[np.float64]:
    """P(X >= k) of the discrete Laplace distribution."""
    whole = 1 + np.exp(-1 / scale)
    right = np.exp(-np.maximum(k, 0) / scale) / whole
    left = 1 - np.exp((np.minimum(k, 0) - 1) / scale) / whole
    chance: NDArray[np.float64] = np.where(k > 0, right, left)
    return chance
