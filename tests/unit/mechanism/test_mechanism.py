"""One base joins measuring and estimating: it charges before anything is drawn, whatever happens then."""

from fractions import Fraction

import numpy as np
import pytest
from tests.support.methods import NEEDED, ONLINE, PLAIN, make
from tests.support.slipping import KEYS as SLIP_KEYS
from tests.support.slipping import SLIPPING, Listing

from hubbub.confidential import Counts
from hubbub.errors import BudgetExceeded, HorizonReached, InvalidParameter, TickOutOfOrder, UnknownKey
from hubbub.mechanism import Measurement, Traits
from hubbub.methods import METHODS, build
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.release import Bd, Dft, Lpa
from hubbub.released import Cost, Hierarchy, Keys, Snapshot, Tick

KEYS = Keys(["front", "news"])
PROMISES = {
    "pure": Guarantee.pure(User(horizon=40), 1),
    "zcdp": Guarantee.zcdp(User(horizon=40), "1/2"),
    "sessions": Guarantee.pure(Session(max_ticks=5), 1),
}


def counts(tick, values=(500, 40), keys=KEYS):
    return Counts.of(keys, Tick(tick), list(values))


def shared(release, guarantee, **changed):
    """What was drawn in one place, as a measurement for another."""
    kind = "laplace" if guarantee.kind == "pure" else "gaussian"
    facts = {"variance": release.noise_variance, "cost": release.cost, "noise": kind, **changed}
    return Measurement(release.tick, KEYS, release.measurements, **facts)


# ── measured elsewhere ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("method", PLAIN)
def test_a_measurement_from_elsewhere_is_estimated_as_one_from_here(method, promise):
    guarantee = PROMISES[promise]
    with simulation(3) as source:
        here, there = make(method, KEYS, guarantee, source=source), make(method, KEYS, guarantee)
        for tick in (0, 1, 2, 5, 6, 7, 20, 21):
            release = here.release(counts(tick))
            if release.is_predicted:
                again = there.predict(Tick(tick))
            else:
                again = there.accept(shared(release, guarantee))
                assert (again.measurements == release.measurements).all()
            for name in ("values", "standard_errors", "lower", "upper"):
                np.testing.assert_array_equal(getattr(again, name), getattr(release, name), err_msg=name)
            assert (again.cost, there.spent, there.next_tick) == (release.cost, here.spent, here.next_tick)
    assert there.snapshot().to_bytes() == here.snapshot().to_bytes()


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("method", PLAIN)
def test_keys_may_have_noise_of_their_own(method, kind):
    guarantee = Guarantee.zcdp(Session(max_ticks=5), "1/2")
    mechanism = make(method, KEYS, guarantee)
    even = Cost(rho=Fraction(1, 10))
    quiet, loud = 1.0, 10_000.0
    for tick in range(6):
        measured = np.array([500 + tick, 500 - tick])
        told = Measurement(Tick(tick), KEYS, measured, np.array([quiet, loud]), even, kind, correlated=True)
        release = mechanism.accept(told)
        assert release.noise_variance.tolist() == [quiet, loud]
        assert release.correlated
        assert release.variance_of_sum() == pytest.approx((1 + 100) ** 2)
    assert release.standard_errors[0] < release.standard_errors[1]
    assert release.upper[0] - release.lower[0] < release.upper[1] - release.lower[1]


@pytest.mark.parametrize("method", [name for name in ONLINE if name not in PLAIN])
def test_who_measures_more_than_counts_takes_nothing_from_elsewhere(method):
    mechanism = make(method, KEYS, PROMISES["pure"])
    told = Measurement(Tick(0), KEYS, np.array([5, 5]), 2.0, Cost(epsilon=Fraction(1, 40)))
    with pytest.raises(InvalidParameter, match="takes no measurement from elsewhere"):
        mechanism.accept(told)
    assert (mechanism.spent, mechanism.next_tick) == (0, 0)
    assert method in {"areas", "ba", "bd", "pegasus", "quadtree", "ranges", "roads", "temporal"}


@pytest.mark.parametrize("method", PLAIN)
def test_what_is_wrong_with_a_measurement_costs_nothing(method):
    guarantee = PROMISES["pure"]
    mechanism = make(method, KEYS, guarantee)
    told = Measurement(Tick(3), KEYS, np.array([5, 5]), 2.0, Cost(epsilon=Fraction(1, 40)))
    mechanism.accept(told)
    before = mechanism.snapshot().to_bytes()
    for wrong, error in (
        (told._replace(keys=Keys(["x", "y"]), tick=Tick(4)), UnknownKey),
        (told, TickOutOfOrder),
        (told._replace(tick=Tick(2)), TickOutOfOrder),
        (told._replace(tick=Tick(2**40)), TickOutOfOrder),
        (told._replace(tick=Tick(4), values=np.array([5])), InvalidParameter),
        (told._replace(tick=Tick(4), variance=-1.0), InvalidParameter),
        (told._replace(tick=Tick(4), cost=Cost.nothing()), InvalidParameter),
        (told._replace(tick=Tick(4), cost=Cost(rho=Fraction(1, 40))), InvalidParameter),
        (told._replace(tick=Tick(4), cost=Cost(epsilon=Fraction(2))), BudgetExceeded),
        (told._replace(tick=Tick(40)), HorizonReached),
    ):
        with pytest.raises(error):
            mechanism.accept(wrong)
        assert mechanism.snapshot().to_bytes() == before


# ── charged before ───────────────────────────────────────────────────────────────────────────────────────────────────


class Unplugged(Exception):
    pass


@pytest.mark.parametrize("method", ONLINE)
def test_a_draw_that_fails_stays_charged_and_is_not_repeated(method, monkeypatch):
    mechanism = make(method, KEYS, PROMISES["sessions"])
    mechanism.release(counts(0))
    spent, cost = mechanism.spent, mechanism.cost(Tick(1))

    def fails(*_):
        assert mechanism.spent >= spent + mechanism._account.amount(cost), "drawn before it was charged"
        raise Unplugged

    monkeypatch.setattr(mechanism, "_measure", fails)
    with pytest.raises(Unplugged):
        mechanism.release(counts(1))
    monkeypatch.undo()
    assert mechanism.spent == spent + mechanism._account.amount(cost)
    with pytest.raises(TickOutOfOrder):
        mechanism.release(counts(1))
    mechanism.release(counts(2))
    assert mechanism.spent >= spent + mechanism._account.amount(cost)


def test_a_mechanism_that_takes_more_than_it_announced_publishes_nothing(monkeypatch):
    lpa = Lpa(KEYS, PROMISES["sessions"])
    honest = lpa._measure
    monkeypatch.setattr(
        lpa, "_measure", lambda counts, cost: honest(counts, cost)._replace(cost=Cost(epsilon=Fraction(1)))
    )
    with pytest.raises(BudgetExceeded, match="took 1 where 1/5 was held"):
        lpa.release(counts(0))
    assert lpa.spent == Fraction(1, 5)


def test_a_quiet_tick_gives_back_what_it_did_not_take():
    with simulation(4) as source:
        bd = Bd(KEYS, Guarantee.pure(Window(10), 100, allow_weak=True), source=source)
        releases = [bd.release(counts(tick, (1000, 1000))) for tick in range(10)]
    assert any(release.is_predicted and not release.cost.is_free for release in releases)
    assert bd.spent == sum(release.cost.epsilon for release in releases)


# ── the whole series at once ─────────────────────────────────────────────────────────────────────────────────────────


def test_an_offline_mechanism_is_charged_before_it_draws(monkeypatch):
    guarantee = Guarantee.pure(User(horizon=8), 1)
    series = [counts(tick) for tick in range(8)]
    dft = Dft(KEYS, guarantee, coefficients=2)
    assert (dft.spent, dft.cost, dft.ticks) == (0, Cost(epsilon=Fraction(1)), 8)
    releases = dft.release_series(series)
    assert [release.cost for release in releases] == [dft.cost, *[Cost.nothing()] * 7]
    assert (dft.spent, dft.next_tick) == (1, 8)
    with pytest.raises(TickOutOfOrder, match="released already"):
        dft.release_series(series)

    failing = Dft(KEYS, guarantee, coefficients=2)

    def fails(*_):
        assert failing.spent == 1
        raise Unplugged

    monkeypatch.setattr(failing, "_measure", fails)
    with pytest.raises(Unplugged):
        failing.release_series(series)
    assert failing.spent == 1


def test_what_an_offline_mechanism_refuses_costs_nothing():
    dft = Dft(KEYS, Guarantee.pure(User(horizon=8), 1), coefficients=2)
    with pytest.raises(TickOutOfOrder, match="all 8 ticks"):
        dft.release_series([counts(tick) for tick in range(7)])
    with pytest.raises(UnknownKey):
        dft.release_series([counts(tick, keys=Keys(["x", "y"])) for tick in range(8)])
    assert dft.spent == 0


# ── slips ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_may_slip_is_charged_with_the_rest():
    mechanism = Listing(SLIP_KEYS, SLIPPING)
    release = mechanism.release(Counts.of(SLIP_KEYS, Tick(0), [812, 240, 97]))
    assert release.cost == Cost(rho=Fraction(1, 40), delta=Fraction(1, 4 * 10**6))
    assert (mechanism.spent, mechanism.slipped) == (Fraction(1, 40), Fraction(1, 4 * 10**6))
    again = Listing(SLIP_KEYS, SLIPPING)
    again.restore(Snapshot.from_bytes(mechanism.snapshot().to_bytes()))
    assert again.slipped == mechanism.slipped


@pytest.mark.parametrize("promise", [Guarantee.zcdp(Session(4), 1), Guarantee.approximate(Session(4), 1, "1e-6")])
def test_a_mechanism_with_a_threshold_needs_a_promise_with_slips(promise):
    with pytest.raises(InvalidParameter, match="nothing set aside for that"):
        Listing(SLIP_KEYS, promise)
    assert "has a threshold, and needs a promise with slips" in Listing.traits.sentences


def test_a_delta_that_is_not_declared_is_refused():
    class Silent(Listing):
        name = "silent"
        traits = Traits()

    silent = Silent(SLIP_KEYS, SLIPPING)
    with pytest.raises(InvalidParameter, match="does not declare that something may slip"):
        silent.release(Counts.of(SLIP_KEYS, Tick(0), [812, 240, 97]))
    assert (silent.spent, silent.slipped, silent.next_tick) == (0, 0, 0)


# ── traits ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", METHODS)
def test_a_promise_that_a_mechanism_cannot_give_is_refused(method):
    traits = METHODS[method].traits
    for guarantee in (
        Guarantee.pure(User(horizon=60), 1),
        Guarantee.zcdp(User(horizon=60), 1),
        Guarantee.approximate(User(horizon=60), 1, "1e-9"),
        Guarantee.pure(Event(), 1),
    ):
        fits = guarantee.kind in traits.guarantees
        fits &= guarantee.unit.horizon is not None or not traits.needs_horizon
        if fits:
            build(method, KEYS, guarantee, **NEEDED.get(method, {}))
        else:
            with pytest.raises(InvalidParameter, match=f"`{method}` (cannot promise|must know how many)"):
                build(method, KEYS, guarantee, **NEEDED.get(method, {}))


@pytest.mark.parametrize("method", METHODS)
def test_a_domain_in_which_one_thing_counts_more_often_than_was_promised_is_refused(method):
    """Its noise was too small: a factor of 21.6 was measured for a promised 2.72."""
    tree = {"country": None, "city": "country", "port": "city"}
    for unit in (User(horizon=60), User(horizon=60, max_items=2)):
        with pytest.raises(InvalidParameter, match="counts in up to 3 keys at once"):
            build(method, Hierarchy(tree), Guarantee.pure(unit, 1), **NEEDED.get(method, {}))
    build(method, Hierarchy(tree), Guarantee.pure(User(horizon=60, max_items=3), 1), **NEEDED.get(method, {}))
    build(method, Hierarchy(tree, nested=False), Guarantee.pure(User(horizon=60), 1), **NEEDED.get(method, {}))


def test_a_change_to_such_a_domain_is_refused_and_changes_nothing():
    lpa = Lpa(KEYS, Guarantee.pure(Event(), 1))
    with pytest.raises(InvalidParameter, match="counts in up to 2 keys at once"):
        lpa.change_domain(Hierarchy({"city": None, "port": "city"}))
    assert lpa.keys == KEYS


@pytest.mark.parametrize("method", ONLINE)
def test_an_even_cost_is_the_same_whatever_was_seen(method):
    even = []
    for guarantee in (PROMISES["pure"], Guarantee.pure(Window(10), 1)):
        mechanism, costs = make(method, KEYS, guarantee), set()
        for tick in range(36):  # long quiet stretches: noise alone does not keep a mechanism busy through them
            costs.add(mechanism.cost(Tick(tick)))
            mechanism.release(counts(tick, (5 if tick % 12 else 90_000, 7)))
        even.append(len(costs) == 1)
    assert all(even) == METHODS[method].traits.even_cost


def test_a_series_without_gaps_is_released_tick_by_tick():
    with simulation(1) as source:
        one = Lpa(KEYS, PROMISES["pure"], source=source).release_series(counts(tick) for tick in range(3))
    assert [release.tick.index for release in one] == [0, 1, 2]
    assert METHODS["lpa"].traits.sentences[0] == "promises pure, zcdp, approximate"
    assert "needs a horizon" in METHODS["dft"].traits.sentences


def test_a_unit_without_a_horizon_is_named_as_people_say_it():
    with pytest.raises(InvalidParameter, match="and one event has no horizon"):
        Dft(KEYS, Guarantee.pure(Event(), 1), coefficients=2)
