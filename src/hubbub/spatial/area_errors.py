"""How errors of places go together that were measured by a tree of areas."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Domain, JointErrors
from hubbub.released.joint import Causes, few_bytes, unreadable
from hubbub.spatial.area_belief import Level
from hubbub.spatial.area_tree import AreaTree

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


class AreaErrors(JointErrors):
    """What a release of `areas` says of its errors, in two to six bytes a place; values and the map say the rest.

    An error of the whole is common to all places, that of an area's share to all places in it. Shares add up to one, so
    that errors of the areas in one larger area make up for each other.

    | array | for each | what |
    |---|---|---|
    | `total` | | the variance of the total relative to its square; and which part of its error was there before |
    | `lasting_1`, … | area of a level | how wrong its count is, were that above it known, in the next tick too |
    | `fresh_1`, … | the same | in this tick alone; if there is no such array, the square root of its count |
    | `kept_1`, … | the same | which part of the lasting error was there a tick before; all, if there is no such array |
    | `places` | place | what adds up, where the values of the release are those that are best alone |
    """

    kind: ClassVar[str] = "areas"

    @classmethod
    def of(cls, levels: list[Level], total: float, kept: float, *, alone: bool = False) -> AreaErrors:
        """`alone`: the release has other values than those that add up."""
        arrays: dict[str, NDArray[Any]] = {"total": np.array([total, kept])}
        if alone:
            arrays["places"] = levels[-1].now.astype(np.float32)
        for number, level in enumerate(levels, 1):
            arrays[f"lasting_{number}"] = few_bytes(np.sqrt(level.lasting))
            if level.fresh is not level.now:
                arrays[f"fresh_{number}"] = few_bytes(np.sqrt(level.fresh))
            if level.kept is not None:
                arrays[f"kept_{number}"] = few_bytes(level.kept)
        return cls(arrays)

    def causes(self, keys: Domain, values: Array, cells: Whole) -> Causes:
        tree = AreaTree.of(keys)
        values = self.arrays.get("places", values).astype(np.float64)
        if len(values) != len(keys):
            raise unreadable()
        now, inside = values, np.zeros(len(values))
        inside[cells] = 1.0
        loads, variances, kept, fresh = [], [], [], 0.0
        for at in range(len(tree.levels) - 1, -1, -1):
            parents, many = tree.parents[at], tree.levels[at].many
            lasting = self._squared(f"lasting_{at + 1}", many)
            alone = self._squared(f"fresh_{at + 1}", many, now)
            above = tree.added(at, now)
            scale = np.maximum(above, 1.0)[parents]
            loads.append(scale * (inside - _mean(tree, at, inside, lasting)[parents]))
            variances.append(lasting / scale**2)
            kept.append(self._kept(f"kept_{at + 1}", many))
            fresh += float((alone * (inside - _mean(tree, at, inside, alone)[parents]) ** 2).sum())
            inside, now = _mean(tree, at, inside, now), above
        total = self.arrays.get("total")
        if total is None or len(total) != 2:
            raise unreadable()
        value = float(values[cells].sum())
        return Causes(
            value,
            np.concatenate([*loads, [value, 1.0]]),
            np.concatenate([*variances, [total[0], fresh]]),
            np.concatenate([*kept, [total[1], 0.0]]),
        )

    def _squared(self, name: str, many: int, instead: Array | None = None) -> Array:
        errors = self.arrays.get(name)
        if errors is None and instead is not None:
            return instead
        if errors is None or len(errors) != many:
            raise unreadable()
        return errors.astype(np.float64) ** 2

    def _kept(self, name: str, many: int) -> Array:
        kept = self.arrays.get(name)
        if kept is not None and len(kept) != many:
            raise unreadable()
        return np.ones(many) if kept is None else kept.astype(np.float64)


def _mean(tree: AreaTree, at: int, inside: Array, weights: Array) -> Array:
    """Of each area above: which part of it the asked places are, by these weights."""
    whole = tree.added(at, weights)
    plain = tree.added(at, tree.expected[at] * inside)
    return np.where(whole > 0, tree.added(at, weights * inside) / np.maximum(whole, 1e-300), plain)
