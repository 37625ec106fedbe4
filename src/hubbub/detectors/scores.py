"""How much one noisy count speaks for a rise: the score of its likelihood, where the noise is known.

A count is the usual one, plus scatter of its own (taken as Gaussian, standard deviation s), plus noise. If that is
Laplace noise of scale b, the density of the residual r is the convolution of both, and its score -d/dr log p(r) has a
closed form:

    score(r) = tanh((log A - log B)/2)/b,  A = exp(-r/b) Phi(r/s - s/b),  B = exp(r/b) Phi(-r/s - s/b)

It is nearly r/s^2 where scatter rules, and never beyond 1/b where noise rules: one large draw then says no more than a
middling one. Adding scores over days is the locally best test for a small rise; with Laplace noise it is worth twice as
many days as adding the counts themselves (the information about a shift is 1/b^2, the variance 2 b^2).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

Array = NDArray[np.float64]

_NARROW, _WIDE = 0.01, 30.0
"""Ratios s/b beyond which one of the two distributions is all there is."""


def score(residual: Array, scatter: Array, scale: Array) -> Array:
    """The score of each residual; `scatter` is a standard deviation, `scale` that of Laplace noise, 0 for none.

    >>> nothing, noise = np.array([0.0]), np.array([20.0])
    >>> float(score(np.array([6.0]), np.array([2.0]), nothing)[0])
    1.5
    >>> float(score(np.array([500.0]), np.array([2.0]), noise)[0])  # never above one over the scale
    0.05
    """
    b = np.where(scale > scatter / _WIDE, scale, 1.0)
    first = -residual / b + log_ndtr(residual / scatter - scatter / b)
    second = residual / b + log_ndtr(-residual / scatter - scatter / b)
    return np.where(scale > scatter / _WIDE, np.tanh((first - second) / 2) / b, residual / (scatter**2 + 2 * scale**2))


def information(scatter: Array, scale: Array) -> Array:
    """The variance of the score where nothing rises, which is also what a day tells about a shift (Fisher).

    >>> ends = information(np.array([2.0, 0.2, 8.0]), np.array([0.0, 20.0, 0.25]))
    >>> (1 / ends).round(1).tolist()  # the variance of scatter alone, b^2, and the sum of both variances
    [4.0, 404.5, 64.1]
    """
    ratios, known = _table()
    ratio = scatter / np.where(scale > 0, scale, 1.0)
    laplace = (
        np.exp(np.interp(np.log(np.maximum(ratio, _NARROW)), ratios, known)) / np.where(scale > 0, scale, 1.0) ** 2
    )
    return np.where(scale > scatter / _WIDE, laplace, 1 / (scatter**2 + 2 * scale**2))


@cache
def _table() -> tuple[Array, Array]:
    """Logarithms of s/b and of the information at b = 1, by summing over a fine grid."""
    ratios = np.geomspace(_NARROW, _WIDE, 80)
    information = np.empty(len(ratios))
    for i, s in enumerate(ratios):
        end = np.arcsinh((12 * s + 30) / s)
        at = np.linspace(-end, end, 4001)  # dense about 0, where the score turns within s
        r = s * np.sinh(at)
        logs = np.logaddexp(-r + log_ndtr(r / s - s), r + log_ndtr(-r / s - s))
        weight = np.exp(logs - logs.max()) * np.cosh(at)
        ones = np.ones_like(r)
        information[i] = (weight * score(r, s * ones, ones) ** 2).sum() / weight.sum()
    return np.log(ratios), np.log(information)
