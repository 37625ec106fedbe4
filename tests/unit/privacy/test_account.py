"""The account: what it refuses, and that a refusal changes nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import BudgetExceeded, HorizonReached, InvalidParameter, TickOutOfOrder
from hubbub.privacy import Account, Guarantee, Session, User, Window
from hubbub.released import Cost


def epsilon(amount: str) -> Cost:
    return Cost(epsilon=Fraction(amount))


def test_sessions_for_ever() -> None:
    account = Account(Guarantee.pure(Session(max_ticks=20), 1))
    for tick in range(5000):
        account.charge(tick, account.even_cost)
    assert (account.spent, account.left) == (1, 0)
    assert len(str(account.state())) < 200


def test_users_until_the_horizon() -> None:
    account = Account(Guarantee.pure(User(horizon=7), 1))
    for tick in range(7):
        account.charge(tick, account.even_cost)
    assert account.left == 0
    before = account.state()
    for cost in (account.even_cost, Cost.nothing()):
        with pytest.raises(HorizonReached, match="horizon of 7 ticks"):
            account.charge(7, cost)
    assert account.state() == before


def test_too_much_is_refused_and_leaves_no_trace() -> None:
    account = Account(Guarantee.pure(Window(3), 1))
    account.charge(0, epsilon("1/2"))
    before = account.state()
    with pytest.raises(BudgetExceeded, match="Tick 2 would charge 3/4"):
        account.charge(2, epsilon("3/4"))
    assert account.state() == before
    account.charge(3, epsilon("3/4"))  # outside the window of tick 0
    assert (account.spent, account.left) == (Fraction(3, 4), Fraction(1, 4))


def test_ticks_in_order() -> None:
    account = Account(Guarantee.pure(Session(2), 1))
    account.charge(4, epsilon("1/2"))
    for tick in (4, 3, -1):
        with pytest.raises(TickOutOfOrder, match="charged already"):
            account.charge(tick, epsilon("1/4"))


def test_currencies() -> None:
    pure, zcdp = Account(Guarantee.pure(Session(2), 1)), Account(Guarantee.zcdp(Session(2), 1))
    with pytest.raises(InvalidParameter, match="pure guarantee"):
        pure.charge(0, Cost(rho=Fraction(1, 10)))
    assert pure.amount(Cost.nothing()) == 0
    assert zcdp.amount(epsilon("1/2")) == Fraction(1, 8)
    assert zcdp.even_cost == Cost(rho=Fraction(1, 2))
    assert pure.even_cost == epsilon("1/2")
    approximate = Account(Guarantee.approximate(Session(2), 1, "1e-9"))
    assert 2 * approximate.even_cost.rho == approximate.guarantee.budget


def test_a_long_user_stream_stays_small() -> None:
    account = Account(Guarantee.pure(User(horizon=10**9), 1))
    for tick in range(2000):
        account.charge(tick, account.even_cost)
    assert len(str(account.state())) < 200
    assert account.spent == Fraction(2000, 10**9)


def test_what_is_held_counts_until_it_is_settled():
    account = Account(Guarantee.pure(Window(2), 1))
    account.hold(0, Cost(epsilon=Fraction(1, 2)))
    assert (account.spent, account.left) == (Fraction(1, 2), Fraction(1, 2))
    account.settle(Cost(epsilon=Fraction(1, 4)))
    assert account.spent == Fraction(1, 4)
    with pytest.raises(BudgetExceeded):
        account.hold(1, Cost(epsilon=Fraction(7, 8)))
    assert account.spent == Fraction(1, 4)


def test_what_is_never_settled_stays_charged():
    """A draw that failed: the next step, a look at the state, or a tick after it finds the whole amount."""
    for then in (
        lambda account: account.state(),
        lambda account: account.charge(1, Cost(epsilon=Fraction(1, 4))),
        lambda account: account.check(1, Cost(epsilon=Fraction(1, 4))),
    ):
        account = Account(Guarantee.pure(Window(1), 1))
        account.hold(0, Cost(epsilon=Fraction(1, 2)))
        then(account)
        assert account.spent == Fraction(1, 2)
    with pytest.raises(TickOutOfOrder, match="charged already"):
        account.hold(0, Cost(epsilon=Fraction(1, 2)))
