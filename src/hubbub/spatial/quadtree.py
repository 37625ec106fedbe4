"""The thesis's spatial estimation: a quadtree over the grid, one noise a part, spread evenly over its cells."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.mechanism import Estimate, Measurement, OnlineMechanism, Option, Traits
from hubbub.mechanism.kinds import Truth, Whole
from hubbub.mechanism.measurement import NoiseKind
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.lpa import held
from hubbub.released import Cost, Domain, Grid, Tick
from hubbub.spatial.blocks import Blocks
from hubbub.spatial.maps import expect_few
from hubbub.spatial.noisy_sums import NoisySums, Parts
from hubbub.spatial.road_map import RoadGrid

PARTS = "parts"
"""In a measurement: the noisy sum of each part."""


class Quadtree(OnlineMechanism):
    """Parts of the map, each measured as one sum that is shared out evenly among its cells (Fan 2014, Alg. 15, 16).

    A part is split into four while a road touches some of its cells but not all, and it is not yet `depth` splits
    deep. A grid without roads is split down to `depth`; in other domains every key is a part. What stands beside each
    cell as its measurement is its share of the part's, rounded. Of one cell among several nothing is known but that it
    holds no more than all of them: that is its interval.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: discrete Laplace of scale max_ticks max_items / epsilon (pure), or discrete Gaussian of variance
        max_ticks max_items² / (2 rho) (zCDP, approximate), a tick and part. Parts follow from the public map alone.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Fan 2014 (thesis), section 5.5.2; Dwork, McSherry, Nissim & Smith 2006, Prop. 1.
        Proof: docs/proofs/spatial.md (proved).

    >>> from hubbub.privacy import User
    >>> tree = Quadtree(Grid(8, 8), Guarantee.pure(User(horizon=100), 1), depth=2)
    >>> print(tree.guarantee)
    Each person's presence changes any output's probability by at most a factor e^1 = 2.72, over all 100 ticks ...
    >>> tree.parts.many
    16
    """

    name: ClassVar[str] = "quadtree"
    traits: ClassVar[Traits] = Traits(plain=False, independent_keys=False)

    depth: Option[int] = Option(Whole(0, most=14), 8, "How often a part is split into four at most.")
    cut: Option[bool] = Option(Truth(), True, "Whether numbers below zero are released as zero; not so in the thesis.")

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        expect_few(keys, self.name)
        super().__init__(keys, guarantee, source=source, **options)
        self._sums = NoisySums(guarantee, source)
        of = parts_of(keys, self.depth)
        self.parts = Parts(of, int(of.max()) + 1, Blocks(keys, _finest(keys, self.depth)))
        self._size = np.bincount(of).astype(np.float64)
        self._last = np.zeros(self.parts.many)
        self._nothing = np.zeros(len(keys))
        self._gaussian = guarantee.kind != "pure"
        self._prepared: tuple[Cost, NDArray[np.float64], NDArray[np.float64]] | None = None
        self._errors(self._even_cost)

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        sums = self._sums.measure(counts, self.parts, cost)
        variance, _ = self._errors(cost)
        each = self.parts.laid_out(np.rint(sums / self._size).astype(np.int64))
        shape: NoiseKind = "gaussian" if self._gaussian else "laplace"
        alone = self.parts.many == len(self.keys)
        return Measurement(
            counts.tick, self.keys, each, variance, cost, shape, correlated=not alone, extra={PARTS: sums}
        )

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:  # noqa: ARG002
        if measurement is None:
            return held(self.parts.laid_out(self._last))
        sums = measurement.extra[PARTS].astype(np.float64)
        _, errors = self._errors(measurement.cost)
        one = measurement._replace(values=None, variance=self._sums.variance(measurement.cost))
        reach = float(np.max(one.reach))
        lower = np.where(self._size == 1, np.maximum(sums - reach, 0.0), 0.0)
        each = sums / self._size
        self._last = np.maximum(each, 0.0) if self.cut else each
        lower = lower if self.cut else np.minimum(lower, each)
        below = self.parts.laid_out(lower) if lower.any() else self._nothing
        # Both in one block: a million cells are large for an allocator, which gives small change back at every tick.
        values, upper = self.parts.laid_out(np.stack([self._last, np.maximum(sums + reach, 0.0)]))
        return Estimate(values, errors, below, upper)

    def _errors(self, cost: Cost) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of every cell: the variance of its measurement, and the standard error that is told. Made once a cost."""
        if self._prepared is None or self._prepared[0] != cost:
            rounding = np.where(self._size > 1, 1 / 12, 0.0)
            variance = self.parts.laid_out(self._sums.variance(cost) / self._size**2 + rounding)
            self._prepared = cost, variance, np.sqrt(variance)
        return self._prepared[1], self._prepared[2]

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, {"last": self._last}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._last = arrays["last"]


def _finest(keys: Domain, depth: int) -> int:
    """The side of the smallest square that the tree can come to."""
    if not isinstance(keys, Grid):
        return 1
    longest = max(keys.columns, keys.rows)
    return 1 << max(int(longest - 1).bit_length() - depth, 0)


def parts_of(keys: Domain, depth: int) -> NDArray[np.int64]:
    """For each key the part it belongs to, numbered without gaps. It looks at the map alone."""
    if not isinstance(keys, Grid):
        return np.arange(len(keys))
    side = 1 << max(int(keys.columns - 1).bit_length(), int(keys.rows - 1).bit_length())
    levels = side.bit_length() - 1
    dense = keys.dense.reshape(keys.shape) if isinstance(keys, RoadGrid) else None
    # From the top: each cell has the number of the square that it lies in; squares that are not mixed stay.
    part = np.zeros(keys.shape, dtype=np.int64)
    mixed = np.ones(1, dtype=bool) if dense is None else _mixed(part, dense)
    row, column = np.arange(keys.rows)[:, None], np.arange(keys.columns)[None, :]
    for level in range(1, min(depth, levels) + 1):
        bit = levels - level
        quarter = (row >> bit & 1) * 2 + (column >> bit & 1)
        part = np.where(mixed[part], 4 * part + quarter, 4 * part)
        part = np.unique(part, return_inverse=True)[1].reshape(keys.shape)
        mixed = np.ones(int(part.max()) + 1, dtype=bool) if dense is None else _mixed(part, dense)
        if not mixed.any():
            break
    numbered: NDArray[np.int64] = part.ravel().astype(np.int64)
    return numbered


def _mixed(part: NDArray[np.int64], dense: NDArray[np.bool_]) -> NDArray[np.bool_]:
    roads = np.bincount(part.ravel(), dense.ravel())
    return (roads > 0) & (roads < np.bincount(part.ravel()))
