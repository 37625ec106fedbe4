"""What keys have in common: how large they are, learned from what was released of all of them.

One key below the noise tells nothing; a thousand of them tell how many small ones there are, how many middling ones,
and what they add up to. So the sizes of keys are thought to be drawn from one distribution over `SIZES`, which is
learned from the beliefs about all keys (the nonparametric maximum likelihood of Kiefer & Wolfowitz 1956, by steps of
EM). What is told of a key is a median under it that leans towards the point of least expected *relative* error. Where
a key is well above the noise this changes nothing; where it is hidden, the value is that of its kind, not the noise's.

A prior with a heavy tail (all orders of magnitude alike) stands for as many keys as `_BEFORE`: of few keys it decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIZES: Array = np.concatenate([[0.0], 2.0 ** (np.arange(81) / 2)])
"""None, one, and from there in steps of a half more to a million millions."""
_BEFORE = 2.0
_MOST = 1024
"""Of more keys than this, so many teach the distribution, and a table tells the values of all."""
_SURE, _HIDDEN = 5.0, 3.0
"""In standard errors: a key that stands out so far is told as it is, below `_HIDDEN` as its kind, else between."""
_LEAN = 0.5
"""0 would tell the median, 1 the point of least relative error, which takes all pages that are half seen for hidden."""
_RATIOS = np.linspace(-3.0, _SURE, 65)


def begin() -> Array:
    """The shares of sizes before anything was learned."""
    return np.full(len(SIZES), 1.0 / len(SIZES))


def learn(shares: Array, level: Array, variance: Array) -> Array:
    """The shares after a look at what is believed of every key."""
    step = -(-len(level) // _MOST)
    level, variance = level[::step], variance[::step]
    held = _posterior(shares, level, variance)
    learned: Array = (_BEFORE * begin() + held.sum(0)) / (_BEFORE + len(level))
    return learned


def tell(shares: Array, level: Array, variance: Array) -> Array:
    """One value a key: that of its kind where the noise hides it, else the level itself.

    >>> shares = begin()
    >>> tell(shares, np.array([5.0, 5.0, 900.0]), np.array([1e4, 0.01, 1e4])).round(1).tolist()
    [2.2, 5.0, 900.0]
    """
    error = np.sqrt(variance)
    hidden = np.flatnonzero(level < _SURE * error)
    if not len(hidden):
        return level
    leant = _leaning(shares, level[hidden], variance[hidden])
    share = np.clip((_SURE - level[hidden] / error[hidden]) / (_SURE - _HIDDEN), 0.0, 1.0)
    values = level.copy()
    values[hidden] += share * (leant - level[hidden])
    return values


def _leaning(shares: Array, level: Array, variance: Array) -> Array:
    if len(level) <= _MOST:
        return _middle(_posterior(shares, level, variance))
    # Of many keys: values for some ratios of level to error and some errors, and straight lines between them.
    error = np.sqrt(variance)
    logs = np.log(error)
    errors = np.linspace(logs.min(), logs.max() + 1e-9, 16)
    table_errors = np.repeat(np.exp(errors), len(_RATIOS))
    held = _posterior(shares, np.tile(_RATIOS, len(errors)) * table_errors, table_errors**2)
    table = (_middle(held) / table_errors).reshape(len(errors), len(_RATIOS))
    down = np.clip((logs - errors[0]) / (errors[1] - errors[0]), 0.0, len(errors) - 1.001)
    across = np.clip((level / error - _RATIOS[0]) / (_RATIOS[1] - _RATIOS[0]), 0.0, len(_RATIOS) - 1.001)
    i, j = down.astype(np.intp), across.astype(np.intp)
    down -= i
    across -= j
    low = table[i, j] * (1.0 - across) + table[i, j + 1] * across
    high = table[i + 1, j] * (1.0 - across) + table[i + 1, j + 1] * across
    found: Array = (low * (1.0 - down) + high * down) * error
    return found


def _posterior(shares: Array, level: Array, variance: Array) -> Array:
    """A row per key: how likely each size is."""
    variance = np.maximum(variance, 0.1)
    # Sizes that no key comes near are left out of the work.
    some = int(np.searchsorted(SIZES, 2.0 * max(float((level + 10.0 * np.sqrt(variance)).max()), 2.0)))
    away = SIZES[:some] - level[:, None]
    logs = np.log(shares[:some]) - 0.5 * away * away / variance[:, None]
    logs -= logs.max(1, keepdims=True)
    held = np.zeros((len(level), len(SIZES)))
    np.exp(logs, out=held[:, :some])
    held /= held.sum(1, keepdims=True)
    return held


def _middle(held: Array) -> Array:
    """The median of each row, sizes weighed by max(x, 1)^-lean: with 1, the least expected |value - x| / max(x, 1)."""
    weights = held / np.maximum(SIZES, 1.0) ** _LEAN
    weights /= weights.sum(1, keepdims=True)
    middles = np.cumsum(weights, axis=1) - 0.5 * weights
    right = np.clip((middles < 0.5).sum(1), 1, len(SIZES) - 1)
    rows = np.arange(len(held))
    low, high = middles[rows, right - 1], middles[rows, right]
    part = np.clip((0.5 - low) / np.maximum(high - low, 1e-12), 0.0, 1.0)
    value: Array = SIZES[right - 1] + part * (SIZES[right] - SIZES[right - 1])
    return value
