"""The total of a map as it moves: a level with a slope that dies down, filtered at several speeds at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL_DRIFT, SLOPE_DRIFT, CALM = 1e-4, 4e-6, 0.95
"""In calm times, by how much the level and its slope move in a tick, as variances relative to the level's square; and
how much of a slope is left a tick later."""
SPEEDS = (0.0, 0.04, 0.2, 1.0)
"""What else may be the case: that the level moves by such a part of itself in a tick, or of what a measurement errs."""
_RISES, _STAYS = 0.03, 0.94
"""How often calm ends in a tick, and how often another speed is that of the tick before. None is ever given up: a
morning begins after a long night. But where noise hides what the total does, calm is what is believed."""
_SETTLED = 500
"""After so many ticks that nobody measured a slope has died down."""


@dataclass(frozen=True, eq=False)
class Trend:
    """How many there are in all, by how many they grow in a tick, and the covariance of both errors.

    One filter believes in calm, others in a total that moves faster; each is as likely as it foretold what was measured
    (an interacting bank: Blom & Bar-Shalom 1988). So an interval is narrow only while measurements say that little
    moves, and a morning's rise is followed at once.

    >>> calm = Trend.begin(1000.0, 100.0)
    >>> for _ in range(50):
    ...     calm = calm.later().with_total(1000.0, 100.0)
    >>> risen = calm.later().with_total(2000.0, 100.0)
    >>> round(calm.level), round(risen.level)
    (1000, 1999)
    """

    means: Array
    covariances: Array
    weights: Array
    noise: float
    """The variance of the last measurement's noise."""

    @classmethod
    def begin(cls, total: float, variance: float) -> Trend:
        level = max(total, 1.0)
        known = np.diag([variance + level, (0.02 * level) ** 2])
        return cls._alike(np.array([total, 0.0]), known, variance)

    @classmethod
    def _alike(cls, mean: Array, covariance: Array, noise: float) -> Trend:
        many = len(SPEEDS)
        return cls(np.tile(mean, (many, 1)), np.tile(covariance, (many, 1, 1)), _often(), noise)

    @property
    def mean(self) -> Array:
        mean: Array = self.weights @ self.means
        return mean

    @property
    def covariance(self) -> Array:
        """Of the error of `mean`: what each filter is unsure of, and how far they are apart."""
        return _joined(self.weights, self.means, self.covariances)[1]

    @property
    def level(self) -> float:
        """How many there are; what it is a part of is never nothing."""
        return float(max(self.mean[0], 1.0))

    @property
    def relative_variance(self) -> float:
        """Of the error of the level, over its square."""
        return float(self.covariance[0, 0]) / self.level**2

    def kept(self, before: Trend) -> float:
        """How much of what was off before a measurement is off after it (Kalman 1960)."""
        return min(float(self.covariance[0, 0] / before.covariance[0, 0]), 1.0)

    def later(self, ticks: int = 1) -> Trend:
        """After as many ticks that nobody measured."""
        now = self
        for _ in range(min(ticks, _SETTLED)):
            now = now._step()
        if ticks > _SETTLED:
            more = np.zeros((2, 2))
            more[0, 0] = (ticks - _SETTLED) * LEVEL_DRIFT * now.level**2
            now = replace(now, covariances=now.covariances + more)
        return now

    def _step(self) -> Trend:
        many, step = len(SPEEDS), np.array([[1.0, 1.0], [0.0, CALM]])
        turns = _turns(many)
        weights = self.weights @ turns
        means, covariances = np.empty_like(self.means), np.empty_like(self.covariances)
        level = self.level
        scale = max(level, np.sqrt(self.noise))
        for to, speed in enumerate(SPEEDS):
            mean, covariance = _joined(self.weights * turns[:, to] / weights[to], self.means, self.covariances)
            drift = np.diag([LEVEL_DRIFT * level**2 + (speed * scale) ** 2, SLOPE_DRIFT * level**2])
            means[to], covariances[to] = step @ mean, step @ covariance @ step.T + drift
        return Trend(means, covariances, weights, self.noise)

    def with_total(self, total: float, variance: float) -> Trend:
        # Vehicles come and go: even known exactly, a total tells its level up to the square root of it.
        seen = self.covariances[:, 0, 0] + variance + self.level
        off = total - self.means[:, 0]
        gain = self.covariances[:, :, 0] / seen[:, None]
        likely = np.log(np.maximum(self.weights, 1e-300)) - 0.5 * (off**2 / seen + np.log(seen))
        weights = np.exp(likely - likely.max())
        left = self.covariances - gain[:, :, None] * self.covariances[:, :1, :]
        return Trend(self.means + gain * off[:, None], left, weights / weights.sum(), variance)

    # ── kept in a stream's state ─────────────────────────────────────────────────────────────────────────────────

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        noise = np.array([self.noise])
        return {"trend_means": self.means, "trend_covariances": self.covariances, "trend_weights": self.weights,
                "trend_noise": noise}  # fmt: skip

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Trend:
        if "trend" in arrays:  # written while there was one filter alone
            covariance = arrays["trend_covariance"]
            return cls._alike(arrays["trend"], covariance, float(covariance[0, 0]))
        noise = float(arrays["trend_noise"][0])
        return cls(arrays["trend_means"], arrays["trend_covariances"], arrays["trend_weights"], noise)


def _turns(many: int) -> Array:
    """How often each speed is followed by each other: row by row, from where."""
    turns = np.full((many, many), 0.01)
    turns[:, 0] = 1 - _STAYS - 0.01 * (many - 2)
    np.fill_diagonal(turns, _STAYS)
    turns[0] = _RISES / (many - 1)
    turns[0, 0] = 1 - _RISES
    return turns


def _often() -> Array:
    """How likely each speed is before anything was seen: mostly calm."""
    often = np.full(len(SPEEDS), 0.1 / (len(SPEEDS) - 1))
    often[0] = 0.9
    return often


def _joined(weights: Array, means: Array, covariances: Array) -> tuple[Array, Array]:
    """Mean and covariance of a mixture."""
    mean = weights @ means
    apart = means - mean
    covariance = np.tensordot(weights, covariances + apart[:, :, None] * apart[:, None, :], axes=1)
    return mean, covariance
