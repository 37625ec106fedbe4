"""Traffic on roads: totals at every tick, stretches of road now and then, cells by what the map says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.mechanism import Estimate, Measurement, OnlineMechanism, Option, Traits
from hubbub.mechanism.kinds import Word
from hubbub.mechanism.measurement import NoiseKind
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.ukf import nothing_known
from hubbub.released import Cost, Domain, Tick
from hubbub.released.skewed import best_alone, interval
from hubbub.released.totals import as_value, positions_of
from hubbub.released.value import Value
from hubbub.spatial.maps import expect_few
from hubbub.spatial.noisy_sums import NoisySums, Parts
from hubbub.spatial.road_belief import RoadBelief
from hubbub.spatial.road_errors import RoadErrors
from hubbub.spatial.road_map import RoadGrid
from hubbub.spatial.road_units import RoadUnits
from hubbub.spatial.trend import Trend

POINT = "point"
TOTAL, TICKS, GROUPS = Fraction(1, 20), Fraction(1, 4), Fraction(1, 20)
"""Of the budget: for the total of every tick, for that of groups, and for better ones at a look; the rest is for
stretches."""
_TOTAL, _GROUPS, _STRETCHES = "total", "groups", "stretches"


class Roads(OnlineMechanism):
    """Counts on a road map (`RoadCells`), where the map itself says most of what there is to know.

    Nothing is spent where there is no road. What the map expects of each stretch of road (by its length, and by how
    many shortest ways lead over it) is corrected by what is measured: the total and some thirty groups of stretches at
    every tick, and now and then, at a *look*, all stretches. For a person's horizon looks are in ticks 0, 1, 3, 7, 15,
    …: shares of traffic change slowly, so that an early look serves for long. For sessions, events and windows every
    tick is a look. Noisy values are filtered in time, by regions too, and a cell is given its share of its stretch.

    With `numbers` = additive, cells add up to areas (`area`). With point each cell has the number that is best for its
    relative error, which is smaller than what is to be expected: such numbers must not be added up. In a domain
    without roads every key is a stretch.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: the sum of all, sums over groups, and at a look over stretches, with discrete Laplace noise of scale
        max_items / cost (pure) or discrete Gaussian of variance max_items² / (2 cost) (zCDP, approximate). Of the
        budget 6/20 are spread over max_ticks ticks; the rest over the looks, of which no unit meets more.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Dwork, McSherry, Nissim & Smith 2006, Prop. 1; Dwork & Roth 2014, Prop. 2.1 and Thm 3.16.
        Proof: docs/proofs/spatial.md (proved).

    >>> from hubbub.privacy import User
    >>> from hubbub.spatial import RoadCells, RoadGrid, made_up
    >>> city = RoadCells(RoadGrid.over(made_up(100), 64, 64))
    >>> roads = Roads(city, Guarantee.pure(User(horizon=100), 1))
    >>> print(roads.guarantee)
    Each person's presence changes any output's probability by at most a factor e^1 = 2.72, over all 100 ticks ...
    >>> [roads.release(Counts.of(city, Tick(tick), np.ones(len(city), int))).cost for tick in range(3)]
    [Cost(epsilon=103/1000), Cost(epsilon=103/1000), Cost(epsilon=3/1000)]
    """

    name: ClassVar[str] = "roads"
    traits: ClassVar[Traits] = Traits(even_cost=False, plain=False, independent_keys=False)

    numbers: Option[str] = Option(
        Word("additive", POINT), "additive", "Numbers that add up to areas, or the best for each cell alone."
    )

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        expect_few(keys, self.name)
        super().__init__(keys, guarantee, source=source, **options)
        if isinstance(keys, RoadGrid):
            raise InvalidParameter(
                "`roads` counts cells with a road, and this grid has others too.", "Count by RoadCells(grid)."
            )
        self.units = RoadUnits.of(keys)
        self._sums = NoisySums(guarantee, source)
        ticks, horizon = guarantee.unit.max_ticks, guarantee.unit.horizon
        self._looks = ticks if horizon is None else min(horizon.bit_length(), ticks)
        self._always = horizon is None
        budget = guarantee.budget
        self._total_price, self._group_price = budget * TOTAL / ticks, budget * TICKS / ticks
        self._look_group_price = self._group_price + budget * GROUPS / self._looks
        self._stretch_price = budget * (1 - TOTAL - TICKS - GROUPS) / self._looks
        self._whole = Parts(np.zeros(len(keys), dtype=np.int64), 1)
        self._looked, self._due = 0, 0
        self._belief: RoadBelief | None = None

    @property
    def belief(self) -> RoadBelief | None:
        """What is believed after the last tick; it rests on released values alone. None before the first."""
        return self._belief

    def area(self, cells: ArrayLike) -> Value:
        """How many are in these cells (positions in the domain) after the last tick, with an interval; it is free."""
        if self._belief is None:
            raise InvalidParameter("Nothing was released yet, so no area is known of.", "Release a tick first.")
        some = positions_of(self.keys, cells)
        causes = RoadErrors.of(self._belief).causes(self.keys, self._belief.now, some)
        return as_value(causes.value, causes.variance, skewed=True)

    def cost(self, tick: Tick) -> Cost:
        if self._is_look(tick):
            return self._priced(self._total_price + self._look_group_price + self._stretch_price)
        return self._priced(self._total_price + self._group_price)

    def _is_look(self, tick: Tick) -> bool:
        return self._always or (self._looked < self._looks and tick.index >= self._due)

    def _priced(self, amount: Fraction) -> Cost:
        return Cost(epsilon=amount) if self.guarantee.kind == "pure" else Cost(rho=amount)

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        look = self._is_look(counts.tick)
        if look:  # before it draws: should that fail, the look is paid for, and must not be taken again
            self._looked_at(counts.tick)
        units, prices = self.units, self._prices(look)
        parts = {_TOTAL: self._whole, _GROUPS: units.groups, _STRETCHES: units.stretches}
        extra = {name: self._sums.measure(counts, parts[name], price) for name, price in prices.items()}
        # Beside each cell stands its share of the smallest sum that was measured, in whole numbers.
        finest = _STRETCHES if _STRETCHES in extra else _GROUPS
        share = units.cell_share
        if finest == _GROUPS:
            share = share * units.stretch_share[units.stretches.of]
        variance = share**2 * self._sums.variance(prices[finest]) + np.where(share < 1, 1 / 12, 0.0)
        values = np.rint(share * extra[finest][parts[finest].of]).astype(np.int64)
        shape: NoiseKind = "laplace" if self.guarantee.kind == "pure" else "gaussian"
        return Measurement(counts.tick, self.keys, values, variance, cost, shape, correlated=True, extra=extra)

    def _prices(self, look: bool) -> dict[str, Cost]:
        """What each kind of sum is paid; together the cost of the tick."""
        prices = {_TOTAL: self._total_price, _GROUPS: self._look_group_price if look else self._group_price}
        if look:
            prices[_STRETCHES] = self._stretch_price
        return {name: self._priced(price) for name, price in prices.items()}

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:  # noqa: ARG002
        before = None if self._belief is None else self._belief.later()
        if measurement is None:
            self._belief = None if before is None else before.unseen()
            return nothing_known(self.keys) if self._belief is None else self._told(self._belief, before)
        look = _STRETCHES in measurement.extra
        sums = {name: values.astype(np.float64) for name, values in measurement.extra.items()}
        noise = {name: self._sums.variance(price) for name, price in self._prices(look).items()}
        groups, groups_variance = sums[_GROUPS], np.full(self.units.groups.many, noise[_GROUPS])
        if look:  # stretches add up to groups, and groups to the total: all are weighed by their variance
            of = self.units.group
            added = np.bincount(of, sums[_STRETCHES])
            groups, groups_variance = _joined(groups, groups_variance, added, noise[_STRETCHES] * np.bincount(of))
        total, total_variance = _joined(sums[_TOTAL][0], noise[_TOTAL], groups.sum(), groups_variance.sum())
        if before is None:
            after = RoadBelief.begin(self.units, total, total_variance)
        else:
            after = before.with_total(total, total_variance)
        after = after.with_groups(groups, groups_variance)
        self._belief = after.with_stretches(sums[_STRETCHES], noise[_STRETCHES]) if look else after.unseen()
        return self._told(self._belief, before)

    def _told(self, belief: RoadBelief, before: RoadBelief | None) -> Estimate:
        value, variance = belief.cells()
        error = np.sqrt(variance)
        lower, upper = interval(value, variance)
        if self.numbers == POINT:
            value = best_alone(value, variance)
        return Estimate(value, error, np.minimum(lower, value), upper, RoadErrors.of(belief, before))

    def _looked_at(self, tick: Tick) -> None:
        self._looked += 1
        self._due = (1 << (tick.index + 1).bit_length()) - 1

    def _lose(self, tick: Tick, cost: Cost) -> None:
        if self._account.amount(cost) > self._total_price + self._group_price:
            # It was paid for, so there is one look less.
            self._looked_at(tick)

    def _skip(self, tick: Tick, missing: int) -> None:  # noqa: ARG002
        if self._belief is not None:
            self._belief = self._belief.later(missing)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts = {"looked": self._looked, "due": self._due}
        if self._belief is None:
            return facts, {}
        return facts, self._belief.trend.to_arrays() | {name: getattr(self._belief, name) for name in _KEPT}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._looked, self._due = facts["looked"], facts["due"]
        if not arrays:
            self._belief = None
            return
        self._belief = RoadBelief(self.units, Trend.from_arrays(arrays), *(arrays[name] for name in _KEPT))


_KEPT = tuple(name + error for name in ("share", "region", "factor", "now") for error in ("", "_variance"))


def _joined(one: Any, its: Any, other: Any, others: Any) -> tuple[Any, Any]:
    """The mean of two noisy values of the same, weighed by their variances, and its variance."""
    both = 1 / (1 / its + 1 / others)
    return both * (one / its + other / others), both
