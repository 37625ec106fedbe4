"""Counts on a map without roads: areas of several sizes, made consistent, filtered in time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.mechanism import Estimate, Measurement, OnlineMechanism, Option, Traits
from hubbub.mechanism.kinds import Number, Word
from hubbub.mechanism.measurement import NoiseKind
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.ukf import nothing_known
from hubbub.released import Cost, Domain, Tick
from hubbub.released.skewed import best_alone
from hubbub.spatial.area_belief import AreaBelief, Level, consistent
from hubbub.spatial.area_errors import AreaErrors
from hubbub.spatial.area_tree import AreaTree
from hubbub.spatial.maps import expect_few
from hubbub.spatial.noisy_sums import NoisySums, Parts
from hubbub.spatial.trend import Trend

Array = NDArray[np.float64]

POINT = "point"
TOTAL, TICKS, COARSE = Fraction(1, 20), Fraction(3, 20), Fraction(1, 20)
"""Of the budget: for the total of every tick, for the coarsest areas, and for better ones at a look; the rest is for
all finer levels."""
PLACES = Fraction(2, 3)
"""Of what finer levels get: for the places themselves, if there are areas between; these share the rest evenly."""
HIDDEN = 2.0
"""A level is measured while the noise of all looks together is not larger than so many times an average count."""
_TOTAL = "total"
_NORMAL = 1.959963984540054


class Areas(OnlineMechanism):
    """Counts by place on any public map: hexagons, zones, a grid. Places make up areas, these larger ones.

    The total and the coarsest areas are measured at every tick, all finer levels now and then, at a *look*: for a
    person's horizon in ticks 0, 1, 3, 7, 15, …, otherwise at every tick. Sums of all levels are joined by least squares
    (from the places up, from the whole down), so that places add up to areas and areas to the total. What is kept from
    tick to tick is the total with its trend, and each area's share of the one above it: shares move slowly, so that
    they are filtered, and a new total is divided by them. No number is below zero, and any set of places has an
    interval (`total`).

    With `numbers` = additive, places add up to areas. With point each place has the number that is best for its
    relative error: nothing where noise hides it. Such numbers must not be added up; areas (`total`) are told as before.

    Areas follow from the map alone: parents in H3 for hexagons, halves of where the centres lie for other places.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: sums over each level, with discrete Laplace noise of scale max_items / cost (pure) or discrete Gaussian
        of variance max_items² / (2 cost) (zCDP, approximate). Of the budget 4/20 are spread over max_ticks ticks (1/20
        for totals, 3/20 for the coarsest areas); the rest over the looks, of which no unit meets more.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Hay, Rastogi, Miklau & Suciu 2010, section 4 (consistent sums); Dwork & Roth 2014, Thm 3.16.
        Proof: docs/proofs/spatial.md (proved).

    >>> from hubbub.privacy import User
    >>> from hubbub.released import Grid, total
    >>> city = Grid(16, 16, bounds=(0, 0, 16, 16))
    >>> stream = Areas(city, Guarantee.pure(User(horizon=100), 1))
    >>> print(stream.guarantee)
    Each person's presence changes any output's probability by at most a factor e^1 = 2.72, over all 100 ticks ...
    >>> [stream.release(Counts.of(city, Tick(tick), np.full(256, 40))).cost for tick in range(3)]
    [Cost(epsilon=407/3500), Cost(epsilon=407/3500), Cost(epsilon=1/500)]
    """

    name: ClassVar[str] = "areas"
    traits: ClassVar[Traits] = Traits(even_cost=False, plain=False, independent_keys=False)

    drift: Option[float] = Option(
        Number(above=0.0),
        4e-4,
        "By how much an area's share of the one above moves in a tick, as a relative variance.",
    )
    numbers: Option[str] = Option(
        Word("additive", POINT), "additive", "Numbers that add up to areas, or the best for each place alone."
    )

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        expect_few(keys, self.name)
        super().__init__(keys, guarantee, source=source, **options)
        self.tree = AreaTree.of(keys)
        self._sums = NoisySums(guarantee, source)
        self._whole = Parts(np.zeros(len(keys), dtype=np.int64), 1)
        ticks, horizon = guarantee.unit.max_ticks, guarantee.unit.horizon
        self._looks = ticks if horizon is None else min(horizon.bit_length(), ticks)
        self._always = horizon is None
        budget = guarantee.budget
        self._total_price, self._coarse_price = budget * TOTAL / ticks, budget * TICKS / ticks
        self._look_prices = [self._of_levels(budget / self._looks, many) for many in range(len(self.tree.levels))]
        self._looked, self._due = 0, 0
        self._belief: AreaBelief | None = None

    def _of_levels(self, each: Fraction, finer: int) -> list[Fraction]:
        """What a look pays for the coarsest and as many `finer` levels, where `each` look has a part of the budget."""
        rest = 1 - TOTAL - TICKS - COARSE
        if not finer:
            return [self._coarse_price + each * (rest + COARSE)]
        places = each * rest * (PLACES if finer > 1 else 1)
        between = [(each * rest - places) / max(finer - 1, 1)] * (finer - 1)
        return [self._coarse_price + each * COARSE, *between, places]

    def cost(self, tick: Tick) -> Cost:
        return self._priced(self._total_price + sum(self._prices(self._is_look(tick)), Fraction(0)))

    def _is_look(self, tick: Tick) -> bool:
        return self._always or (self._looked < self._looks and tick.index >= self._due)

    def _priced(self, amount: Fraction) -> Cost:
        return Cost(epsilon=amount) if self.guarantee.kind == "pure" else Cost(rho=amount)

    def _prices(self, look: bool) -> list[Fraction]:
        """Of the levels that are measured in a tick, the coarsest first."""
        return self._look_prices[self._finer()] if look else [self._coarse_price]

    def _finer(self) -> int:
        """How many finer levels a look measures: where places hold so few that noise hides them, areas get the money.

        It is decided by the total that is believed, so by released values; a look costs the same in any case.
        """
        finer = len(self.tree.levels) - 1
        while self._belief is not None and finer:
            price = self._look_prices[finer][-1]
            each = self._belief.trend.level / self.tree.levels[finer].many
            if self._sums.variance(self._priced(price)) <= self._looks * (HIDDEN * each) ** 2:
                break
            finer -= 1
        return finer

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        prices = [self._priced(one) for one in self._prices(self._is_look(counts.tick))]
        extra = {_TOTAL: self._sums.measure(counts, self._whole, self._priced(self._total_price))}
        for number, price in enumerate(prices):
            extra[f"level {number + 1}"] = self._sums.measure(counts, self.tree.levels[number], price)
        # Beside each place stands its even share of the smallest sum that was measured, in whole numbers.
        finest = self.tree.levels[len(prices) - 1]
        share = (1 / np.bincount(finest.of, minlength=finest.many))[finest.of]
        variance = share**2 * self._sums.variance(prices[-1]) + np.where(share < 1, 1 / 12, 0.0)
        values = np.rint(share * extra[f"level {len(prices)}"][finest.of]).astype(np.int64)
        shape: NoiseKind = "laplace" if self.guarantee.kind == "pure" else "gaussian"
        return Measurement(counts.tick, self.keys, values, variance, cost, shape, correlated=True, extra=extra)

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:
        before = None if self._belief is None else self._belief.later(self.drift)
        if measurement is None:
            self._belief = before
            return nothing_known(self.keys) if before is None else self._told(before, before.expected(), 1.0)
        look = self._is_look(tick)
        noise = [self._sums.variance(self._priced(price)) for price in self._prices(look)]
        measured = [measurement.extra[f"level {number + 1}"].astype(np.float64) for number in range(len(noise))]
        sums = consistent(self.tree, list(zip(measured, noise, strict=True)))
        own = self._sums.variance(self._priced(self._total_price))
        below = float(sums[0][1].sum())
        variance = 1 / (1 / own + 1 / below)
        total = variance * (float(measurement.extra[_TOTAL][0]) / own + float(sums[0][0].sum()) / below)
        if before is None:
            before = AreaBelief.begin(self.tree, total, variance)
            trend, kept = before.trend, 1.0
        else:
            trend = before.trend.with_total(total, variance)
            kept = trend.kept(before.trend)
        self._belief, told = before.seen(sums, trend)
        if look:
            self._looked_at(tick)
        return self._told(self._belief, told, kept)

    def _told(self, belief: AreaBelief, levels: list[Level], kept: float) -> Estimate:
        tree, trend = self.tree, belief.trend
        relative = trend.relative_variance
        variance, above = np.array([relative * trend.level**2]), np.array([trend.level])
        for at, level in enumerate(levels):
            parents = tree.parents[at]
            part = level.now / np.maximum(above, 1e-9)[parents]
            variance = part**2 * variance[parents]
            for own in (level.lasting, level.fresh):  # what one has more of, others of the same area have less
                variance += own * (1 - own / np.maximum(tree.added(at, own), 1e-300)[parents])
            above = level.now
        value, error = levels[-1].now, np.sqrt(variance)
        lower, upper = _interval(value, error)
        point = self.numbers == POINT
        joint = AreaErrors.of(levels, relative, kept, alone=point)
        if point:
            value = best_alone(value, variance)
        return Estimate(value, error, np.minimum(lower, np.floor(value)), upper, joint)

    def _looked_at(self, tick: Tick) -> None:
        self._looked += 1
        self._due = (1 << (tick.index + 1).bit_length()) - 1

    def _lose(self, tick: Tick, cost: Cost) -> None:
        if self._account.amount(cost) > self._total_price + self._coarse_price:
            self._looked_at(tick)  # it was paid for, so there is one look less

    def _skip(self, tick: Tick, missing: int) -> None:  # noqa: ARG002
        if self._belief is not None:
            self._belief = self._belief.later(self.drift, missing)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, belief = {"looked": self._looked, "due": self._due}, self._belief
        if belief is None:
            return facts, {}
        arrays = belief.trend.to_arrays()
        for number, (share, variance) in enumerate(zip(belief.share, belief.variance, strict=True), 1):
            arrays |= {f"share_{number}": share, f"variance_{number}": variance}
        return facts, arrays

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._looked, self._due = facts["looked"], facts["due"]
        self._belief = None
        if arrays:
            numbers = range(1, len(self.tree.levels) + 1)
            share, variance = (tuple(arrays[f"{name}_{one}"] for one in numbers) for name in ("share", "variance"))
            self._belief = AreaBelief(self.tree, Trend.from_arrays(arrays), share, variance)


def _interval(value: Array, error: Array) -> tuple[Array, Array]:
    """Of whole numbers that are not below zero. Small ones are spread to one side, as a gamma distribution is; of those
    that are small beside their error no more is known than that.
    """
    shape = (value / np.maximum(error, 1e-9)) ** 2
    ninth = 1 / (9 * np.maximum(shape, 1.0))
    ends = []
    for at in (-_NORMAL, _NORMAL):
        gamma = value * np.maximum(1 - ninth + at * np.sqrt(ninth), 0.0) ** 3
        ends.append(np.where(shape > 1, gamma, np.maximum(value + at * error, 0.0)))
    return np.floor(np.minimum(ends[0], value)), np.ceil(np.maximum(ends[1], value))
