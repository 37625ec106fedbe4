"""Whatever order things happen and fail in: what was drawn was debited, once, within the budget."""

from __future__ import annotations

import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.confidential import Counts
from hubbub.errors import BudgetExceeded, HorizonReached, TickOutOfOrder, TickTaken
from hubbub.mechanism import Measurement
from hubbub.privacy import Guarantee, Session, Unit, User, Window
from hubbub.release import Lpa
from hubbub.released import Cost, Keys, Release, Tick
from hubbub.store import Curator, Store, chain, faults, owner
from hubbub.store.packing import pack, unpack

KEYS = Keys(["front", "news"])


class Broken(Exception):
    pass


class Counting(Lpa):
    """Costs what it is told, and remembers what it drew."""

    price = Fraction(1, 8)

    def __init__(self, guarantee: Guarantee, drawn: list[int]) -> None:
        super().__init__(KEYS, guarantee)
        self._drawn = drawn

    def cost(self, tick: Tick) -> Cost:  # noqa: ARG002
        return Cost(epsilon=self.price)

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        self._drawn.append(counts.tick.index)
        return super()._measure(counts, cost)


UNITS: list[Unit] = [Session(max_ticks=3), Window(3), User(horizon=12)]
STEP = st.tuples(
    st.sampled_from(["release", "predict", "reopen", "die", "price"]),
    st.integers(0, 1),  # which of two curators
    st.integers(0, 2),  # how many ticks are left out
    st.sampled_from(["", *faults.FAULT_POINTS]),  # where it fails
    st.sampled_from([Fraction(0), Fraction(1, 8), Fraction(1, 3)]),
)


@settings(max_examples=40, deadline=None)
@given(unit=st.sampled_from(UNITS), ahead=st.integers(1, 3), steps=st.lists(STEP, min_size=1, max_size=25))
def test_any_life_of_a_stream(unit: Unit, ahead: int, steps: list[tuple[str, int, int, str, Fraction]]) -> None:
    guarantee = Guarantee.pure(unit, 1)
    drawn: list[int] = []
    published: dict[int, Release] = {}
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "site.db") as store:
        prices = [Fraction(1, 8), Fraction(1, 8)]

        def curate(which: int) -> Curator:
            releaser = Counting(guarantee, drawn)
            releaser.price = prices[which]
            return store.curate("site", releaser, reserve_ahead=ahead, patience=0)

        curators = [curate(0), curate(1)]
        for what, which, skip, where, price in steps:
            curator = curators[which]
            faults.install(lambda name, where=where: fail(name, where))
            try:
                tick = Tick(curator.next_tick + skip)
                if what == "release":
                    release = curator.release(Counts.of(KEYS, tick, np.array([3, 4])))
                    assert tick.index not in published
                    published[tick.index] = release
                elif what == "predict":
                    published[tick.index] = curator.predict(tick)
                elif what == "reopen":
                    curator.close()
                    curators[which] = curate(which)
                elif what == "die":
                    owner.retire(curator._owner)
                    curators[which] = curate(which)
                else:
                    prices[which] = price
                    curator._releaser.price = price  # type: ignore[attr-defined]
            except (Broken, TickTaken, TickOutOfOrder, BudgetExceeded, HorizonReached):
                pass
            finally:
                faults.install(None)
            if curators[which]._closed:
                curators[which] = curate(which)
            check(store, guarantee, drawn, published)


def fail(name: str, where: str) -> None:
    if name == where:
        raise Broken


def check(store: Store, guarantee: Guarantee, drawn: list[int], published: dict[int, Release]) -> None:
    found = store.verify("site")
    assert found.ok, found.faults
    debits = {debit.tick: debit for debit in store.debits("site")}
    assert all(times == 1 for times in Counter(drawn).values()), "drawn twice"
    assert set(drawn) <= set(debits), "drawn without a debit"
    stored = {release.tick.index: release for release in store.releases("site")}
    for tick, release in published.items():
        assert np.array_equal(stored[tick].values, release.values)
        assert stored[tick].cost == release.cost
    assert store.budget("site").spent <= guarantee.budget
    assert {tick for tick, debit in debits.items() if debit.state != "reserved"} == set(stored)


@given(
    st.one_of(
        st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=30),
        st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0**52, -(2.0**31)]), min_size=1, max_size=30),
    )
)
def test_floats_come_back_bit_for_bit(values: list[float]) -> None:
    vector = np.array(values)
    assert unpack(pack(vector), len(vector), np.float64).tobytes() == vector.tobytes()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30))
def test_integers_come_back(values: list[int]) -> None:
    vector = np.array(values, dtype=np.int64)
    assert np.array_equal(unpack(pack(vector), len(vector), np.int64), vector)


PART = st.one_of(st.none(), st.integers(), st.text(), st.binary())


@given(st.lists(PART, max_size=5), st.lists(PART, max_size=5))
def test_different_parts_never_give_the_same_digest(
    one: list[str | int | bytes | None], other: list[str | int | bytes | None]
) -> None:
    alike = [(type(part), part) for part in one] == [(type(part), part) for part in other]
    assert (chain.digest("x", *one) == chain.digest("x", *other)) == alike
