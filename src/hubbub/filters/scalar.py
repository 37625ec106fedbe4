"""One random-walk Kalman filter a key, all keys at once (Fan et al. 2014, Alg. 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ScalarState:
    """A mean and a variance a key; the keys know nothing of each other."""

    mean: Array
    variance: Array


def predict(state: ScalarState, process_variance: Array | float) -> ScalarState:
    """One step in time: x' = x + w, var(w) = `process_variance`."""
    return ScalarState(state.mean, state.variance + process_variance)


def correct(state: ScalarState, measured: Array, noise_variance: Array | float) -> ScalarState:
    """The belief after z = x + v, var(v) = `noise_variance`.

    >>> after = correct(ScalarState(np.array([10.0]), np.array([4.0])), np.array([20.0]), 4.0)
    >>> after.mean.tolist(), after.variance.tolist()
    ([15.0], [2.0])
    """
    gain = state.variance / (state.variance + noise_variance)
    mean = state.mean + gain * (measured - state.mean)
    # P R/(P + R), written with the gain: it cannot come out negative as (1 - K) P can when K is near one.
    return ScalarState(mean, gain * noise_variance)
