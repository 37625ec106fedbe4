"""How errors of cells on a road map go together: by the total, by groups, regions and stretches of road."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Domain, JointErrors
from hubbub.released.joint import Causes, few_bytes, unreadable
from hubbub.spatial.road_belief import WITHIN, RoadBelief
from hubbub.spatial.road_units import RoadUnits

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


class RoadErrors(JointErrors):
    """What a release of `roads` says of its errors, in some ten bytes a stretch; the map says the rest.

    The error of the total is common to all cells, that of a group's share to all of its stretches, that of a stretch
    to all of its cells. How vehicles divide within a stretch matters only where an area cuts it. What is known wrongly
    stays wrong until somebody measures again (`kept`); who is on a stretch at the moment is another matter in
    every tick.

    | array | for each | what |
    |---|---|---|
    | `total` | | the variance of the total, relative to its square |
    | `share`, `share_error` | group | its share of all vehicles |
    | `region_error` | region | relative to its factor |
    | `now`, `now_error` | stretch | its vehicles, were all the above known |
    | `lasting_error` | stretch | that part of it which is so in the next tick too |
    | `…_kept` | the same | which part of it was so in the tick before; all of it, if there is no such array |
    """

    kind: ClassVar[str] = "roads"

    @classmethod
    def of(cls, belief: RoadBelief, before: RoadBelief | None = None) -> RoadErrors:
        """Of what is believed after a tick; `before` is what was expected of that tick."""
        b, units = belief, belief.units
        plain = (b.trend.level * b.share)[units.group] * b.region[units.region] * units.stretch_share
        unlooked = np.isnan(b.factor_variance)
        lasting = np.where(unlooked, b.now_variance - b.now, plain**2 * np.where(unlooked, 1.0, b.factor_variance))
        arrays: dict[str, NDArray[Any]] = {
            "total": np.array([b.trend.relative_variance]),
            "share": b.share.astype(np.float32),
            "share_error": np.sqrt(b.share_variance).astype(np.float32),
            "region_error": few_bytes(np.sqrt(b.region_variance) / b.region),
            "now": b.now.astype(np.float32),
            "now_error": few_bytes(np.sqrt(b.now_variance)),
            "lasting_error": few_bytes(np.sqrt(np.clip(lasting, 0.0, b.now_variance))),
        }
        return cls(arrays if before is None else arrays | _kept(belief, before))

    def causes(self, keys: Domain, values: Array, cells: Whole) -> Causes:  # noqa: ARG002 - a point release has others
        units = RoadUnits.of(keys)
        many, groups = len(units.group), units.groups.many
        regions = int(units.region.max()) + 1
        sizes = {"total": 1, "share": groups, "share_error": groups, "region_error": regions}
        self._expect(sizes | dict.fromkeys(("now", "now_error", "lasting_error"), many))
        of = units.stretches.of[cells]
        share = units.cell_share[cells]
        part, uneven = (np.bincount(of, one, minlength=many) for one in (share, share**2))
        now, now_error = self._wide("now"), self._wide("now_error")
        held = part * now
        value = float(held.sum())
        # Shares add up to one: where all groups are in the area alike, their errors make up for each other.
        in_groups = np.bincount(units.group, held, minlength=groups) / self._wide("share") - value
        in_regions = np.bincount(units.region, held, minlength=regions)
        lasting = np.minimum(self._wide("lasting_error"), now_error) ** 2
        outside = np.maximum(1 - part, 0.0)
        fresh = float((part**2 * (now_error**2 - lasting) + outside * held).sum())
        # Which cells of a stretch have more than the map says is so in every tick.
        within = outside * uneven * (WITHIN * now) ** 2
        parts = (
            (np.array([value]), self._wide("total"), self._kept("total_kept", 1)),
            (in_groups, self._wide("share_error") ** 2, self._kept("share_kept", groups)),
            (in_regions, self._wide("region_error") ** 2, self._kept("region_kept", regions)),
            (part, lasting, self._kept("stretch_kept", many)),
            (np.sqrt(within), np.ones(many), np.ones(many)),
            (np.ones(1), np.array([fresh]), np.zeros(1)),
        )
        loads, variances, kept = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Causes(value, loads, variances, kept)

    def _wide(self, name: str) -> Array:
        return self.arrays[name].astype(np.float64)

    def _kept(self, name: str, size: int) -> Array:
        kept = self.arrays.get(name)
        return np.ones(size) if kept is None or len(kept) != size else kept.astype(np.float64)

    def _expect(self, sizes: dict[str, int]) -> None:
        """A map has so many stretches, groups and regions; what belongs to another one was not written for it."""
        if any(name not in self.arrays or len(self.arrays[name]) != size for name, size in sizes.items()):
            raise unreadable()


_KEPT = ("total_kept", "share_kept", "region_kept", "stretch_kept")


def _kept(after: RoadBelief, before: RoadBelief) -> dict[str, NDArray[Any]]:
    """A measurement that leaves a variance of P, where there was Q, leaves P/Q of what was off before (Kalman 1960)."""
    pairs = zip(
        _KEPT,
        (
            (after.trend.covariance[:1, 0], before.trend.covariance[:1, 0]),
            (after.share_variance, before.share_variance),
            (after.region_variance, before.region_variance),
            (after.factor_variance, before.factor_variance),
        ),
        strict=True,
    )
    found = {}
    for name, (left, was) in pairs:
        with np.errstate(invalid="ignore", divide="ignore"):
            kept = np.clip(np.nan_to_num(left / was, nan=1.0, posinf=1.0), 0.0, 1.0)
        if (kept < 1).any():
            found[name] = few_bytes(kept)
    return found
