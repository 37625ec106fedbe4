"""What one unit has been charged so far, and the refusal to charge it more than was promised."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hubbub.errors import BudgetExceeded, HorizonReached, InvalidParameter, TickOutOfOrder
from hubbub.privacy.guarantee import Guarantee
from hubbub.released import Cost
from hubbub.released.cost import NO_SLIP

_WRONG = "The mechanism is wrong: it may take no more than it announced. Publish nothing of this tick."


class Account:
    """Adds up the costs of ticks under a guarantee, for the worst-placed unit, exactly.

    Pure costs add up (basic composition); rho adds up (Bun & Steinke 2016, Lemma 1.7). Amounts may depend on earlier
    *released* values: the bound is on the sum, whatever chose its terms (Rogers et al. 2016, Thm 3.1; for zCDP
    Feldman & Zrnic 2021, Thm 1). Which terms one unit meets is its unit's `composition`. What ticks may slip (`delta`)
    adds up in the same way, beside it, and has a limit of its own: the guarantee's `slips`
    (docs/proofs/composition.md).

    >>> from hubbub.privacy.unit import Session
    >>> account = Account(Guarantee.pure(Session(max_ticks=20), 1))
    >>> for tick in range(10_000):
    ...     account.charge(tick, Cost(epsilon=Fraction(1, 20)))  # a session stream runs for ever
    >>> account.spent, account.left
    (Fraction(1, 1), Fraction(0, 1))
    >>> account.charge(10_000, Cost(epsilon=Fraction(1, 19)))
    Traceback (most recent call last):
    ...
    hubbub.errors.BudgetExceeded: Tick 10000 would charge 1/19 ...
    """

    def __init__(self, guarantee: Guarantee) -> None:
        self.guarantee = guarantee
        self._budget = guarantee.budget
        self._composition = guarantee.unit.composition()
        self._last = -1
        # A tick whose draw has begun, the most that it may cost and slip, and both as they were given.
        self._held: tuple[int, Fraction, Fraction, Cost] | None = None
        self._slips = guarantee.slips
        self._slipping = guarantee.unit.composition() if self._slips else None  # most guarantees have no use for it
        self._within: Fraction | None = None  # the last total that was found to be within the budget
        self._pure = guarantee.kind == "pure"
        self._horizon = guarantee.unit.horizon

    @property
    def spent(self) -> Fraction:
        """The most that any one unit can have been charged: epsilon, or rho where the guarantee is not pure."""
        if self._held is not None:
            return self._composition.total_with(*self._held[:2])
        return self._composition.total

    @property
    def left(self) -> Fraction:
        return self._budget - self.spent

    @property
    def slipped(self) -> Fraction:
        """The most delta that any one unit can have been charged for what may have slipped."""
        if self._slipping is None:
            return NO_SLIP
        if self._held is not None and self._held[2]:
            return self._slipping.total_with(self._held[0], self._held[2])
        return self._slipping.total

    @property
    def slips_left(self) -> Fraction:
        return self._slips - self.slipped

    @property
    def even_cost(self) -> Cost:
        """What every tick may cost if all cost the same: the budget over `max_ticks`."""
        share = self._budget / self.guarantee.unit.max_ticks
        return Cost(epsilon=share) if self.guarantee.kind == "pure" else Cost(rho=share)

    @property
    def even_slip(self) -> Fraction:
        """What every tick may slip if all slip the same; nothing where nothing is set aside for it."""
        return self._slips / self.guarantee.unit.max_ticks

    def amount(self, cost: Cost) -> Fraction:
        """`cost` in this account's currency."""
        if self._pure:
            if cost.rho is not NO_SLIP and cost.rho:
                raise InvalidParameter(
                    "A cost in rho (Gaussian noise) cannot be charged to a pure guarantee.",
                    "Use Laplace noise, or state the guarantee in zCDP or with a delta.",
                )
            return cost.epsilon
        return cost.rho or cost.epsilon**2 / 2  # pure implies zCDP: Bun & Steinke 2016, Prop. 1.4

    def covers(self, limit: Cost, cost: Cost) -> bool:
        """Whether `cost` is at most `limit`, in both currencies."""
        slips = cost.delta is limit.delta or cost.delta <= limit.delta  # the usual case without any arithmetic
        return slips and self.amount(cost) <= self.amount(limit)

    def larger(self, one: Cost, other: Cost) -> Cost:
        """The smallest cost that covers both: the larger amount, and the larger of what may slip."""
        most = max(one, other, key=self.amount)
        if one.delta is other.delta or one.delta == other.delta:
            return most
        return replace(most, delta=max(one.delta, other.delta))

    def charge(self, tick: int, cost: Cost) -> None:
        """Add `cost` at `tick`, or refuse and change nothing."""
        self._composition.add(tick, self.check(tick, cost))
        if cost.delta is not NO_SLIP:
            self._slip(tick, cost.delta)
        self._last = tick

    def hold(self, tick: int, cost: Cost) -> None:
        """Charge the most that `tick` may cost, before anything is drawn; `settle` then says what it took.

        What may not be charged is refused and changes nothing. Without a `settle`, because the draw failed, the whole
        amount stays charged.
        """
        self._held = tick, self.check(tick, cost), cost.delta, cost
        self._last = tick

    def settle(self, cost: Cost) -> None:
        """What the tick that is held took; never more than was held for it."""
        assert self._held is not None
        tick, amount, slip, most = self._held
        if cost is not most:  # nearly every tick takes the very cost that was held
            amount = self._expect_within(tick, cost, amount, slip)
        self._held = None
        self._composition.add(tick, amount)
        if cost.delta is not NO_SLIP:
            self._slip(tick, cost.delta)

    def _expect_within(self, tick: int, cost: Cost, most: Fraction, slip: Fraction) -> Fraction:
        """The amount of `cost`, which must not be more than what was held."""
        amount = self.amount(cost)
        if amount > most:
            raise BudgetExceeded(f"Tick {tick} took {amount} where {most} was held for it.", _WRONG)
        if cost.delta is not slip and cost.delta > slip:
            raise BudgetExceeded(f"Tick {tick} may have slipped {cost.delta} where {slip} was held for it.", _WRONG)
        return amount

    def check(self, tick: int, cost: Cost) -> Fraction:
        """Raise what `charge` would raise; otherwise what it would charge."""
        if self._held is not None:
            self._give_up()
        amount = cost.epsilon if self._pure and cost.rho is NO_SLIP else self.amount(cost)
        horizon = self._horizon
        if tick <= self._last:
            raise TickOutOfOrder(
                f"Tick {tick} was charged already or lies before tick {self._last}.",
                "A tick is charged once; go on with the one after the last.",
            )
        if horizon is not None and tick >= horizon:
            raise HorizonReached(
                f"The horizon of {horizon:,} ticks, 0 to {horizon - 1}, is reached: tick {tick} has no promise.",
                "Start a new stream: it is a new grant, and what both publish about a person adds up.",
            )
        if cost.delta is not NO_SLIP:
            self._check_slip(tick, cost.delta)
        if not amount:
            return amount
        total = self._composition.total_with(tick, amount)
        # A stream that runs on at one cost meets the very same number at each tick: it is compared once.
        if total is not self._within and total > self._budget:
            raise BudgetExceeded(
                f"Tick {tick} would charge {amount} where the guarantee of {self._budget} leaves less: "
                f"a {self.guarantee.unit.noun} may already have been charged {self.spent}.",
                "Nothing was spent. Release with a smaller cost, or let the tick be predicted.",
            )
        self._within = total
        return amount

    def _check_slip(self, tick: int, delta: Fraction) -> None:
        if not delta:
            return
        if self._slipping is None:
            raise InvalidParameter(
                f"Tick {tick} may slip {delta}, and the guarantee ({self.guarantee.short}) has nothing set aside for "
                "slips.",
                "Draw a part of a grant with slips: Guarantee.zcdp(…, delta=…) or Guarantee.approximate(…, aside=…), "
                "and grant.part(share, slips=…). Or use a mechanism without a threshold.",
            )
        if self._slipping.total_with(tick, delta) > self._slips:
            raise BudgetExceeded(
                f"Tick {tick} may slip {delta} where the guarantee's {self._slips} for slips leaves less: "
                f"a {self.guarantee.unit.noun} may already have been charged {self.slipped}.",
                "Nothing was spent. Release with a smaller delta, or let the tick be predicted.",
            )

    def _slip(self, tick: int, delta: Fraction) -> None:
        if self._slipping is not None and delta:
            self._slipping.add(tick, delta)

    def _give_up(self) -> None:
        """A draw that never came to its end counts in full."""
        held, self._held = self._held, None
        if held is not None:
            self._composition.add(*held[:2])
            self._slip(held[0], held[2])

    def state(self) -> dict[str, Any]:
        self._give_up()
        state: dict[str, Any] = {"last": self._last, "composition": self._composition.state()}
        # Hashes rest on this text: what is new stands only where there is any.
        return state if self._slipping is None else state | {"slips": self._slipping.state()}

    def restore(self, state: dict[str, Any]) -> None:
        # Whoever may slip has always had it in its state.
        slips: dict[str, Any] = {} if self._slipping is None else state["slips"]
        self._held = None
        self._last = state["last"]
        self._composition.restore(state["composition"])
        if self._slipping is not None:
            self._slipping.restore(slips)
