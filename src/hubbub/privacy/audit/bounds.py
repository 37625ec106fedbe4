"""From how often something was seen to what can be said for certain.

| symbol | meaning |
|---|---|
| p, q | chances of one set of outputs on two neighbouring streams |
| a | chance that a bound is wrong |
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Floats: TypeAlias = NDArray[np.float64]

_ORDERS = 1 + np.logspace(-4, 3, 141)


def at_least(hits: ArrayLike, runs: float, error: float) -> Floats:
    """Clopper-Pearson: p is at least this, except with a chance of `error`."""
    seen = np.asarray(hits, dtype=np.float64)
    bound = stats.beta.ppf(error, np.maximum(seen, 1e-9), runs - seen + 1)
    return np.where(seen > 0, bound, 0.0)


def at_most(hits: ArrayLike, runs: float, error: float) -> Floats:
    """Clopper-Pearson: p is at most this, except with a chance of `error`."""
    seen = np.asarray(hits, dtype=np.float64)
    bound = stats.beta.isf(error, seen + 1, np.maximum(runs - seen, 1e-9))
    return np.where(seen < runs, bound, 1.0)


def epsilon_between(p: ArrayLike, q: ArrayLike, delta: float) -> Floats:
    """The epsilon that p <= e^epsilon q + delta forces, from 0 on. It rises with p and falls with q."""
    above = np.maximum(np.asarray(p, dtype=np.float64) - delta, 1e-300)
    epsilons: Floats = np.maximum(np.log(above) - np.log(q), 0.0)
    return epsilons


def rho_between(p: ArrayLike, q: ArrayLike) -> Floats:
    """The rho that zCDP would need: the Renyi divergence of order a of one event is at most rho a, for every a > 1.

    An event is a function of the output, so its divergence is at most the output's (data processing). For p > q the
    divergence rises with p and falls with q; any order gives a bound that holds, so a grid of orders will do.
    """
    one, two = np.asarray(p, dtype=np.float64)[..., None], np.asarray(q, dtype=np.float64)[..., None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        yes = _ORDERS * np.log(one) - (_ORDERS - 1) * np.log(two)
        no = np.where(one < 1, _ORDERS * np.log1p(-one) - (_ORDERS - 1) * np.log1p(-two), -np.inf)
        divergence = np.logaddexp(yes, no) / (_ORDERS - 1)
    rhos: Floats = np.nanmax(np.where(one > two, divergence / _ORDERS, 0.0), axis=-1)
    return np.maximum(rhos, 0.0, out=np.empty_like(rhos))
