"""The Kalman filter with a full covariance, for few keys: O(m^3) a tick.

The arrays are small, so the time goes into calls, not into arithmetic: LAPACK is called directly, and the covariance
is kept symmetric by construction (one triangular solve, one product W'W) instead of being repaired afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs

from hubbub.errors import InvalidModel
from hubbub.filters.observation import Observation

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DenseState:
    """A mean vector and its covariance matrix."""

    mean: Array
    covariance: Array


def predict(state: DenseState, matrix: Array, process: Array, drive: Array | float = 0.0) -> DenseState:
    """One step in time: x' = M x + `drive` + w, cov(w) = `process`."""
    covariance = matrix @ state.covariance @ matrix.T
    covariance += process
    return DenseState(matrix @ state.mean + drive, covariance)


def correct(state: DenseState, measured: Array, noise_variance: Array | float) -> DenseState:
    """The belief after z = x + v, with independent v of the given variance.

    With S = P + R = L L' and W = L^-1 P, the new mean is x + W' L^-1 (z - x) and the new covariance P - W'W.

    >>> before = DenseState(np.zeros(2), np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> correct(before, np.array([4.0, 0.0]), 2.0).mean.round(3).tolist()
    [1.867, 0.533]
    """
    size = len(state.mean)
    spread = state.covariance.copy()
    spread.flat[:: size + 1] += noise_variance
    return _apply(state, spread, measured - state.mean)


def correct_observed(state: DenseState, seen: Observation) -> DenseState:
    """The belief after measurements with any noise, each turned into the Gaussian one that acts the same on its key.

    A measurement with pull g and grip h acts on its own key as a Gaussian one of variance 1/h - P does; through the
    covariance that carries it to the other keys.
    """
    own = state.covariance.diagonal()
    # A grip of zero would be a measurement without weight: a tiny one says the same and keeps the matrix finite.
    grip = np.maximum(seen.grip, 1e-9 / own)
    spread = state.covariance.copy()
    np.fill_diagonal(spread, 1.0 / grip)
    return _apply(state, spread, seen.pull / grip)


def _apply(state: DenseState, spread: Array, away: Array) -> DenseState:
    lower, wrong = dpotrf(spread, lower=1, clean=0, overwrite_a=1)
    if wrong:
        raise InvalidModel(
            "The covariance of the filter is not positive definite.", "Check the model's matrix and process noise."
        )
    joined = np.empty((len(away), len(away) + 1), order="F")
    joined[:, :-1] = state.covariance
    joined[:, -1] = away
    solved, _ = dtrtrs(lower, joined, lower=1, overwrite_b=1)
    weights = solved[:, :-1]
    return DenseState(state.mean + weights.T @ solved[:, -1], state.covariance - weights.T @ weights)
