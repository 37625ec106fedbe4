"""The thesis's temporal estimation: a random walk in every cell, quick where there are roads and slow elsewhere."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.mechanism import Estimate, Measurement, Option, Traits
from hubbub.mechanism.kinds import Number, Truth, Word
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.releaser import Releaser
from hubbub.release.ukf import nothing_known
from hubbub.released import Domain, Tick
from hubbub.spatial.maps import expect_few
from hubbub.spatial.road_map import RoadGrid

Array = NDArray[np.float64]
_DENSE = 1
_NORMAL = 1.959963984540054


class Temporal(Releaser):
    """Every cell's count plus noise, filtered as a random walk with one of two speeds (Fan 2014, Alg. 14).

    On a `RoadGrid` cells without a road are *sparse*; all other cells, and all keys of other domains, are *dense*. All
    cells of a class share one gain, so the filter is one number a class beside one mean a cell. The thesis takes
    R = 10^6 where the noise has a variance of 2 10^4 (Table 5.4): that is `trust` = 1/50. It does not say what a cell
    begins with; its sparse cells are right to the last digit, so it must be zero (`start`). Errors are told by the
    noise that was really added; what a start at zero was wrong by is not in them.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: the noise of `Lpa`; filtering sees noisy values only and costs nothing.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Fan 2014 (thesis), section 5.5.1; Dwork & Roth 2014, Prop. 2.1 (post-processing).
        Proof: docs/proofs/spatial.md (proved).

    >>> from hubbub.privacy import User
    >>> from hubbub.released import Grid
    >>> print(Temporal(Grid(4, 4), Guarantee.pure(User(horizon=100), 1)).guarantee)
    Each person's presence changes any output's probability by at most a factor e^1 = 2.72, over all 100 ticks ...
    """

    name: ClassVar[str] = "temporal"
    # All cells of a class share a gain: noise that differs from cell to cell, drawn elsewhere, is not for it.
    traits: ClassVar[Traits] = Traits(plain=False)

    sparse_variance: Option[float] = Option(
        Number(least=0.0), 0.01, "Q of cells without a road: by how much a count moves in a tick, as a variance."
    )
    dense_variance: Option[float] = Option(Number(least=0.0), 1000.0, "Q of all other cells.")
    trust: Option[float] = Option(
        Number(above=0.0), 1.0, "The noise is taken for that much smaller than it is; 0.02 in the thesis."
    )
    cut: Option[bool] = Option(Truth(), True, "Whether numbers below zero are released as zero; not so in the thesis.")
    start: Option[str] = Option(
        Word("measured", "zero"), "measured", "What a cell begins with: its first noisy count, or nothing."
    )

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        expect_few(keys, self.name)
        super().__init__(keys, guarantee, source=source, **options)
        self._class = keys.dense.astype(np.intp) if isinstance(keys, RoadGrid) else None
        self._process = np.array([self.sparse_variance, self.dense_variance])
        self._mean: Array | None = None
        # What the filter believes of its error, which sets the gain, and what its error really is.
        self._believed = np.zeros(2)
        self._real = np.zeros(2)

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:  # noqa: ARG002
        if self._mean is not None:
            self._believed = self._believed + self._process
            self._real = self._real + self._process
        if measurement is None or measurement.values is None:
            return nothing_known(self.keys) if self._mean is None else self._told()
        noise = float(np.max(measurement.variance))
        taken_for = noise / self.trust
        if self._mean is None and self.start == "zero":
            self._mean = np.zeros(len(self.keys))
            self._believed, self._real = self._process, np.full(2, noise)
        if self._mean is None:  # as in the univariate filter: the first noisy value is released as it is
            self._mean = measurement.values.astype(np.float64)
            self._believed, self._real = np.full(2, taken_for), np.full(2, noise)
            return self._told()
        gain = self._believed / (self._believed + taken_for)
        change = measurement.values - self._mean
        change *= self._of_class(gain)
        self._mean = np.add(change, self._mean, out=change)
        self._believed = (1 - gain) * self._believed
        self._real = (1 - gain) ** 2 * self._real + gain**2 * noise
        return self._told()

    def _of_class(self, two: Array) -> Any:
        """One number for all cells, or one for each by its class."""
        return two[_DENSE] if self._class is None else np.take(two, self._class)

    def _told(self) -> Estimate:
        assert self._mean is not None
        errors = np.broadcast_to(self._of_class(np.sqrt(self._real)), self._mean.shape)
        errors = errors if errors.flags.writeable else errors.copy()
        # A million cells: every pass over memory counts, so these are done in place.
        upper = _NORMAL * errors
        lower = self._mean - upper
        upper += self._mean
        np.maximum(upper, 0.0, out=upper)
        np.maximum(lower, 0.0, out=lower)
        if self.cut:
            return Estimate(np.maximum(self._mean, 0.0), errors, lower, upper)
        return Estimate(self._mean.copy(), errors, np.minimum(lower, self._mean), upper)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        if self._mean is None:
            return {}, {}
        return {}, {"mean": self._mean, "believed": self._believed, "real": self._real}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._mean = arrays.get("mean")
        self._believed, self._real = arrays.get("believed", np.zeros(2)), arrays.get("real", np.zeros(2))
