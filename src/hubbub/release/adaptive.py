"""Look seldom, believe much: the default for a person's whole series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.filters import bank
from hubbub.filters.bank import BankState
from hubbub.filters.mixture import LogMixture
from hubbub.filters.noise_shape import NoiseShape
from hubbub.mechanism import Estimate, Measurement, Option, Traits
from hubbub.mechanism.kinds import Numbers
from hubbub.models.calendar import calendar_periods
from hubbub.models.shapes import Shapes
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.look_budget import LookBudget
from hubbub.release.releaser import Releaser
from hubbub.release.schedule import FEWEST, Candidates, numbers_of_looks, shared_plan
from hubbub.released import Cost, Domain, Tick

MEMORY = 0.98
LEANS = (0.15, 0.6)
"""How far the released point leans from the median towards the point of least relative error (1): where the level is
well known, and where it is not known at all. Too high is the worse mistake, since it has no bound; but where much is
known, leaning far would only make a growing series lag."""
HALF_WAY = 2.0
"""The variance of the logarithm at which it leans half way between the two."""
HOPELESS = 0.8
"""If the bank itself expects a larger relative error of what it would release, it releases the share of it (`LOWER`) of
which it expects the least, perhaps nothing: zeros have a relative error of 1. The interval then reaches down to 0."""
LOWER = (1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05, 0.03, 0.0)
_SHARES = np.array([0.5, 0.025, 0.975, 0.16, 0.84])


class Adaptive(Releaser):
    """A bank of state-space models on the logarithm of the counts, and a schedule of looks that it plans by itself.

    Nothing is tuned by hand: the models are weighed by how well they foresaw the measurements, and the next look is
    taken when the expected error over the ticks that are left says so. A first look of a tenth of the budget seeks
    the level; what it leaves open is part of the plan for the rest. For units without a horizon (events, sessions,
    windows) there is nothing to save up: every tick is measured at the even cost and the bank decides how much to
    smooth.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: a look at cost e adds discrete Laplace noise of scale max_items / e (pure) or discrete Gaussian noise
        of variance max_items / (2 rho). A unit's `max_ticks` most expensive looks add up to at most the budget.
        When to look and what to pay is decided from released values and the calendar.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Rogers, Roth, Ullman & Vadhan 2016, Thm 3.1 (adaptively chosen parameters, a bound on their sum).
        Proof: docs/proofs/adaptive.md (proved).

    >>> from hubbub.privacy import User
    >>> from hubbub.released import Keys
    >>> adaptive = Adaptive(Keys(["flu"]), Guarantee.pure(User(horizon=52), 1))
    >>> print(adaptive.guarantee)
    Each person's presence changes any output's probability by at most a factor e^1 = 2.72, over all 52 ticks ...
    >>> from hubbub.confidential import Counts
    >>> release = adaptive.release(Counts.of(adaptive.keys, Tick(0), [1699]))
    >>> release.cost
    Cost(epsilon=1/10)
    """

    name: ClassVar[str] = "adaptive"
    state_version: ClassVar[int] = 3

    traits: ClassVar[Traits] = Traits(even_cost=False)

    periods: Option[Sequence[float] | None] = Option(
        Numbers(),
        None,
        "Public rhythms in ticks; left out, they follow from the first tick's length: a week and a year for days, "
        "12 for months.",
    )

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        periods = self.periods
        self._pure = guarantee.kind == "pure"
        self._plans = guarantee.unit.horizon is not None
        self._budget = LookBudget(guarantee)
        self._shapes: Shapes | None = None if periods is None else self._usual(periods)
        self._bank: BankState | None = None
        self._clock = 0  # ticks gone by
        self._looking = 0  # the tick of the next look; -1: never again
        self._price = self._first_price()
        self._planned = False  # whether there was a plan yet
        self._until_plan = 0  # looks to take before planning anew
        self._gap = 1  # ticks between those looks

    # ── what it costs ────────────────────────────────────────────────────────────────────────────────────────────

    def cost(self, tick: Tick) -> Cost:
        """The price of the planned look if one is due; nothing otherwise."""
        if not self._plans:
            return self._even_cost
        due = 0 <= self._looking <= tick.index
        price = min(self._price, self._most())
        if not due or price <= 0:
            return Cost.nothing()
        return Cost(epsilon=price) if self._pure else Cost(rho=price)

    def _most(self) -> Fraction:
        """The most expensive look that the budget still allows."""
        return max(self._budget.left, self._budget.even if self._budget.may_look_always else Fraction(0))

    def _first_price(self) -> Fraction:
        horizon = self.guarantee.unit.horizon
        return self._budget.budget if horizon == 1 else self._budget.first

    def _lose(self, tick: Tick, cost: Cost) -> None:  # noqa: ARG002
        """What a crash lost is taken from the budget of looks too."""
        if self._plans:
            self._budget.spend(self._account.amount(cost))

    # ── estimation ───────────────────────────────────────────────────────────────────────────────────────────────

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:
        if self._shapes is None:  # the length of a tick is public: it tells the periods
            self._shapes = self._usual(calendar_periods(tick.length))
        shapes = self._shapes
        state, at = self._step(shapes), self._clock - 1
        if measurement is None or measurement.values is None:
            return _told(bank.believe(state, shapes, at))
        noise = NoiseShape(np.atleast_1d(measurement.scale), measurement.is_gaussian)
        state, belief = bank.correct(state, shapes, at, measurement.values.astype(np.float64), noise, MEMORY)
        self._bank = state
        if self._plans:
            self._budget.spend(self._account.amount(measurement.cost))
            self._plan(state, shapes, at)
        return _told(belief)

    def _step(self, shapes: Shapes) -> BankState:
        if self._bank is None:
            self._bank = bank.start(shapes, len(self.keys), self._centre)
        if self._clock:
            self._bank = bank.predict(self._bank, shapes)
        self._clock += 1
        return self._bank

    @property
    def _centre(self) -> float:
        # Below max_items/epsilon no method sees anything, far above it any does: the level is thought in between.
        return math.log(10 * self._scale(self._budget.budget if self._plans else self._budget.even))

    def _usual(self, periods: Sequence[float]) -> Shapes:
        return Shapes.usual(periods, self._centre)

    def _scale(self, amount: Fraction) -> float:
        """The noise scale (Laplace) or standard deviation (Gaussian) that an amount of budget buys."""
        items = self.guarantee.unit.max_items
        return float(items / amount) if self._pure else math.sqrt(items / (2 * float(amount)))

    # ── the schedule ─────────────────────────────────────────────────────────────────────────────────────────────

    def _plan(self, state: BankState, shapes: Shapes, tick: int) -> None:
        horizon = self.guarantee.unit.horizon
        assert horizon is not None
        ahead = horizon - 1 - tick
        if ahead <= 0 or self._most() <= 0:
            self._looking = -1
            return
        if self._until_plan > 0:
            self._until_plan -= 1
            self._looking = tick + self._gap
            return
        looks = numbers_of_looks(ahead, self._budget.looks_left, 1 if self._planned else FEWEST)
        prices = [self._budget.piece(int(n)) for n in looks]
        if self._budget.may_look_always and ahead > self._budget.looks_left:
            looks, prices = np.append(looks, ahead), [*prices, self._budget.even]
        scales = np.array([self._scale(price) for price in prices])
        chosen = shared_plan(state, shapes, ahead, Candidates(looks, scales), at_once=not self._planned)
        self._planned = True
        self._price = self._budget.piece(chosen.looks)
        self._looking = tick + chosen.delay
        self._gap = max(round(ahead / (chosen.looks + 1)), 1)
        self._until_plan = chosen.looks // 8

    # ── state ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts = {
            "clock": self._clock,
            "looking": self._looking,
            "price": str(self._price),
            "planned": self._planned,
            "until_plan": self._until_plan,
            "gap": self._gap,
            "purse": self._budget.state(),  # the budget; states already stored call it so, and must stay readable
            "periods": None if self._shapes is None else [period.length for period in self._shapes.periods],
        }
        if self._bank is None:
            return facts, {}
        b = self._bank
        return facts, {"mean": b.mean, "covariance": b.covariance, "log_weights": b.log_weights}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._clock, self._looking = facts["clock"], facts["looking"]
        self._price, self._planned = Fraction(facts["price"]), facts["planned"]
        self._until_plan, self._gap = facts["until_plan"], facts["gap"]
        self._budget.restore(facts["purse"])
        self._shapes = None if facts["periods"] is None else self._usual(facts["periods"])
        self._bank = BankState(arrays["mean"], arrays["covariance"], arrays["log_weights"]) if arrays else None


def _told(belief: LogMixture) -> Estimate:
    squared = belief.spread() ** 2
    leans = np.zeros((len(_SHARES), len(squared)))
    leans[0] = LEANS[0] + (LEANS[1] - LEANS[0]) * squared / (squared + HALF_WAY**2)
    value, low, high, below, above = belief.quantiles(_SHARES, leans)
    # Counts are whole: the interval ends at whole numbers, outwards, and so can hold zero.
    low, high = np.floor(low), np.ceil(high)
    hopeless = belief.relative_error(value) > HOPELESS
    if hopeless.any():
        value, low = np.where(hopeless, _lowered(belief, value), value), np.where(hopeless, 0.0, low)
    return Estimate(np.clip(value, low, high), (above - below) / 2, low, high)


def _lowered(belief: LogMixture, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of `value` and smaller shares of it, down to nothing, what the belief expects the least relative error of."""
    errors = np.stack([belief.relative_error(share * value) for share in LOWER])
    lowered: NDArray[np.float64] = np.array(LOWER)[errors.argmin(axis=0)] * value
    return lowered
