"""Where a count lies of which the mean and the variance are known, and which cannot be below zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NORMAL = 1.959963984540054


def interval(mean: Array, variance: Array) -> tuple[Array, Array]:
    """Where 95 % lie of what has this mean and variance, in whole vehicles.

    Few vehicles are spread as those of a waiting line are, not evenly to both sides: a gamma distribution has the same
    mean and variance, and its quantiles are those of a cubed normal (Wilson & Hilferty 1931).

    >>> [ends.tolist() for ends in interval(np.array([50.0, 0.4]), np.array([50.0, 900.0]))]
    [[37.0, 0.0], [65.0, 59.0]]
    """
    shape = np.maximum(mean, 1e-12) ** 2 / np.maximum(variance, 1e-12)
    lower, upper = (quantile(mean, shape, at) for at in (-NORMAL, NORMAL))
    # Far below one the cubed normal comes down to nothing again: then what is hardly known would be told as empty.
    upper = np.where(shape < 1, np.maximum(upper, mean + NORMAL * np.sqrt(variance)), upper)
    # A whole number stands for what is within a half of it: rounded outward, ends would be half a vehicle too far.
    return np.minimum(np.rint(lower), np.floor(mean)), np.maximum(np.rint(upper), np.ceil(mean))


def quantile(mean: Array, shape: Array, at: float) -> Array:
    """Of a gamma distribution, at so many standard deviations of a normal one."""
    ninth = 1 / (9 * np.maximum(shape, 1e-3))
    found: Array = np.maximum(mean * np.maximum(1 - ninth + at * np.sqrt(ninth), 0.0) ** 3, 0.0)
    return found


def best_alone(mean: Array, variance: Array) -> Array:
    """For each count the number whose relative error is least to be expected: below the mean, so it does not add up.

    Divided by the count itself, a gamma of shape a weighs as one of shape a - 1 does; of that the median is best. Where
    a count is small beside its error that is nothing.

    >>> best_alone(np.array([100.0, 3.0]), np.array([100.0, 9.0])).round(1).tolist()
    [98.7, 0.0]
    """
    shape = np.maximum(mean, 1e-12) ** 2 / np.maximum(variance, 1e-12)
    less = np.maximum(shape - 1, 0.0)
    median = quantile(mean * less / np.maximum(shape, 1e-12), np.maximum(less, 1e-12), 0.0)
    return np.where(less > _LEAST_SHAPE, median, 0.0)


_LEAST_SHAPE = 0.2
"""Below it a cubed normal is no picture of a gamma distribution any more, and its median is nothing anyway."""
