"""How many people must share an item before it may be published: thresholds for discrete noise, rounded safely.

| symbol | name here | meaning |
|---|---|---|
| m | `max_items` | how many different items one user counts for |
| U | `users` | how many users the log holds at most, a public number |
| b | `scale` | of the discrete Laplace noise on a count: m/epsilon, for neighbours that differ by a whole user |
| tau | `keep` | a true count below it is never published |
| tau' | `publish` | a noisy count must lie above it |
| k | `margin` | tau' - tau: what the noise must exceed to carry a count of tau past tau' |

Goetz 2012 (chapter 6) has real-valued noise, and neighbours in which one user's history is *replaced*, which takes
twice the scale. Here a user is added or removed. Proof: docs/proofs/itemlogs.md, sections 2 and 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from hubbub.noise.digits import exp_bounds

UNIT = 1 << 20
"""Weights are whole multiples of 1/UNIT of a user's whole weight: a public granularity, so that noise can be exact."""

_SLACK = 1e-9
"""Taken off log(delta): far above the floating-point error of the normal distribution's tail."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What ZEALOUS does with its counts.

    >>> indistinguishable(Fraction(1), Fraction(1, 10**6), 10)
    Thresholds(scale=Fraction(10, 1), keep=1, publish=155)
    """

    scale: Fraction
    keep: int
    publish: int

    @property
    def margin(self) -> int:
        return self.publish - self.keep


def tail(scale: Fraction, margin: int) -> Fraction:
    """P(X > margin) for discrete Laplace X, margin >= -1, never too small: q^(margin + 1)/(1 + q), q = exp(-1/scale).

    >>> float(tail(Fraction(1), 0))  # 1/(1 + e)
    0.268...
    """
    rate = (margin + 1) / scale
    bits = 128 + math.ceil(1.443 * float(rate))
    above = Fraction(exp_bounds(rate, bits)[1], 1 << bits)
    return above / (1 + Fraction(exp_bounds(1 / scale, 128)[0], 1 << 128))


def indistinguishable(epsilon: Fraction, delta: Fraction, max_items: int, keep: int = 1) -> Thresholds:
    """For (epsilon, delta)-indistinguishability: a user's up to m items that cross tau pass tau' with chance <= delta.

    Only tau' - tau matters here, so tau = 1 publishes most; a larger `keep` is a promise on top.
    """
    scale = max_items / epsilon
    return Thresholds(scale, keep, keep + _margin(scale, delta / max_items))


def probabilistic(
    epsilon: Fraction, delta: Fraction, max_items: int, users: int, keep: int | None = None
) -> Thresholds:
    """For (epsilon, delta)-probabilistic privacy: of *all* items with a count of tau none passes, but for delta.

    There are at most U m/tau of them. Without `keep`, the tau with the smallest tau' of all whole numbers: Goetz's
    ceiling of 2m/epsilon (Prop. 12) is not always it.
    """
    scale = max_items / epsilon
    least = _margin(scale, _one_less(scale))

    def publish(tau: int) -> int:
        shared = users * max_items // tau
        return tau + max(least, _margin(scale, delta / shared) if shared else 0)

    tau = _best_keep(scale, delta, users * max_items, least) if keep is None else keep
    return Thresholds(scale, tau, publish(tau))


def _one_less(scale: Fraction) -> Fraction:
    """1 - exp(-1/b), never too large: how often an item may be lost for its absence to tell no more than a count."""
    return 1 - Fraction(exp_bounds(1 / scale, 128)[1], 1 << 128)


def _margin(scale: Fraction, chance: Fraction) -> int:
    """The smallest k >= 0 with P(X > k) <= chance, found with bounds that are never too small."""
    guess = -float(scale) * (_log(chance) + math.log1p(math.exp(-1 / float(scale)))) - 1
    margin = max(0, math.ceil(guess))
    while tail(scale, margin) > chance:
        margin += 1
    while margin and tail(scale, margin - 1) <= chance:
        margin -= 1
    return margin


def _best_keep(scale: Fraction, delta: Fraction, pairs: int, least: int) -> int:
    """The tau with the smallest tau'. Floats choose it; whatever they choose, its margin is then computed exactly."""
    b = float(scale)
    constant = -_log(delta) - math.log1p(math.exp(-1 / b))

    def publish(tau: np.ndarray) -> np.ndarray:
        margins = b * (np.log(np.maximum(pairs // tau, 1)) + constant) - 1
        found: np.ndarray = tau + np.maximum(least, np.ceil(margins - 1e-9))
        return found

    # tau' is at least tau, so nothing beyond the tau' of a near-best tau can be better.
    near = int(publish(np.array([max(1, round(b))]))[0])
    candidates = np.arange(1, min(near, 10**7) + 1)
    return int(candidates[np.argmin(publish(candidates))])


@lru_cache(maxsize=256)
def gaussian_threshold(variance: Fraction, delta: Fraction, max_items: int) -> int:
    """The smallest T, in units of 1/UNIT, that no item of one user alone passes, but for a chance of `delta`.

    A user with t items that nobody else has gives each at most isqrt(UNIT^2/t). Discrete Gaussian noise of at least
    k + 1 is no likelier than a normal one of at least k (Canonne, Kamath & Steinke 2020, Prop. 25), so passing T from w
    has at most the chance of a normal value above T - w; the t of them add up.
    """
    own = np.arange(1, max_items + 1)
    weights = np.array([isqrt(UNIT * UNIT // int(t)) for t in own], dtype=np.float64)
    sigma = math.sqrt(variance)
    allowed = _log(delta) - _SLACK - np.log(own)
    threshold = max(0, math.ceil(float(np.max(weights - sigma * ndtri_exp(allowed)))))
    while np.any(log_ndtr((weights - threshold) / sigma) > allowed):
        threshold += max(1, int(sigma) >> 20)
    return threshold


def _log(number: Fraction) -> float:
    return math.log(number.numerator) - math.log(number.denominator)
