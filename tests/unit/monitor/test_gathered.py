"""Rounds on the books: debited before anybody is asked, released once, refused when nothing is left."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.support.gathering import Gathering

from hubbub.errors import GrantExhausted, GuaranteeChanged, InvalidParameter, StoreUnavailable, TickTaken
from hubbub.gather.prio3 import Histogram
from hubbub.monitor.gathered import GatheredStream
from hubbub.privacy import Grant, Guarantee, User
from hubbub.store import Store, faults

PEOPLE = Grant("panel", Guarantee.pure(User(horizon=10), 4), "the panel")


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "site.db", marks=tmp_path / "marks") as opened:
        yield opened


class Live:
    """A gathering whose rounds are on the books of a store."""

    def __init__(self, store, tmp_path, *, grant=None, share=1, method="lpa", epsilon=1, name="colours", **asked):
        self.store, self.name = store, name
        self.folder = tmp_path / f"rounds-{share}".replace("/", "-")
        world = Gathering(self.folder, epsilon=epsilon, **asked)
        world.stop()
        self.world = world
        self.given = {"grant": grant, "share": share, "method": method}
        self.start()

    def start(self):
        self.book = self.world.book = GatheredStream(self.store, self.name, self.world.plan, **self.given)
        self.world.helper, self.world.leader = self.world.start_helper(), self.world.start_leader()

    def restart(self):
        self.stop()
        self.start()

    def stop(self):
        self.world.stop()
        self.book.close()


@pytest.fixture
def live(store, tmp_path):
    made = Live(store, tmp_path)
    yield made
    made.stop()


@pytest.fixture
def three(store, tmp_path):
    made = Live(store, tmp_path, ticks=3)
    yield made
    made.stop()


def spent(store):
    return store.budget("colours").spent


def test_a_round_is_debited_before_it_asks_and_published_after(store, live):
    world = live.world
    assert spent(store) == 0
    world.work()
    assert spent(store) == 1  # nobody has answered
    world.send(*[1] * 10)
    told = world.finish()
    (release,) = store.releases("colours")
    assert release.measurements.tolist() == told["sums"]
    assert release.noise_variance == pytest.approx(told["variance"])
    assert release.keys.names == ("0", "1", "2", "3")
    assert release.tick.start == world.plan.begins(0)
    assert release.cost.epsilon == 1
    assert store.verify("colours").ok
    assert "two that do not work together" in store.stream("colours").attested["gathered"]


def test_rounds_that_nobody_answers_stay_charged(store, three):
    world = three.world
    for tick in range(3):
        world.clock[0] = world.plan.begins(tick)
        world.work()
    world.clock[0] = world.plan.closes(2)
    world.work()
    world.work()
    assert spent(store) == 3
    assert [debit.state for debit in store.debits("colours")] == ["lost"] * 3
    assert all(release.is_predicted for release in store.releases("colours"))


def test_restarts_at_every_point_debit_and_publish_once(store, live):
    world = live.world
    points = []
    faults.install(points.append)
    try:
        world.work()
        world.send(0, 1, 2, 3)
        world.finish()
    finally:
        faults.install(None)
    assert {"debit:committed", "settle:release", "publish"} <= set(points)
    assert spent(store) == 1


@pytest.mark.parametrize("point", ["debit:begin", "debit:written", "debit:committed", "mark:begin", "mark:written",
                                   "draw:done", "settle:debit", "settle:release", "settle:state", "settle:committed",
                                   "publish"])  # fmt: skip
def test_a_crash_at(store, live, point):
    """The round goes on: it is debited once, its sum is published once, and it is the sum that was opened."""
    world = live.world

    class Crash(BaseException):
        pass

    def crash(name):
        if name == point:
            faults.install(None)
            raise Crash

    sent = False
    faults.install(crash)
    try:
        for _ in range(5):
            try:
                world.work()
                if not sent:
                    world.send(0, 1, 2, 3)
                    sent = True
                told = world.finish()
            except Crash:
                live.restart()
    finally:
        faults.install(None)
    (release,) = store.releases("colours")
    assert release.measurements.tolist() == told["sums"]
    assert spent(store) == 1
    assert len(list(store.debits("colours"))) == 1
    assert store.verify("colours").ok


def test_a_filter_estimates_from_noisy_sums(store, tmp_path):
    live = Live(store, tmp_path, ticks=3, method="ukf")
    world = live.world
    for tick in range(3):
        world.clock[0] = world.plan.begins(tick)
        world.work()
        world.send(*[tick] * 12, tick=tick)
        world.finish(tick)
        if tick == 1:
            live.restart()
    live.stop()
    releases = list(store.releases("colours"))
    assert [release.tick.index for release in releases] == [0, 1, 2]
    assert releases[2].values.tolist() != releases[2].measurements.tolist()


def test_queries_about_the_same_people_add_up(store, tmp_path):
    """Three quarters are taken by one plan; a second one is refused before anything is asked, or made."""
    live = Live(store, tmp_path, ticks=3, grant=PEOPLE, share="3/4")
    live.world.work()
    assert store.budget("colours").parts["colours"].guarantee.epsilon == 3
    other = Live(store, tmp_path / "other", ticks=3, epsilon="1/4", share="1/5", grant=PEOPLE, name="shapes")
    other.stop()
    with pytest.raises(GrantExhausted):
        GatheredStream(store, "sizes", other.world.plan, grant=PEOPLE, share="1/2")
    assert store.find("sizes") is None
    live.stop()


def test_what_a_round_costs_must_fit(store, three):
    with pytest.raises(InvalidParameter, match=r"A round costs epsilon 1; .* leaves epsilon 0.3334"):
        GatheredStream(store, "other", three.world.plan, grant=PEOPLE, share="1/4")
    with pytest.raises(InvalidParameter, match="takes no sums from elsewhere"):
        GatheredStream(store, "other", three.world.plan, method="fast")
    with pytest.raises(GuaranteeChanged):
        GatheredStream(store, "colours", three.world.plan, grant=PEOPLE, share="3/4")


def test_gaussian_noise_is_on_the_books_as_rho(store, tmp_path):
    live = Live(store, tmp_path, epsilon=None, rho="1/8", ticks=2)
    live.world.work()
    live.world.send(*[1] * 5)
    live.world.finish()
    live.stop()
    (release,) = store.releases("colours")
    assert release.cost.rho == Fraction(1, 8)
    assert store.budget("colours").total == Fraction(1, 4)


def test_noise_that_no_ledger_adds_up(store, tmp_path):
    asked = {"epsilon": None, "share_variance": 4, "lying": 1, "minimum": 8, "scheme": "homomorphic"}
    with pytest.raises(InvalidParameter, match="A ledger adds up epsilons or rhos"):
        Live(store, tmp_path, **asked)


def test_order_and_repetition(store, three):
    book, world = three.book, three.world
    curator = book._curator
    first, second = book._tick(0), book._tick(1)
    book.open(0)
    book.open(0)
    book.open(1)
    assert curator.awaited == (0, 1)
    assert spent(store) == 2
    with pytest.raises(InvalidParameter, match="not the first that waits"):
        curator.give_up(second)
    assert book.lose(1) is False  # it waits for the first
    assert book.lose(0) is True
    assert book.lose(0) is True
    with pytest.raises(TickTaken):
        book.open(0)
    curator.give_up(second)
    assert curator.awaited == ()
    book.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        curator.debit(first)
    del world


def test_another_curator_that_has_waited_loses_the_tick(store, live):
    """Someone who releases into the same stream by hand: the round is lost, and nothing is published twice."""
    live.world.work()
    live.world.send(0, 1, 2)
    from hubbub.release import Lpa

    lpa = Lpa(store.stream("colours").keys, store.stream("colours").guarantee)
    with store.curate("colours", lpa, {"attested": dict(store.stream("colours").attested)}, patience=0.0):
        pass
    live.world.finish()
    (release,) = store.releases("colours")
    assert release.is_predicted
    assert spent(store) == 1


def test_circuits_of_one_label(store, tmp_path):
    with pytest.raises(InvalidParameter, match="so many different labels"):
        Gathering(tmp_path / "x", circuit=Histogram(2), labels=["a", "a"])
