"""Accounts against brute force: the worst-placed unit over all placements."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import BudgetExceeded, PrivacyRefusal
from hubbub.privacy import Account, Event, Guarantee, Session, Unit, User, Window
from hubbub.released import Cost

AMOUNTS = st.fractions(min_value=0, max_value=1, max_denominator=6)
STREAMS = st.lists(AMOUNTS, max_size=8)
WIDTHS = st.integers(1, 5)


def worst(unit: Unit, charged: dict[int, Fraction]) -> Fraction:
    """Every set of ticks in which the unit may be present, one by one."""
    last = max(charged, default=0)
    if isinstance(unit, Window):
        sets = [range(start, start + unit.ticks) for start in range(-unit.ticks, last + 1)]
        return max((sum((charged.get(t, Fraction(0)) for t in s), Fraction(0)) for s in sets), default=Fraction(0))
    size = min(unit.max_ticks, len(charged))
    return max((sum(s, Fraction(0)) for s in itertools.combinations(charged.values(), size)), default=Fraction(0))


def units(width: int) -> list[Unit]:
    return [Event(), Window(width), Session(max_ticks=width), User(max_ticks=width, horizon=1000)]


@given(STREAMS, WIDTHS, st.lists(st.integers(1, 4), min_size=8, max_size=8))
def test_total_is_the_worst_over_all_placements(amounts: list[Fraction], width: int, steps: list[int]) -> None:
    for unit in units(width):
        composition, charged, tick = unit.composition(), {}, -1
        for amount, step in zip(amounts, steps, strict=False):
            tick += step
            foreseen = composition.total_with(tick, amount)
            composition.add(tick, amount)
            charged[tick] = amount
            assert composition.total == foreseen == worst(unit, charged)


@given(STREAMS, WIDTHS, st.fractions(min_value=Fraction(1, 6), max_value=2, max_denominator=6))
def test_no_unit_is_ever_charged_more_than_the_guarantee(amounts: list[Fraction], width: int, budget: Fraction) -> None:
    for unit in units(width):
        account, charged = Account(Guarantee.pure(unit, budget)), {}
        for tick, amount in enumerate(amounts):
            before = account.state()
            try:
                account.charge(tick, Cost(epsilon=amount))
            except BudgetExceeded:
                assert account.state() == before
                assert worst(unit, {**charged, tick: amount}) > budget  # refused only when it must be
            else:
                charged[tick] = amount
        assert account.spent == worst(unit, charged) <= budget
        assert account.left == budget - account.spent


@given(STREAMS, STREAMS, WIDTHS)
def test_state_and_restore_give_the_same_future(past: list[Fraction], future: list[Fraction], width: int) -> None:
    for unit in units(width):
        one = Account(Guarantee.pure(unit, 2))
        _charge(one, past, 0)
        two = Account(Guarantee.pure(unit, 2))
        two.restore(json.loads(json.dumps(one.state())))
        assert two.spent == one.spent
        assert _charge(one, future, len(past)) == _charge(two, future, len(past))
        assert (one.spent, one.state()) == (two.spent, two.state())


@given(st.lists(st.tuples(AMOUNTS, AMOUNTS, st.integers(1, 3)), max_size=8), WIDTHS, st.sampled_from([0, 3]))
def test_both_currencies_are_the_sums_of_a_plain_loop(
    steps: list[tuple[Fraction, Fraction, int]], width: int, held: int
) -> None:
    """Each is charged for its worst-placed unit, and refused without a trace where either is exceeded."""
    for unit in units(width):
        account = Account(Guarantee.zcdp(unit, 1, delta="1/1000"))
        rhos: dict[int, Fraction] = {}
        slips: dict[int, Fraction] = {}
        tick = -1
        for number, (rho, thousandths, step) in enumerate(steps):
            tick, delta = tick + step, thousandths / 1000
            before, cost = account.state(), Cost(rho=rho, delta=delta)
            most = worst(unit, {**rhos, tick: rho}), worst(unit, {**slips, tick: delta})
            try:
                if held and number % held == 0:  # as a draw does
                    account.hold(tick, cost)
                    assert (account.spent, account.slipped) == most
                    account.settle(cost)
                else:
                    account.charge(tick, cost)
            except BudgetExceeded:
                assert account.state() == before
                assert most[0] > 1 or most[1] > Fraction(1, 1000)  # refused only when it must be
            else:
                rhos[tick], slips[tick] = rho, delta
            assert (account.spent, account.slipped) == (worst(unit, rhos), worst(unit, slips))
            again = Account(account.guarantee)
            again.restore(json.loads(json.dumps(account.state())))
            assert (again.spent, again.slips_left, again.state()) == (
                account.spent,
                account.slips_left,
                account.state(),
            )
        assert account.spent <= 1
        assert account.slipped <= Fraction(1, 1000)


def _charge(account: Account, amounts: list[Fraction], start: int) -> list[bool]:
    done = []
    for tick, amount in enumerate(amounts, start):
        try:
            account.charge(tick, Cost(epsilon=amount))
        except PrivacyRefusal:
            done.append(False)
        else:
            done.append(True)
    return done
