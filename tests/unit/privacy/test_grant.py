"""Grants: exact parts, and what several promises say together. The control of each bound is the one just below it."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest

from hubbub.collect import Batch, Collector, Replay
from hubbub.errors import InvalidParameter
from hubbub.privacy import Event, Grant, Guarantee, Session, User, Window, steps, together
from hubbub.privacy.zcdp import epsilon_of_rho

HALF_HOUR = timedelta(minutes=30)
VISIT = Session(20, HALF_HOUR)
PURE = Guarantee.pure(VISIT, 1)
KINDS = [PURE, Guarantee.zcdp(VISIT, "1/10"), Guarantee.approximate(VISIT, 1, "1e-9")]


# ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("whole", KINDS, ids=lambda g: g.kind)
@pytest.mark.parametrize("shares", [("1/2", "1/2"), ("1/3", "1/3", "1/3"), ("0.1", "0.2", "0.7"), ("1/7", "6/7")])
def test_parts_add_up_to_the_whole_exactly(whole, shares):
    parts = [Grant("visitors", whole).part(share).guarantee for share in shares]
    assert sum(part.budget for part in parts) == whole.divisible
    assert {part.kind for part in parts} == {"pure" if whole.kind == "pure" else "zcdp"}
    assert all(part.unit == whole.unit for part in parts)


@pytest.mark.parametrize("whole", KINDS, ids=lambda g: g.kind)
def test_all_of_it_is_the_whole_itself(whole):
    assert Grant("visitors", whole).part().guarantee is whole
    assert Grant("visitors", whole).part("1/2").of("1/3").share == Fraction(1, 6)


@pytest.mark.parametrize(("epsilon", "delta"), [("1/10", "1e-6"), (1, "1e-9"), (3, "1e-5")])
def test_parts_with_a_delta_lead_back_to_it_at_whole_orders(epsilon, delta):
    """A range tree may keep whole orders alone: then the whole rho of all orders would promise a little too much."""
    whole = Guarantee.approximate(VISIT, epsilon, delta)
    exact = Fraction(delta)
    assert epsilon_of_rho(whole.divisible, exact, whole_orders=True) <= whole.epsilon
    assert whole.divisible <= whole.budget
    if epsilon == 3:
        assert epsilon_of_rho(whole.budget, exact, whole_orders=True) > whole.epsilon, "the control must fail"
    assert whole.divisible > Fraction(99, 100) * whole.budget, "and it costs next to nothing"


@pytest.mark.parametrize("share", [0, -1, "3/2", "1.0001"])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(InvalidParameter, match="above 0 and be at most 1"):
        Grant("visitors", PURE).part(share)


@pytest.mark.parametrize("name", ["", "a b", "-x", "x" * 101, 7])
def test_names_that_cannot_be(name):
    with pytest.raises(InvalidParameter, match="grant's name"):
        Grant(name, PURE)


@pytest.mark.parametrize("population", [" visitors", "two\nlines", "x" * 201])
def test_populations_that_cannot_be(population):
    with pytest.raises(InvalidParameter, match="cannot name a population"):
        Grant("visitors", PURE, population)
    with pytest.raises(InvalidParameter, match="cannot name a population"):
        Grant("visitors", PURE, "visitors", [population])


def test_grants_are_about_the_same_people_unless_the_owner_vouches_that_they_are_not():
    shop = Grant("shop", PURE, "customers of the shop")
    nobody_said, named = Grant("a", PURE), Grant("b", PURE, "visitors of example.org")
    vouched = Grant("c", PURE, "visitors of example.org", "customers of the shop")
    assert nobody_said.may_meet(shop)
    assert named.may_meet(shop), "another name alone proves nothing"
    assert named.may_meet(vouched)
    assert not vouched.may_meet(shop)
    assert not shop.may_meet(vouched), "whichever of the two says it"
    assert vouched.may_meet(nobody_said)
    for population in ("", "customers of the shop"):
        with pytest.raises(InvalidParameter, match="names other populations"):
            Grant("d", PURE, population, ["customers of the shop"])


def test_a_grant_is_what_its_facts_say():
    grant = Grant("c", KINDS[2], "visitors of example.org", ["b", "a", "b"])
    assert Grant.from_dict(grant.to_dict()) == grant
    assert grant.apart_from == ("a", "b")


# ── what several say together ────────────────────────────────────────────────────────────────────────────────────────


def test_pure_promises_and_rhos_add_up():
    assert together(VISIT, [(PURE, 1), (Guarantee.pure(VISIT, "1/2"), 1)]) == Guarantee.pure(VISIT, "3/2")
    assert together(VISIT, [(KINDS[1], 1), (KINDS[1], 1)]) == Guarantee.zcdp(VISIT, "1/5")
    assert together(VISIT, [(KINDS[1], 2)]) == Guarantee.zcdp(VISIT, "4/10"), "two steps: four times rho"
    assert together(VISIT, [(PURE, 1), (PURE, 3)]).epsilon == 4
    for alone in KINDS:
        assert together(VISIT, [(alone, 1)]) is alone


def test_mixed_kinds_are_told_with_a_delta_in_the_tighter_way():
    delta = Fraction(1, 10**9)
    weak, rho = Guarantee.pure(VISIT, 3), Fraction(1, 10)
    added = together(VISIT, [(weak, 1), (KINDS[1], 1)])
    assert (added.kind, added.delta) == ("approximate", delta)
    assert added.epsilon == 3 + epsilon_of_rho(rho, delta, whole_orders=True)
    assert added.epsilon < epsilon_of_rho(rho + Fraction(9, 2), delta, whole_orders=True), "the other way is worse"
    strong = Guarantee.pure(VISIT, "1/10")
    through = together(VISIT, [(strong, 1), (KINDS[1], 1)])
    assert through.epsilon == epsilon_of_rho(rho + Fraction(1, 200), delta, whole_orders=True)
    assert through.epsilon < Fraction(1, 10) + epsilon_of_rho(rho, delta, whole_orders=True), "and here"


def test_promises_with_a_delta_add_up_through_rho():
    delta = Fraction(1, 10**9)
    two = together(VISIT, [(KINDS[2], 1), (KINDS[2], 1)])
    assert two.delta == delta
    assert two.epsilon == epsilon_of_rho(2 * KINDS[2].budget, delta, whole_orders=True) < 2
    group = together(VISIT, [(KINDS[2], 2)])
    assert (group.epsilon, group.delta) == (KINDS[2].promise.of(2).epsilon, KINDS[2].promise.of(2).delta)
    assert together(VISIT, [(Guarantee.approximate(VISIT, 1, "1/2", allow_weak=True), 3)]) is None, (
        "nothing is left of it"
    )


def test_what_follows_about_which_unit():
    person, window = User(horizon=365), Window(12)
    short = Session(5, timedelta(minutes=10))
    assert [steps(unit, unit) for unit in (Event(), window, VISIT, person)] == [1, 1, 1, 1]
    assert steps(VISIT, Session(3, HALF_HOUR, 2)) == 1, "its bounds are the stream's own matter"
    assert steps(person, User(max_ticks=2, horizon=10)) == 1
    assert [steps(part, person) for part in (Event(), VISIT, window)] == [2, 2, 2]
    assert (steps(Event(), VISIT), steps(short, VISIT)) == (3, 3)
    for smaller, larger in ((Event(), VISIT), (VISIT, person), (window, person), (short, VISIT), (Event(), window)):
        assert steps(larger, smaller) is None, "any number of the smaller fits in"
    assert steps(VISIT, Session(20)) is None, "nobody knows how those are cut"
    assert steps(Event(), window) is None, "a stay may reach beyond the window"
    assert steps(window, Window(13)) is None
    assert steps(window, window, same_ticks=False) is None


# "A part of a unit costs so many steps", held against the collector: how far the counts move, in what the unit allows
# itself for coming or going. The control: a single step would be a false promise.

START, MINUTE, TICKS = datetime(2026, 1, 1, tzinfo=UTC), timedelta(minutes=1), 61
SHORT, LONG, PERSON = Session(2, 3 * MINUTE), Session(2, 8 * MINUTE), User(max_ticks=1, horizon=TICKS)


def counted(unit, events):
    collector = Collector(["/", "/news"], unit, MINUTE, Replay(START, START + TICKS * MINUTE))
    rows = [{"time": START + minute * MINUTE, "person": "x", "path": key} for minute, key in sorted(events)]
    found = collector.add(Batch.of(rows)) + collector.flush()
    return np.array([counts.values.reveal() for counts in found])


def moved(unit, events, without):
    rest = [event for event in events if event not in without]
    return np.abs(counted(unit, events) - counted(unit, rest)).sum() / unit.sensitivity


def visits(events, gap):
    """The events of one person, cut where nothing happened for longer than `gap` minutes."""
    found = [[events[0]]]
    for event in events[1:]:
        if event[0] - found[-1][-1][0] > gap:
            found.append([])
        found[-1].append(event)
    return found


def someone(seed):
    chance = np.random.default_rng(seed)
    minutes = sorted(chance.choice(TICKS - 1, 12, replace=False).tolist())
    return [(minute, ["/", "/news"][int(chance.integers(2))]) for minute in minutes]


@pytest.mark.parametrize("whole", [SHORT, PERSON], ids=repr)
def test_an_event_never_costs_more_than_its_steps(whole):
    found = [moved(whole, events, [event]) for events in map(someone, range(8)) for event in events]
    assert 1 < max(found) <= steps(Event(), whole)


@pytest.mark.parametrize("whole", [LONG, PERSON], ids=repr)
def test_a_visit_never_costs_more_than_its_steps(whole):
    found = [moved(whole, events, visit) for events in map(someone, range(8)) for visit in visits(events, 3)]
    assert 1 < max(found) <= steps(SHORT, whole)
