"""A bank of linear filters on the logarithm of a count, weighed by how well each foresaw what was measured.

A measurement z = exp(y) + noise says something about y alone, so the belief about y after it is a one-dimensional
integral, done here on a grid: exact for Laplace as for Gaussian noise, at any ratio of count to noise, and never
negative. The rest of the state follows y linearly, as in every Kalman filter. Only the shape of the belief is
approximated: after each measurement it is taken as Gaussian again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hubbub.filters.mixture import LogMixture
from hubbub.filters.noise_shape import NoiseShape

Array = NDArray[np.float64]

NODES = 64
FIRST_DEVIATION = 0.25
"""Of a deviation's variance, at the start. With all of it a model would take part of its first measurement for a
deviation from the prior's level, and lean back towards that level, which was only a guess, as the deviation fades."""
_REACH = 6.0
_PLACES = (np.arange(NODES) + 0.5) / NODES
JUMPS = 0.003
"""How often a level is thought to jump to anywhere between two measurements. Without this no measurement, however far
from what all models foresaw, would be believed: see `correct`."""
JUMP_SPREAD = 4.0
"""Where to: within a factor e^4 of ten times the noise, as one deviation of the logarithm. So wide that a measurement
decides."""
_NEGLIGIBLE = 1e-3
_HIGHEST = 60.0
"""Nothing is counted beyond e^60."""


class BankShapes(Protocol):
    """What the filter asks of a bank's models; one entry per model."""

    @property
    def drift(self) -> Array: ...
    @property
    def decay(self) -> Array: ...
    @property
    def deviation(self) -> Array: ...
    @property
    def white(self) -> Array: ...
    @property
    def seasonal(self) -> Array: ...
    @property
    def offset(self) -> Array: ...
    @property
    def spread(self) -> Array: ...
    @property
    def log_prior(self) -> Array: ...
    @property
    def count(self) -> int: ...
    @property
    def size(self) -> int: ...
    def season_variances(self) -> Array: ...
    def phase(self, tick: int) -> Array: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Jump:
    """What a measurement alone says, had the level jumped: mean and variance of the logarithm, and the evidence."""

    after: Array
    left: Array
    evidence: Array


@dataclass(frozen=True, slots=True, eq=False)
class BankState:
    """For each series and model the mean and covariance of (level, deviation, seasons), and the model's log weight."""

    mean: Array
    covariance: Array
    log_weights: Array


def start(shapes: BankShapes, series: int, centre: float) -> BankState:
    """What is believed before anything was measured: a level around exp(`centre`), within a factor exp(spread)."""
    mean = np.zeros((series, shapes.count, shapes.size))
    mean[..., 0] = centre + shapes.offset
    covariance = np.zeros((series, shapes.count, shapes.size, shapes.size))
    covariance[..., 0, 0] = shapes.spread**2
    covariance[..., 1, 1] = FIRST_DEVIATION * shapes.deviation**2
    for i, variance in enumerate(shapes.season_variances(), 2):
        covariance[..., i, i] = shapes.seasonal * variance
    return BankState(mean, covariance, np.tile(shapes.log_prior, (series, 1)))


def predict(state: BankState, shapes: BankShapes) -> BankState:
    """One step in time."""
    mean, covariance = state.mean.copy(), state.covariance.copy()
    mean[..., 1] *= shapes.decay
    covariance[..., 1, :] *= shapes.decay[:, None]
    covariance[..., :, 1] *= shapes.decay[:, None]
    covariance[..., 0, 0] += shapes.drift**2
    covariance[..., 1, 1] += shapes.deviation**2 * (1 - shapes.decay**2)
    return BankState(mean, covariance, state.log_weights)


def believe(state: BankState, shapes: BankShapes, tick: int) -> LogMixture:
    """What the state says about the count of `tick`."""
    phase = shapes.phase(tick)
    mean = state.mean @ phase
    return LogMixture(mean, _variance(state.covariance @ phase @ phase, mean, shapes), state.log_weights)


def correct(
    state: BankState, shapes: BankShapes, tick: int, measured: Array, noise: NoiseShape, memory: float
) -> tuple[BankState, LogMixture]:
    """The state, and the belief about the count itself, after `measured` (one value per series).

    Each model allows that its level jumped to anywhere (`JUMPS`). A measurement that the model foresaw makes that idle;
    one that no model did leaves it as the only explanation, and is then believed.

    `memory` below 1 forgets evidence slowly in favour of the prior weights, so that a bank can change its mind.
    """
    phase = shapes.phase(tick)
    mean = state.mean @ phase
    lever = state.covariance @ phase
    variance = _variance(lever @ phase, mean, shapes)
    anywhere = np.broadcast_to(np.log(10 * noise.scale), len(mean))[:, None]
    after, left, evidence = _integrate(
        np.concatenate([mean, anywhere], axis=1),
        np.concatenate([variance, np.full_like(anywhere, JUMP_SPREAD**2)], axis=1),
        measured,
        noise,
    )
    jump = _Jump(after[:, -1:], left[:, -1:], evidence[:, -1:])
    after, left, evidence = after[:, :-1], left[:, :-1], evidence[:, :-1]
    gain = lever / variance[..., None]
    moved = state.mean + gain * (after - mean)[..., None]
    shrunk = state.covariance - gain[..., :, None] * gain[..., None, :] * (variance - left)[..., None, None]

    stays, jumps = math.log1p(-JUMPS) + evidence, math.log(JUMPS) + jump.evidence
    evidence = np.logaddexp(stays, jumps)
    share = np.exp(jumps - evidence)
    _join(state, phase, share, mean, jump, moved, shrunk)
    logs = memory * state.log_weights + (1 - memory) * shapes.log_prior + evidence
    logs = logs - logs.max(axis=-1, keepdims=True)
    logs = logs - np.log(np.exp(logs).sum(axis=-1, keepdims=True))
    parts = np.concatenate([logs + stays - evidence, _sum(logs + jumps - evidence)], axis=1)
    belief = LogMixture(np.concatenate([after, jump.after], axis=1), np.concatenate([left, jump.left], axis=1), parts)
    return BankState(moved, shrunk, logs), belief


def _join(state: BankState, phase: Array, share: Array, mean: Array, jump: _Jump, moved: Array, shrunk: Array) -> None:
    """Puts what is so, had the level jumped, into `moved` and `shrunk`, with the weight of its `share`; in place."""
    which = np.nonzero(share > _NEGLIGIBLE)
    if not len(which[0]):
        return
    p, row = share[which], which[0]
    # The level is now whatever makes up the count, the rest being what it was.
    away = state.mean[which]
    away[:, 0] += jump.after[row, 0] - mean[which]
    away -= moved[which]
    covariance = state.covariance[which]
    covariance[:, 0, 1:] = -(covariance[:, 1:, 1:] @ phase[1:])
    covariance[:, 1:, 0] = covariance[:, 0, 1:]
    covariance[:, 0, 0] = -(covariance[:, 0, 1:] @ phase[1:]) + jump.left[row, 0]
    moved[which] += p[:, None] * away
    spread = (p * (1 - p))[:, None, None] * away[:, :, None] * away[:, None, :]
    shrunk[which] += p[:, None, None] * (covariance - shrunk[which]) + spread


def _sum(logs: Array) -> Array:
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top + np.log(np.exp(logs - top).sum(axis=-1, keepdims=True)))


def _variance(of_state: Array, mean: Array, shapes: BankShapes) -> Array:
    # A count of people scatters at least like a Poisson number: 1/count on the logarithm.
    return np.asarray(of_state + shapes.white**2 + np.exp(-np.maximum(mean, 0.0)))


def _integrate(mean: Array, variance: Array, measured: Array, noise: NoiseShape) -> tuple[Array, Array, Array]:
    """Mean, variance and log evidence of y given z = exp(y) + noise and y ~ N(mean, variance)."""
    deviation = np.sqrt(variance)
    value, reach = measured[:, None], noise.reach.reshape(-1, 1)
    low, high = mean - _REACH * deviation, mean + _REACH * deviation
    # Where both have mass; if nowhere, the measurement is an outlier to this model and the prior's range must do.
    near = np.maximum(low, np.log(np.maximum(value - reach, 1e-9)))
    far = np.minimum(high, np.log(np.maximum(value + reach, 1e-9)))
    apart = far <= near
    low, high = np.where(apart, low, near), np.where(apart, high, far)
    nodes = low[..., None] + (high - low)[..., None] * _PLACES
    logs = noise.log_density(value[..., None] - np.exp(np.minimum(nodes, _HIGHEST)))
    logs -= 0.5 * (nodes - mean[..., None]) ** 2 / variance[..., None]
    top = logs.max(axis=-1, keepdims=True)
    mass = np.exp(logs - top)
    total = mass.sum(axis=-1)
    after = (mass * nodes).sum(axis=-1) / total
    left = (mass * (nodes - after[..., None]) ** 2).sum(axis=-1) / total
    # The grid cannot see what is narrower than its cells: a cell's own variance is the floor.
    floor = ((high - low) / NODES) ** 2 / 12
    evidence = top[..., 0] + np.log(total * (high - low) / NODES) - 0.5 * np.log(2 * np.pi * variance)
    return after, np.minimum(np.maximum(left, floor), variance), evidence
