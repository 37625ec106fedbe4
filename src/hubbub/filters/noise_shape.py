"""The noise of a measurement as a filter needs it: its density and how far it reaches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class NoiseShape:
    """Laplace of a scale, or Gaussian of a standard deviation; one number for all series, or one per series.

    >>> NoiseShape(np.array([20.0])).information
    array([0.0025])
    """

    scale: Array
    gaussian: bool = False

    @property
    def reach(self) -> Array:
        """Beyond this the density is below 1e-8 of its peak."""
        return self.scale * (6.5 if self.gaussian else 18.0)

    @property
    def information(self) -> Array:
        """Fisher information about the count: 1/scale^2 for both."""
        return 1.0 / self.scale**2

    def log_density(self, away: Array) -> Array:
        """At each distance; the first axis of `away` is the series."""
        scale = self.scale.reshape(-1, *([1] * (away.ndim - 1)))
        if self.gaussian:
            return np.asarray(-0.5 * (away / scale) ** 2 - np.log(scale) - 0.5 * math.log(2 * math.pi))
        return np.asarray(-np.abs(away) / scale - np.log(2 * scale))
