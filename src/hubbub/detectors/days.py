"""The last days of every key, as a detector remembers them."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import UnknownKey
from hubbub.released import Domain, Release

Array = NDArray[np.float64]


class Days:
    """Noisy measurements with the variance of their noise; of a day that was only predicted, its estimate without."""

    def __init__(self, keys: Domain, most: int) -> None:
        self._keys = keys
        self._values: deque[Array] = deque(maxlen=most)
        self._noise: deque[Array] = deque(maxlen=most)

    def add(self, release: Release) -> None:
        """Take in the next day."""
        if release.keys != self._keys:
            raise UnknownKey("The release has other keys than the detector.", "Make a detector for each stream.")
        measured = release.values if release.measurements is None else release.measurements.astype(np.float64)
        self._values.append(measured)
        self._noise.append(np.zeros(len(self._keys)) if release.measurements is None else release.variances)

    @property
    def values(self) -> Array:
        """One row per day, one column per key."""
        return np.stack(self._values)

    @property
    def noise(self) -> Array:
        """Variances, in the same order."""
        return np.stack(self._noise)
