"""Slips: delta as a second currency of promises, of their parts and of their sums."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from hubbub.errors import InvalidParameter, UnsoundConversion
from hubbub.privacy import Event, Grant, Guarantee, Part, Session, together
from hubbub.privacy.promise import NAMED_DELTA
from hubbub.privacy.zcdp import epsilon_of_rho, rho_of_epsilon

SESSION = Session(max_ticks=20)
MILLIONTH = Fraction(1, 10**6)
ZCDP = Guarantee.zcdp(SESSION, "1/10", delta=MILLIONTH)
ASIDE = Guarantee.approximate(SESSION, 1, MILLIONTH, aside=MILLIONTH / 4)
PLAIN = [Guarantee.pure(SESSION, 1), Guarantee.zcdp(SESSION, 1), Guarantee.approximate(SESSION, 1, MILLIONTH)]


# ── promises ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_may_slip_and_what_noise_is_made_for():
    assert [one.slips for one in (*PLAIN, ZCDP, ASIDE)] == [0, 0, 0, MILLIONTH, MILLIONTH / 4]
    assert (ZCDP.kind, ZCDP.budget, ASIDE.kind) == ("zcdp", Fraction(1, 10), "approximate")
    assert ASIDE.budget == rho_of_epsilon(Fraction(1), MILLIONTH * 3 / 4)
    assert epsilon_of_rho(ASIDE.budget, ASIDE.delta - ASIDE.slips) <= 1
    assert epsilon_of_rho(ASIDE.divisible, ASIDE.delta - ASIDE.slips, whole_orders=True) <= 1


@pytest.mark.parametrize("guarantee", [ZCDP, ASIDE])
def test_stored_and_read_again(guarantee):
    assert Guarantee.from_dict(json.loads(json.dumps(guarantee.to_dict()))) == guarantee


@pytest.mark.parametrize("guarantee", PLAIN)
def test_what_slips_nothing_is_written_as_before(guarantee):
    """Hashes of streams that were made before rest on this text."""
    assert set(guarantee.to_dict()) == {*guarantee.unit.to_dict(), "epsilon", "delta", "rho"}


@pytest.mark.parametrize("aside", [MILLIONTH, "1e-5", -1])
def test_what_is_set_aside_is_less_than_delta(aside):
    with pytest.raises(InvalidParameter, match="`aside` must be at least 0 and less than `delta`, which is 1e-6"):
        Guarantee.approximate(SESSION, 1, MILLIONTH, aside=aside)


@pytest.mark.parametrize("delta", [0, 1, -1])
def test_wrong_deltas_beside_a_rho(delta):
    with pytest.raises(InvalidParameter, match="`delta` must lie between 0 and 1"):
        Guarantee.zcdp(SESSION, 1, delta=delta)


def test_a_large_delta_beside_a_rho_only_if_meant():
    with pytest.raises(InvalidParameter, match="allow_weak=True"):
        Guarantee.zcdp(SESSION, 1, delta="1/100")
    assert Guarantee.zcdp(SESSION, 1, delta="1/100", allow_weak=True).slips == Fraction(1, 100)


def test_conversions_count_what_may_slip():
    read = ZCDP.to_approximate(2 * MILLIONTH)
    assert (read.epsilon, read.delta) == (epsilon_of_rho(Fraction(1, 10), MILLIONTH), 2 * MILLIONTH)
    assert ZCDP.to_zcdp() is ZCDP
    for delta in (MILLIONTH, MILLIONTH / 2):
        with pytest.raises(UnsoundConversion, match="leave nothing"):
            ZCDP.to_approximate(delta)
    assert ASIDE.to_approximate(MILLIONTH) == Guarantee(SESSION, epsilon=Fraction(1), delta=MILLIONTH)
    with pytest.raises(UnsoundConversion, match="smaller"):
        ASIDE.to_approximate(MILLIONTH / 2)
    for guarantee in (ZCDP, ASIDE):
        with pytest.raises(UnsoundConversion, match="pure"):
            guarantee.to_pure()


def test_a_few_words():
    assert ZCDP.short == "rho = 0.1 but for delta = 1e-6 for each visit"
    assert ASIDE.short == "epsilon = 1, delta = 1e-6 for each visit"


# ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("whole", [ZCDP, ASIDE])
def test_parts_of_both_add_up_exactly(whole):
    parts = [whole.part("1/3", "1/7"), whole.part("1/3", "6/7"), whole.part("1/3")]
    assert sum(part.rho for part in parts) == whole.divisible
    assert sum(part.slips for part in parts) == whole.slips
    assert parts[2] == Guarantee(SESSION, rho=whole.divisible / 3)


@pytest.mark.parametrize("whole", [*PLAIN, ZCDP, ASIDE])
def test_the_whole_is_the_whole_itself(whole):
    assert whole.part(1) is whole
    assert Grant("all", whole).part().guarantee == whole


@pytest.mark.parametrize("whole", [ZCDP, ASIDE])
def test_all_of_the_budget_without_the_slips(whole):
    assert whole.part(1, 0) == Guarantee(SESSION, rho=whole.divisible)
    assert Part(Grant("all", whole), Fraction(1)).guarantee.slips == 0


@pytest.mark.parametrize("slips", ["-1/2", "3/2"])
def test_what_is_no_part_of_the_slips_is_refused(slips):
    with pytest.raises(InvalidParameter, match="`slips` must lie between 0 and 1"):
        Grant("all", ZCDP).part("1/2", slips=slips)


@pytest.mark.parametrize("whole", PLAIN)
def test_slips_of_a_promise_without_any_are_refused(whole):
    with pytest.raises(InvalidParameter, match="has nothing set aside for slips"):
        Grant("all", whole).part("1/2", slips="1/2")


def test_a_part_of_a_part():
    half = Grant("all", ZCDP).part("1/2", slips="1/2")
    assert (half.of("1/2").share, half.of("1/2").slips) == (Fraction(1, 4), 0)
    assert half.of("1/2", "1/3").slips == Fraction(1, 6)


# ── sums over grants ─────────────────────────────────────────────────────────────────────────────────────────────


def test_slips_of_several_promises_add_up():
    both = together(SESSION, [(ZCDP, 1), (ZCDP, 1)])
    assert both == Guarantee(SESSION, rho=Fraction(1, 5), delta=2 * MILLIONTH)
    mixed = together(SESSION, [(ZCDP, 1), (ASIDE, 1)])
    kept = ASIDE.delta - ASIDE.aside
    assert mixed.delta == kept + ASIDE.aside + MILLIONTH
    assert mixed.epsilon == epsilon_of_rho(ZCDP.budget + ASIDE.budget, kept, whole_orders=True)
    pure = together(SESSION, [(ZCDP, 1), (Guarantee.pure(SESSION, "1/10"), 1)])
    assert pure.delta == NAMED_DELTA + MILLIONTH


def test_of_several_units_slips_are_told_through_epsilon_and_delta():
    twice = together(Event(), [(ZCDP, 3), (Guarantee.pure(Event(), "1/10"), 1)])
    several = ZCDP.promise.of(3)
    assert several.rho is None
    read = ZCDP.to_approximate(MILLIONTH + NAMED_DELTA)
    assert several.epsilon == 3 * read.epsilon
    assert several.delta > 3 * read.delta
    assert (twice.epsilon, twice.delta) == (several.epsilon + Fraction(1, 10), several.delta)


def test_nothing_is_left_where_slips_come_to_one():
    half = Guarantee.zcdp(SESSION, 1, delta="1/2", allow_weak=True)
    assert together(SESSION, [(half, 1), (half, 1)]) is None
