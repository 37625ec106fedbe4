"""Guarantees: sentences, conversions in the sound direction only, refusals."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import InvalidParameter, UnsoundConversion
from hubbub.exact import Exact, exact
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.privacy.zcdp import epsilon_of_rho

SESSION = Session(max_ticks=20)
DELTA = Fraction(1, 10**9)
PURE = Guarantee.pure(SESSION, "0.5")
APPROXIMATE = Guarantee.approximate(SESSION, 1, DELTA)
ZCDP = Guarantee.zcdp(User(max_ticks=2, horizon=365), "0.1")


@pytest.mark.parametrize(
    "guarantee", [PURE, APPROXIMATE, ZCDP, Guarantee.pure(Window(3), 1), Guarantee.pure(Event(), 1)]
)
def test_stored_and_read_again(guarantee: Guarantee) -> None:
    assert Guarantee.from_dict(guarantee.to_dict()) == guarantee


def test_sentences_hold_every_number() -> None:
    assert "factor e^0.5 = 1.649, for as long as the stream runs. A session counts in at most 20 ticks" in PURE.sentence
    assert "e^1 = 2.72 times what it is otherwise, plus 1e-9" in str(APPROXIMATE)
    assert "e^2.716 = 15.2" in str(ZCDP)
    assert epsilon_of_rho(Fraction(1, 10), DELTA) <= Fraction("2.716")
    assert "rho = 0.1" in str(ZCDP)
    assert "over all 365 ticks of the stream together. It follows" in str(ZCDP)
    assert "A person counts in at most 2 of 365 ticks" in str(ZCDP)
    assert "in every tick if need be" in str(Guarantee.pure(User(horizon=5), 1))
    assert str(Guarantee.pure(Event(), 800, allow_weak=True)).count("e^800,") == 1  # e^800 itself is no float


def test_kinds_and_budgets() -> None:
    assert (PURE.kind, APPROXIMATE.kind, ZCDP.kind) == ("pure", "approximate", "zcdp")
    assert (PURE.budget, ZCDP.budget) == (Fraction(1, 2), Fraction(1, 10))
    assert epsilon_of_rho(APPROXIMATE.budget, DELTA) <= 1


def test_conversions_that_are_sound() -> None:
    assert PURE.to_pure() is PURE
    assert PURE.to_zcdp() == Guarantee(SESSION, rho=Fraction(1, 8))
    assert ZCDP.to_zcdp() is ZCDP
    assert PURE.to_approximate(DELTA) == Guarantee(SESSION, epsilon=Fraction(1, 2), delta=DELTA)
    assert APPROXIMATE.to_approximate("1e-6").delta == Fraction(1, 10**6)
    assert ZCDP.to_approximate(DELTA).epsilon == epsilon_of_rho(Fraction(1, 10), DELTA)


def test_conversions_that_are_not() -> None:
    with pytest.raises(UnsoundConversion, match="does not imply zCDP"):
        APPROXIMATE.to_zcdp()
    with pytest.raises(UnsoundConversion, match="smaller"):
        APPROXIMATE.to_approximate("1e-10")
    for guarantee in (APPROXIMATE, ZCDP):
        with pytest.raises(UnsoundConversion, match="does not imply a pure one"):
            guarantee.to_pure()


@pytest.mark.parametrize("epsilon", [0, -1, "0", float("nan"), "x", None, 21, 10**9, "1e400"])
def test_wrong_epsilons(epsilon: float) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        Guarantee.pure(SESSION, epsilon)
    with pytest.raises(InvalidParameter, match="epsilon"):
        Guarantee.approximate(SESSION, epsilon, DELTA)


@pytest.mark.parametrize("rho", [0, -1, float("inf"), "3.6", 20, "1e400"])
def test_wrong_rhos(rho: float) -> None:
    with pytest.raises(InvalidParameter, match="rho"):
        Guarantee.zcdp(SESSION, rho)


@pytest.mark.parametrize("delta", [0, 1, -1, 1.5, "x"])
def test_wrong_deltas(delta: float) -> None:
    for make in (
        lambda: Guarantee.approximate(SESSION, 1, delta),
        lambda: PURE.to_approximate(delta),
        lambda: ZCDP.to_approximate(delta),
    ):
        with pytest.raises(InvalidParameter, match="delta"):
            make()


def test_weak_only_if_meant() -> None:
    assert Guarantee.pure(SESSION, 20).epsilon == 20
    assert Guarantee.pure(SESSION, 21, allow_weak=True).epsilon == 21
    assert Guarantee.approximate(SESSION, 21, DELTA, allow_weak=True).epsilon == 21
    assert Guarantee.zcdp(SESSION, 21, allow_weak=True).rho == 21


def test_a_rho_is_as_weak_as_the_epsilon_that_it_means() -> None:
    assert Guarantee.zcdp(SESSION, "3.59").to_approximate("1e-9").epsilon <= 20
    with pytest.raises(InvalidParameter, match=r"above 3\.59\d* it means an epsilon above 20 at delta = 1e-9"):
        Guarantee.zcdp(SESSION, "3.6")
    assert Guarantee.zcdp(SESSION, "3.6", allow_weak=True).to_approximate("1e-9").epsilon > 20


@pytest.mark.parametrize("delta", ["0.0011", 0.5, "0.999"])
def test_a_large_delta_only_if_meant(delta: Exact) -> None:
    for refused in (
        lambda: Guarantee.approximate(SESSION, 1, delta),
        lambda: Guarantee.parse(SESSION, epsilon=1, delta=delta),
    ):
        with pytest.raises(InvalidParameter, match=r"`delta` is .*Above 0.001 .*allow_weak=True"):
            refused()
    assert Guarantee.approximate(SESSION, 1, delta, allow_weak=True).delta == exact(delta, "delta")
    assert Guarantee.parse(SESSION, epsilon=1, delta=delta, allow_weak=True).delta == exact(delta, "delta")
    assert Guarantee.approximate(SESSION, 1, "1e-3").delta == Fraction(1, 1000)


def test_an_epsilon_that_leaves_no_rho() -> None:
    with pytest.raises(InvalidParameter, match="too small"):
        Guarantee.approximate(SESSION, "1e-10", DELTA)


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"epsilon": Fraction(1), "rho": Fraction(1)},
        {"epsilon": 1.0},
        {"epsilon": Fraction(0)},
        {"epsilon": Fraction(1), "delta": Fraction(1)},
        {"rho": Fraction(1), "delta": Fraction(1)},
        {"rho": Fraction(1), "delta": 1e-9},
        {"rho": Fraction(1), "aside": DELTA},
        {"rho": Fraction(1), "delta": 2 * DELTA, "aside": DELTA},
        {"epsilon": Fraction(1), "aside": DELTA},
        {"epsilon": Fraction(1), "delta": DELTA, "aside": DELTA},
        {"epsilon": Fraction(1), "delta": DELTA, "aside": -DELTA},
    ],
)
def test_nothing_between_the_kinds(facts: dict[str, Fraction]) -> None:
    with pytest.raises(InvalidParameter, match="exact epsilon above 0"):
        Guarantee(SESSION, **facts)


def test_a_budget_of_any_kind_is_parsed():
    unit = Event()
    assert Guarantee.parse(unit, epsilon="0.1") == Guarantee.pure(unit, "1/10")
    assert Guarantee.parse(unit, epsilon=1, delta="1e-9") == Guarantee.approximate(unit, 1, "1e-9")
    assert Guarantee.parse(unit, rho="1/2") == Guarantee.zcdp(unit, "1/2")
    assert Guarantee.parse(unit, rho=30, allow_weak=True).rho == 30
    assert Guarantee.parse(unit, rho="1/2", slips="1e-9") == Guarantee.zcdp(unit, "1/2", delta="1e-9")
    aside = Guarantee.approximate(unit, 1, "1e-9", aside="1e-10")
    assert Guarantee.parse(unit, epsilon=1, delta="1e-9", slips="1e-10") == aside
    with pytest.raises(InvalidParameter, match="practically nothing"):
        Guarantee.parse(unit, epsilon=30)


@pytest.mark.parametrize(
    ("amounts", "got"),
    [
        ({}, "neither"),
        ({"delta": "1e-9"}, "`delta`"),
        ({"epsilon": 1, "rho": 1}, "`epsilon` and `rho`"),
        ({"rho": 1, "delta": "1e-9"}, "`delta` and `rho`"),
        ({"rho": 1, "delta": "1e-8", "slips": "1e-9"}, "`delta` and `rho` and `slips`"),
        ({"epsilon": 1, "slips": "1e-9"}, "`epsilon` and `slips`"),
    ],
)
def test_budgets_that_are_none_or_two_are_refused(amounts, got):
    with pytest.raises(InvalidParameter, match=f"got {got}."):
        Guarantee.parse(Event(), **amounts)
