"""What the measuring half hands to the estimating half: noisy values, and how noisy they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.released import Cost, Domain, Tick

NoiseKind: TypeAlias = Literal["laplace", "gaussian"]
Variance: TypeAlias = "float | NDArray[np.float64]"

FARTHEST = 2**62
_TAIL = 0.025
_LEAST = 1e-300
_NORMAL = 1.959963984540054
_NOTHING: Mapping[str, NDArray[Any]] = {}


class Measurement(NamedTuple):
    """The noisy counts of one tick. Everything in it may be published.

    `variance` is that of the noise: one number, or one per key. With `correlated` the errors of different keys go
    together, and a sum over keys must not be given the sum of variances. `noise` is its shape, for filters that use
    it. `extra` holds what else the measuring half found out and paid for, such as the outcome of a noisy test.
    `values` is None where it looked, paid for the look, and found that nothing is worth measuring.

    >>> from hubbub.released import Keys
    >>> one = Measurement(Tick(0), Keys(["front"]), np.array([812]), 800.0, Cost.nothing())
    >>> round(float(one.scale), 1), float(one.reach)  # of Laplace noise, and half of its 95 % interval
    (20.0, 60.0)
    """

    tick: Tick
    keys: Domain
    values: NDArray[np.int64] | None
    variance: Variance
    cost: Cost
    noise: NoiseKind = "laplace"
    correlated: bool = False
    extra: Mapping[str, NDArray[Any]] = _NOTHING

    @property
    def is_gaussian(self) -> bool:
        return self.noise == "gaussian"

    @property
    def scale(self) -> Variance:
        """The scale b of Laplace noise on whole numbers, P(k) ~ exp(-|k|/b); of Gaussian noise its deviation."""
        v = self.variance
        if self.is_gaussian:
            return np.sqrt(v) if isinstance(v, np.ndarray) else math.sqrt(v)
        # 2p/(1-p)^2 = v, solved for the rate -log p. Noise of practically no variance has no width either.
        if isinstance(v, np.ndarray):
            least = np.maximum(v, _LEAST)
            return np.asarray(1 / np.log1p((1 + np.sqrt(2 * least + 1)) / least))
        v = max(v, _LEAST)
        return 1 / math.log1p((1 + math.sqrt(2 * v + 1)) / v)

    @property
    def reach(self) -> Variance:
        """Half of the 95 % interval, a whole number: the noise lies within it in at least 95 of 100 cases."""
        scale = np.asarray(self.scale, dtype=np.float64)
        if self.is_gaussian:  # a sum over whole numbers lies below the integral: this is never too narrow
            wide = np.ceil(_NORMAL * scale - 0.5)
        else:
            wide = np.ceil(-np.log(_TAIL * (1 + np.exp(-1 / scale))) * scale - 1)
        least = np.maximum(wide, 0.0)
        return least if least.ndim else float(least)

    def checked(self) -> Measurement:
        """This measurement, if it can be one; for those that come from elsewhere."""
        size = len(self.keys)
        values = self.values
        if values is None or values.dtype != np.int64 or values.shape != (size,) or np.abs(values).max() > FARTHEST:
            raise InvalidParameter(
                f"A measurement needs whole numbers of 64 bits below 2^62, one for each of {size:,} keys.",
                "Add up the shares of all clients first.",
            )
        variance = np.asarray(self.variance, dtype=np.float64)
        if variance.shape not in ((), (size,)) or not np.isfinite(variance).all() or not (variance > 0).all():
            raise InvalidParameter(
                f"A measurement's `variance` must be one finite number above 0, or one for each of {size:,} keys.",
                "Give the variance of all noise that was added, wherever it was added.",
            )
        if self.cost.is_free:
            raise InvalidParameter(
                "A measurement cannot be free: somebody's counts are in it.", "Give the cost of its noise."
            )
        if self.noise not in ("laplace", "gaussian"):
            raise InvalidParameter(
                f"A measurement's `noise` is laplace or gaussian; got {self.noise!r}.",
                "Take gaussian for a sum of many small noises.",
            )
        return self
