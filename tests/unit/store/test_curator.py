from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.errors import (
    BudgetExceeded,
    HorizonReached,
    InvalidParameter,
    StoreUnavailable,
    TickOutOfOrder,
    TickTaken,
    UnknownKey,
)
from hubbub.mechanism import Measurement
from hubbub.privacy import Account, Guarantee, User
from hubbub.release import Lpa
from hubbub.released import Cost, Keys, Release, Tick
from hubbub.store import Store, faults, owner
from hubbub.store.ledger import Moved

Make = Callable[[], Lpa]
MakeCounts = Callable[..., Counts]


class Broken(Exception):
    pass


def break_at(name: str, times: int = 1) -> None:
    left = [times]

    def hook(passed: str) -> None:
        if passed == name and left[0]:
            left[0] -= 1
            raise Broken(name)

    faults.install(hook)


def states(store: Store) -> list[tuple[int, str]]:
    return [(d.tick, d.state) for d in store.debits("site")]


def same(one: Release, other: Release) -> bool:
    pairs = [(getattr(one, n), getattr(other, n)) for n in ("values", "standard_errors", "lower", "upper")]
    measured = (one.measurements is None) == (other.measurements is None) and (
        one.measurements is None or np.array_equal(one.measurements, other.measurements)
    )
    alike = (one.tick, one.cost, one.keys, one.noise_variance) == (
        other.tick,
        other.cost,
        other.keys,
        other.noise_variance,
    )
    return alike and measured and all(np.array_equal(a, b) for a, b in pairs)


def test_what_is_returned_is_what_is_stored(store: Store, lpa: Make, counts: MakeCounts) -> None:
    start = Tick(0, datetime(2026, 1, 1, tzinfo=UTC), timedelta(seconds=10))
    with store.curate("site", lpa()) as curator:
        published = [curator.release(counts(start.after(i))) for i in range(3)]
        published.append(curator.predict(start.after(3)))
        published.append(curator.release(counts(start.after(6))))
    stored = list(store.releases("site"))
    assert len(stored) == 5
    assert all(same(a, b) for a, b in zip(published, stored, strict=True))
    assert stored[3].is_predicted
    assert [d.purpose for d in store.debits("site")] == ["release"] * 3 + ["prediction", "release"]
    assert store.verify("site").ok


def test_it_goes_on_where_it_stopped(path: Path, lpa: Make, counts: MakeCounts) -> None:
    with Store.open(path) as store, store.curate("site", lpa()) as curator:
        last = curator.release(counts(0))
    with Store.open(path) as store:
        releaser = lpa()
        with store.curate("site", releaser) as curator:
            assert curator.next_tick == 1
            assert releaser.spent == Fraction(1, 4)
            assert np.array_equal(curator.predict(Tick(1)).values, last.values)
            with pytest.raises(TickOutOfOrder):
                curator.release(counts(1))
            curator.release(counts(2))
        assert store.budget("site").spent == Fraction(1, 2)
        assert store.verify("site").ok


def test_what_is_refused_is_not_written(store: Store, lpa: Make, counts: MakeCounts) -> None:
    with store.curate("site", lpa()) as curator:
        curator.release(counts(3))
        before = list(store.debits("site")), store.budget("site")
        with pytest.raises(TickOutOfOrder):
            curator.release(counts(3))
        with pytest.raises(TickOutOfOrder):
            curator.release(counts(2))
        with pytest.raises(TickOutOfOrder):
            curator.predict(Tick(3))
        with pytest.raises(TickOutOfOrder):
            curator.release(counts(10**9))
        with pytest.raises(UnknownKey):
            curator.release(Counts.of(Keys(["other"]), Tick(4), [1]))
        assert (list(store.debits("site")), store.budget("site")) == before
        curator.release(counts(4))  # and it can still go on


def test_beyond_the_horizon(store: Store, counts: MakeCounts) -> None:
    releaser = Lpa(counts(0).keys, Guarantee.pure(User(horizon=2), 1))
    with store.curate("site", releaser) as curator:
        curator.release(counts(0))
        curator.release(counts(1))
        for ask in (lambda: curator.release(counts(2)), lambda: curator.predict(Tick(2))):
            with pytest.raises(HorizonReached):
                ask()
    assert len(list(store.debits("site"))) == 2


class Careless(Lpa):
    """Thinks that everything is affordable: only the ledger stands between it and a broken promise."""

    def __init__(self, *args: Any, price: Fraction, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.price, self.drawn = price, 0

    def cost(self, tick: Tick) -> Cost:  # noqa: ARG002
        return Cost(epsilon=self.price)

    def check(self, counts: Counts) -> Cost:
        self._account.restore({"last": -1, "composition": {"largest": []}})
        return self.cost(counts.tick)

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        self.drawn += 1
        return super()._measure(counts, cost)


def test_the_ledger_refuses_what_a_careless_releaser_would_spend(store: Store, lpa: Make, counts: MakeCounts) -> None:
    releaser = Careless(lpa().keys, lpa().guarantee, price=Fraction(2, 5))
    with store.curate("site", releaser) as curator:
        curator.release(counts(0))
        curator.release(counts(1))
        with pytest.raises(BudgetExceeded, match="would charge 2/5"):
            curator.release(counts(2))
    assert releaser.drawn == 2
    assert states(store) == [(0, "settled"), (1, "settled")]
    assert store.verify("site").spent == Fraction(4, 5)


class Thrifty(Lpa):
    """Says 1/4 beforehand and finds out while releasing that 1/16 is enough."""

    said, took = Fraction(1, 4), Fraction(1, 16)

    def cost(self, tick: Tick) -> Cost:  # noqa: ARG002
        return Cost(epsilon=self.said)

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:  # noqa: ARG002
        return super()._measure(counts, Cost(epsilon=self.took))


def test_settling_for_less_than_was_reserved(store: Store, lpa: Make, counts: MakeCounts) -> None:
    with store.curate("site", Thrifty(lpa().keys, lpa().guarantee)) as curator:
        release = curator.release(counts(0))
        assert release.cost == Cost(epsilon=Fraction(1, 16))
        assert store.budget("site").spent == Fraction(1, 16)
        break_at("draw:done")
        with pytest.raises(Broken):
            curator.release(counts(1))
        curator.release(counts(2))
    assert store.budget("site").spent == Fraction(1, 16) + Fraction(1, 4) + Fraction(1, 16)
    assert store.verify("site").ok


def test_taking_more_than_was_reserved_is_not_published(store: Store, lpa: Make, counts: MakeCounts) -> None:
    releaser = Thrifty(lpa().keys, lpa().guarantee)
    releaser.said, releaser.took = Fraction(1, 16), Fraction(1, 8)
    with store.curate("site", releaser) as curator:
        with pytest.raises(BudgetExceeded, match="Publish nothing"):
            curator.release(counts(0))
        releaser.took = releaser.said
        curator.release(counts(1))
    assert states(store) == [(0, "lost"), (1, "settled")]


LOSING = ["debit:committed", "draw:done", "settle:debit", "settle:release", "settle:state"]
HARMLESS = ["debit:begin", "debit:written"]
KEPT = ["settle:committed", "publish"]


@pytest.mark.parametrize("where", LOSING + HARMLESS + KEPT)
def test_a_failure_at_each_step_within_a_live_process(store: Store, lpa: Make, counts: MakeCounts, where: str) -> None:
    releaser = lpa()
    with store.curate("site", releaser) as curator:
        before = curator.release(counts(0))
        break_at(where)
        with pytest.raises(Broken):
            curator.release(counts(1))
        if where in HARMLESS:
            curator.release(counts(1))
            assert states(store) == [(0, "settled"), (1, "settled")]
        else:
            told = {"settle:committed": "released already", "publish": "released already"}.get(where, "lost")
            with pytest.raises(TickOutOfOrder if where == "publish" else TickTaken, match=told):
                curator.release(counts(1))
            stored = list(store.releases("site"))[1]
            if where in LOSING:
                assert stored.is_predicted
                assert np.array_equal(stored.values, before.values)
                assert stored.cost == Cost(epsilon=Fraction(1, 4))
            else:
                assert not stored.is_predicted
        curator.release(counts(2))
    assert store.budget("site").spent == Fraction(3, 4)
    assert store.budget("site").lost == (where in LOSING)
    assert store.verify("site").ok
    assert len({r.tick.index for r in store.releases("site")}) == len(list(store.debits("site"))) == 3


@pytest.mark.parametrize("where", ["lost:predicted", "lost:written", "lost:committed"])
def test_a_failure_while_recovering(path: Path, lpa: Make, counts: MakeCounts, where: str) -> None:
    with Store.open(path) as store:
        curator = store.curate("site", lpa())
        break_at("draw:done")
        with pytest.raises(Broken):
            curator.release(counts(0))
        owner.retire(curator._owner)  # as if the process were gone
        break_at(where)
        with pytest.raises(Broken):
            store.curate("site", lpa())
        faults.install(None)
        with store.curate("site", lpa()) as second:
            second.release(counts(1))
        assert states(store) == [(0, "lost"), (1, "settled")]
        assert store.verify("site").ok


def test_prediction_that_fails_changes_nothing(store: Store, lpa: Make, counts: MakeCounts) -> None:
    with store.curate("site", lpa()) as curator:
        curator.release(counts(0))
        break_at("settle:state")
        with pytest.raises(Broken):
            curator.predict(Tick(1))
        assert states(store) == [(0, "settled")]
        curator.release(counts(1))
    assert states(store) == [(0, "settled"), (1, "settled")]


class Sparse(Lpa):
    """Measures every other tick."""

    def cost(self, tick: Tick) -> Cost:
        return super().cost(tick) if tick.index % 2 == 0 else Cost.nothing()


def test_a_free_tick_is_predicted_with_one_commit(store: Store, lpa: Make, counts: MakeCounts) -> None:
    with store.curate("site", Sparse(lpa().keys, lpa().guarantee)) as curator:
        releases = [curator.release(counts(i)) for i in range(4)]
    assert [r.is_predicted for r in releases] == [False, True, False, True]
    assert [d.cost.is_free for d in store.debits("site")] == [False, True, False, True]
    assert store.verify("site").ok


class TestReserveAhead:
    def test_debits_several_ticks_at_once_and_uses_them(self, store: Store, lpa: Make, counts: MakeCounts) -> None:
        with store.curate("site", lpa(), reserve_ahead=3) as curator:
            curator.release(counts(0))
            assert states(store) == [(0, "settled"), (1, "reserved"), (2, "reserved")]
            assert curator.next_tick == 1
            assert store.budget("site").spent == Fraction(3, 4)
            for tick in range(1, 5):
                curator.release(counts(tick))
            assert states(store)[3:] == [(3, "settled"), (4, "settled"), (5, "reserved")]
        with store.curate("site", lpa()) as successor:  # an orderly end loses nothing
            assert successor.next_tick == 5
            successor.release(counts(5))
            successor.release(counts(6))
        assert store.budget("site").lost == 0
        assert store.verify("site").ok

    def test_what_is_left_out_settles_for_nothing(self, store: Store, lpa: Make, counts: MakeCounts) -> None:
        with store.curate("site", lpa(), reserve_ahead=4) as curator:
            curator.release(counts(0))
            curator.release(counts(2))
            assert curator.predict(Tick(3)).cost.is_free
            curator.release(counts(9))
        assert [d.cost.is_free for d in store.debits("site")][:5] == [False, True, False, True, False]
        assert store.verify("site").ok

    def test_a_failure_loses_only_what_may_have_been_drawn(self, store: Store, lpa: Make, counts: MakeCounts) -> None:
        with store.curate("site", lpa(), reserve_ahead=4) as curator:
            curator.release(counts(0))
            break_at("draw:done")
            with pytest.raises(Broken):
                curator.release(counts(1))
            curator.release(counts(2))
        assert states(store)[:3] == [(0, "settled"), (1, "lost"), (2, "settled")]

    def test_a_crash_loses_all_of_them(self, store: Store, lpa: Make, counts: MakeCounts) -> None:
        curator = store.curate("site", lpa(), reserve_ahead=4)
        curator.release(counts(0))
        owner.retire(curator._owner)  # gone without closing
        with store.curate("site", lpa()) as successor:
            assert successor.next_tick == 4
        assert states(store) == [(0, "settled"), (1, "lost"), (2, "lost"), (3, "lost")]
        assert store.verify("site").ok

    def test_never_beyond_what_the_budget_allows(self, store: Store, counts: MakeCounts) -> None:
        releaser = Lpa(counts(0).keys, Guarantee.pure(User(horizon=3), 1))
        with store.curate("site", releaser, reserve_ahead=10) as curator:
            for tick in range(3):
                curator.release(counts(tick))
            with pytest.raises(HorizonReached):
                curator.release(counts(3))
        assert len(list(store.debits("site"))) == 3

    def test_stops_at_a_free_tick(self, store: Store, lpa: Make, counts: MakeCounts) -> None:
        with store.curate("site", Sparse(lpa().keys, lpa().guarantee), reserve_ahead=5) as curator:
            curator.release(counts(0))
        assert states(store) == [(0, "settled")]

    def test_a_price_that_rises_is_refused_and_can_be_predicted(
        self, store: Store, lpa: Make, counts: MakeCounts
    ) -> None:
        releaser = Thrifty(lpa().keys, lpa().guarantee)
        releaser.said = releaser.took = Fraction(1, 16)
        with store.curate("site", releaser, reserve_ahead=2) as curator:
            curator.release(counts(0))
            releaser.said = releaser.took = Fraction(1, 8)
            with pytest.raises(BudgetExceeded, match="reserved ahead"):
                curator.release(counts(1))
            assert curator.predict(Tick(1)).cost.is_free
            curator.release(counts(2))
        assert store.verify("site").ok

    def test_other_spans_than_reserved_are_refused(self, store: Store, lpa: Make, counts: MakeCounts) -> None:
        first = Tick(0, datetime(2026, 1, 1, tzinfo=UTC), timedelta(seconds=10))
        with store.curate("site", lpa(), reserve_ahead=2) as curator:
            curator.release(counts(first))
            with pytest.raises(InvalidParameter, match="reserved ahead"):
                curator.release(counts(Tick(1, datetime(2026, 1, 2, tzinfo=UTC), timedelta(seconds=10))))
            curator.release(counts(first.after()))

    def test_zero_is_refused(self, store: Store, lpa: Make) -> None:
        with pytest.raises(InvalidParameter, match="reserve_ahead"):
            store.curate("site", lpa(), reserve_ahead=0)


class TestTwoCurators:
    def test_the_second_to_come_is_told_and_catches_up(self, path: Path, lpa: Make, counts: MakeCounts) -> None:
        with Store.open(path) as one, Store.open(path) as two:
            with one.curate("site", lpa()) as first, two.curate("site", lpa()) as second:
                released = first.release(counts(0))
                with pytest.raises(TickTaken, match="another curator"):
                    second.release(counts(0))
                assert second.next_tick == 1
                assert np.array_equal(second.predict(Tick(1)).values, released.values)
                with pytest.raises(TickTaken):
                    first.predict(Tick(1))
                second.release(counts(2))
                first.release(counts(3))  # it notices by itself that the store is further on
                second.release(counts(4))
            assert one.verify("site").ok
            assert one.budget("site").settled == 5

    @pytest.mark.parametrize("way", ["release", "predict", "lose"])
    def test_several_ticks_behind_each_is_told_apart_and_then_it_goes_on(
        self, path: Path, lpa: Make, counts: MakeCounts, way: str
    ) -> None:
        """A monitor that stood by takes over with ticks in hand that the other one had time to release."""
        with Store.open(path) as one, Store.open(path) as two:
            with one.curate("site", lpa()) as first, two.curate("site", lpa()) as second:
                for tick in range(3):
                    first.release(counts(tick))
                for tick in range(3):
                    with pytest.raises(TickTaken if tick == 0 else TickOutOfOrder):
                        getattr(second, way)(counts(tick) if way == "release" else Tick(tick))
                second.release(counts(3))
            assert one.verify("site").ok
            assert one.budget("site").settled == 4

    def test_a_tick_in_flight_is_taken_and_waited_for(self, path: Path, lpa: Make, counts: MakeCounts) -> None:
        held, go_on = threading.Event(), threading.Event()
        main = threading.get_ident()

        def hook(name: str) -> None:
            if name == "draw:done" and threading.get_ident() != main:
                held.set()
                assert go_on.wait(30)

        with Store.open(path) as store, store.curate("site", lpa()) as second:
            faults.install(hook)
            with store.curate("site", lpa()) as first:
                worker = threading.Thread(target=lambda: first.release(counts(0)))
                worker.start()
                assert held.wait(30)
                with pytest.raises(TickTaken, match="holds it"):
                    second.release(counts(0))
                assert second.next_tick == 1
                threading.Timer(0.2, go_on.set).start()
                second.release(counts(1))  # waits for tick 0 to have its outcome
                worker.join()
            assert states(store) == [(0, "settled"), (1, "settled")]

    def test_patience_ends_and_the_slow_one_may_not_publish(self, path: Path, lpa: Make, counts: MakeCounts) -> None:
        with Store.open(path) as store, store.curate("site", lpa()) as first:
            second = store.curate("site", lpa(), patience=0.1)

            def meanwhile(name: str) -> None:
                if name == "draw:done":
                    faults.install(None)
                    second.release(counts(1))

            faults.install(meanwhile)
            with pytest.raises(TickTaken, match="took it for lost"):
                first.release(counts(0))
            first.release(counts(2))
            second.close()
            assert states(store) == [(0, "lost"), (1, "settled"), (2, "settled")]
            assert store.verify("site").ok

    def test_reservations_of_an_impatient_world(self, path: Path, lpa: Make, counts: MakeCounts) -> None:
        with Store.open(path) as store, store.curate("site", lpa(), reserve_ahead=4) as first:
            first.release(counts(0))
            with store.curate("site", lpa(), patience=0.05) as second:
                second.release(counts(5))  # gives up on ticks 1 to 3 together
            assert states(store) == [(0, "settled"), (1, "lost"), (2, "lost"), (3, "lost"), (5, "settled")]
            with pytest.raises(TickTaken):
                first.release(counts(1))
            first.release(counts(6))
            assert store.verify("site").ok


def test_a_closed_curator_releases_nothing(store: Store, lpa: Make, counts: MakeCounts) -> None:
    curator = store.curate("site", lpa())
    curator.close()
    curator.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        curator.release(counts(0))


def test_a_used_releaser_is_refused(store: Store, lpa: Make, counts: MakeCounts) -> None:
    releaser = lpa()
    releaser.release(counts(0))
    with pytest.raises(InvalidParameter, match="outside the store"):
        store.curate("site", releaser)


def test_the_ledger_by_itself_refuses_too(store: Store, lpa: Make, counts: MakeCounts) -> None:
    with store.curate("site", lpa()) as curator:
        curator.release(counts(0))
    ledger = store.ledger("site")
    position = ledger.position()
    account = position.checkpoint.open_account(ledger.stream)
    dear = [(Tick(tick), Cost(epsilon=Fraction(1, 2))) for tick in (1, 2)]
    with pytest.raises(BudgetExceeded):
        ledger.reserve(position, account, dear, "", "test")
    forgetful = Account(ledger.stream.guarantee)  # even with an account that knows nothing, a tick is taken once
    with pytest.raises(TickTaken, match="holds it"):
        ledger.reserve(position, forgetful, [(Tick(0), Cost(epsilon=Fraction(1, 4)))], "", "test")
    after = ledger.reserve(position, account, dear[:1], "", "test")
    with pytest.raises(BudgetExceeded):
        ledger.reserve(after, account, dear[1:], "", "test")
    assert states(store) == [(0, "settled"), (1, "reserved")]


def test_only_one_of_two_that_recover_gives_a_tick_its_outcome(store: Store, lpa: Make, counts: MakeCounts) -> None:
    curator = store.curate("site", lpa())
    break_at("draw:done")
    with pytest.raises(Broken):
        curator.release(counts(0))
    ledger = store.ledger("site")
    seen = ledger.position()  # what a second one saw before the first had done it
    curator.release(counts(1))
    with pytest.raises(Moved):
        ledger.lose(seen, Account(curator.guarantee), lambda: pytest.fail("must not be predicted"))
    curator.close()
    assert states(store) == [(0, "lost"), (1, "settled")]


def test_fault_points_are_all_passed(store: Store, lpa: Make, counts: MakeCounts) -> None:
    passed: list[str] = []
    with store.curate("site", lpa()) as curator:
        faults.install(passed.append)
        curator.release(counts(0))
        break_at("draw:done")
        with pytest.raises(Broken):
            curator.release(counts(1))
        faults.install(passed.append)
        curator.release(counts(2))
    assert set(passed) == set(faults.FAULT_POINTS)
