"""A belief about a count and about what drives it, one per key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.filters.observation import Observation

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """The count (`level`) and its unexplained inflow a tick (`drift`), with their 2 x 2 covariance; keys apart."""

    level: Array
    drift: Array
    level_variance: Array
    covariance: Array
    drift_variance: Array

    @classmethod
    def still(cls, level: Array, level_variance: Array, drift_variance: Array) -> Track:
        """A belief without drift so far."""
        nothing = np.zeros(level.shape)
        return cls(level.astype(np.float64), nothing, level_variance.copy(), nothing.copy(), drift_variance.copy())

    def parts(self) -> tuple[Array, Array, Array, Array, Array]:
        return self.level, self.drift, self.level_variance, self.covariance, self.drift_variance

    def at(self, where: object) -> Track:
        """The tracks of some keys (the last axis)."""
        return Track(*(part[..., where] for part in self.parts()))  # type: ignore[index]

    def stacked(self, *others: Track) -> Track:
        """Several tracks of the same keys as one, along a new first axis."""
        return Track(*(np.stack(group) for group in zip(self.parts(), *(o.parts() for o in others), strict=True)))

    def stacked_on(self, others: Track) -> Track:
        """This track as row 0, above the rows of `others`."""
        return Track(*(np.vstack([a[None], b]) for a, b in zip(self.parts(), others.parts(), strict=True)))

    def beside(self, more: Track) -> Track:
        """The keys of `more` after the keys of this."""
        return Track(*(np.concatenate(pair, axis=-1) for pair in zip(self.parts(), more.parts(), strict=True)))

    def row(self, which: int | slice) -> Track:
        """One row, or some rows, of the first axis."""
        return Track(*(part[which] for part in self.parts()))

    def with_at(self, where: NDArray[np.intp], new: Track) -> Track:
        """This track, with the keys `where` replaced."""
        parts = [part.copy() for part in self.parts()]
        for part, value in zip(parts, new.parts(), strict=True):
            part[where] = value
        return Track(*parts)

    def jumped(self, variance: Array) -> Track:
        """With a jump of this variance in row 0: half of it in the level alone, half in the inflow (and so in both)."""
        level, shared, drift = self.level_variance.copy(), self.covariance.copy(), self.drift_variance.copy()
        level[0] += variance
        shared[0] += 0.5 * variance
        drift[0] += 0.5 * variance
        return Track(self.level, self.drift, level, shared, drift)

    def corrected(self, seen: Observation) -> Track:
        """After a measurement of the level (Masreliez 1975, with a 2 x 2 covariance)."""
        left = 1.0 - self.level_variance * seen.grip
        return Track(
            self.level + self.level_variance * seen.pull,
            self.drift + self.covariance * seen.pull,
            np.maximum(self.level_variance * left, 1e-12),
            self.covariance * left,
            np.maximum(self.drift_variance - self.covariance**2 * seen.grip, 0.0),
        )

    def merged(self, weights: Array) -> Track:
        """One track with the mean and covariance of the mixture over the first axis."""
        level, drift = (weights * self.level).sum(0), (weights * self.drift).sum(0)
        up, out = self.level - level, self.drift - drift
        return Track(
            level,
            drift,
            (weights * (self.level_variance + up * up)).sum(0),
            (weights * (self.covariance + up * out)).sum(0),
            (weights * (self.drift_variance + out * out)).sum(0),
        )
