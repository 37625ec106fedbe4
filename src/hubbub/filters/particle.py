"""The SIR particle filter of a random walk with the noise's own likelihood (Fan 2014, Alg. 6 and 7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.filters.noise_shape import NoiseShape

Array = NDArray[np.float64]


Randomness = np.random.Generator  # not for privacy: it moves particles, which only ever see released values


def scatter(centre: Array, half_width: float | Array, particles: int, randomness: Randomness) -> Array:
    """Particles spread evenly around each centre, a row per series."""
    wide = np.broadcast_to(half_width, centre.shape)[:, None]
    return centre[:, None] + randomness.uniform(-wide, wide, (len(centre), particles))


def predict(particles: Array, process_variance: float, randomness: Randomness) -> Array:
    """One step of the random walk."""
    return particles + randomness.normal(0.0, np.sqrt(process_variance), particles.shape)


def weigh(particles: Array, measured: Array, noise: NoiseShape) -> Array:
    """Each particle's weight given the measurement; a row adds up to 1.

    >>> weigh(np.array([[0.0, 10.0]]), np.array([10.0]), NoiseShape(np.array([10.0]))).round(3).tolist()
    [[0.269, 0.731]]
    """
    logs = noise.log_density(measured[:, None] - particles)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    total: Array = weights / weights.sum(axis=1, keepdims=True)
    return total


def resample(particles: Array, weights: Array, start: float) -> Array:
    """Systematic resampling: one start in [0, 1) for all, then equal steps along the cumulated weights.

    >>> resample(np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[0.5, 0.0, 0.25, 0.25]]), 0.5).tolist()
    [[1.0, 1.0, 3.0, 4.0]]
    """
    count = particles.shape[1]
    points = (np.arange(count) + start) / count
    summed = np.cumsum(weights, axis=1)
    summed[:, -1] = 1.0  # rounding must not leave the last point without a particle
    rows = [np.searchsorted(row, points, side="right") for row in summed]
    return np.take_along_axis(particles, np.minimum(np.stack(rows), count - 1), axis=1)
