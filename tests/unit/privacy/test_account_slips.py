"""An account with slips: both currencies are charged, held and refused together."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from hubbub.errors import BudgetExceeded, HorizonReached, InvalidParameter
from hubbub.privacy import Account, Event, Guarantee, Session, Unit, User, Window
from hubbub.released import Cost

SESSION = Session(max_ticks=20)
MILLIONTH = Fraction(1, 10**6)
ZCDP = Guarantee.zcdp(SESSION, "1/10", delta=MILLIONTH)
PLAIN = [Guarantee.pure(SESSION, 1), Guarantee.zcdp(SESSION, 1), Guarantee.approximate(SESSION, 1, MILLIONTH)]


def slip(rho: str, delta: str) -> Cost:
    return Cost(rho=Fraction(rho), delta=Fraction(delta))


@pytest.mark.parametrize("guarantee", PLAIN)
def test_a_delta_is_refused_where_nothing_is_set_aside(guarantee):
    account = Account(guarantee)
    before = account.state()
    for step in (account.charge, account.check, account.hold):
        with pytest.raises(InvalidParameter, match="nothing set aside for slips") as refused:
            step(0, Cost(epsilon=Fraction(1, 100), delta=MILLIONTH))
        assert "grant.part(share, slips=…)" in str(refused.value)
    assert account.state() == before == {"last": -1, "composition": before["composition"]}
    account.charge(0, Cost(epsilon=Fraction(1, 100), delta=Fraction(0, 5)))  # a zero is none
    assert (account.slipped, account.slips_left, account.even_slip) == (0, 0, 0)


def test_either_currency_alone_is_refused_and_leaves_no_trace():
    account = Account(Guarantee.zcdp(Window(3), 1, delta="1e-6"))
    account.charge(0, slip("1/2", "6e-7"))
    before = account.state()
    with pytest.raises(BudgetExceeded, match="Tick 1 may slip 1/2000000 where the guarantee's 1/1000000 for slips"):
        account.charge(1, slip("1/2", "5e-7"))
    with pytest.raises(BudgetExceeded, match="Tick 1 would charge 3/4"):
        account.charge(1, slip("3/4", "4e-7"))
    with pytest.raises(BudgetExceeded, match="may slip"):
        account.charge(1, Cost(delta=MILLIONTH))
    assert account.state() == before
    account.charge(1, slip("1/2", "4e-7"))
    assert (account.spent, account.left, account.slipped, account.slips_left) == (1, 0, MILLIONTH, 0)
    account.charge(4, slip("1", "1e-6"))  # outside the window of both


def test_sessions_slip_for_ever():
    account = Account(ZCDP)
    for tick in range(500):
        account.charge(tick, Cost(rho=account.even_cost.rho, delta=account.even_slip))
    assert (account.left, account.slips_left) == (0, 0)
    assert len(str(account.state())) < 200


def test_what_is_held_counts_in_both_until_it_is_settled():
    account = Account(Guarantee.zcdp(Window(2), 1, delta="1e-6"))
    account.hold(0, slip("1/2", "5e-7"))
    assert (account.spent, account.slipped) == (Fraction(1, 2), MILLIONTH / 2)
    account.settle(slip("1/4", "1e-7"))
    assert (account.spent, account.slipped) == (Fraction(1, 4), MILLIONTH / 10)
    account.hold(1, slip("1/4", "1e-7"))
    with pytest.raises(BudgetExceeded, match="may have slipped 1/5000000 where 1/10000000 was held"):
        account.settle(slip("1/8", "2e-7"))
    with pytest.raises(BudgetExceeded, match="took 1/2 where 1/4"):
        account.settle(slip("1/2", "1e-7"))
    assert account.slipped == MILLIONTH / 5
    account.settle(Cost.nothing())
    assert account.slipped == MILLIONTH / 10


@pytest.mark.parametrize(
    "then",
    [
        lambda account: account.state(),
        lambda account: account.charge(1, slip("1/4", "1e-7")),
        lambda account: account.check(1, slip("1/4", "1e-7")),
    ],
)
def test_what_is_never_settled_stays_charged_in_both(then):
    account = Account(Guarantee.zcdp(Window(1), 1, delta="1e-6"))
    account.hold(0, slip("1/2", "5e-7"))
    then(account)
    assert (account.spent, account.slipped) == (Fraction(1, 2), MILLIONTH / 2)


@pytest.mark.parametrize("unit", [Event(), Window(3), Session(2), User(2, 10)])
def test_a_state_of_both_goes_on(unit: Unit):
    one, two = (Account(Guarantee.zcdp(unit, 1, delta="1e-6")) for _ in range(2))
    one.charge(0, slip("1/4", "1e-7"))
    one.charge(2, slip("1/5", "2e-7"))
    two.restore(json.loads(json.dumps(one.state())))
    assert (two.spent, two.slipped, two.state()) == (one.spent, one.slipped, one.state())


def test_a_state_without_slips_is_none_of_an_account_with_slips():
    account = Account(ZCDP)
    account.charge(0, slip("1/1000", "1e-9"))
    before = account.state()
    with pytest.raises(KeyError):
        account.restore(Account(PLAIN[1]).state())
    assert account.state() == before


def test_the_horizon_holds_for_slips_too():
    account = Account(Guarantee.zcdp(User(horizon=2), 1, delta="1e-6"))
    with pytest.raises(HorizonReached):
        account.charge(2, Cost(delta=MILLIONTH))


def test_which_cost_covers_which():
    account = Account(ZCDP)
    small, wide, deep = slip("1/100", "1e-7"), slip("1/50", "1e-8"), slip("1/200", "1e-6")
    assert account.covers(small, small)
    assert not account.covers(small, wide)
    assert not account.covers(small, deep)
    assert account.larger(wide, deep) == account.larger(deep, wide) == slip("1/50", "1e-6")
    assert account.larger(small, Cost(rho=Fraction(1, 200))) == small
    pure = Cost(epsilon=Fraction(1), delta=MILLIONTH)
    assert account.larger(Cost(epsilon=Fraction(1)), pure) == pure
