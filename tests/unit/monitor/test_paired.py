"""One tick, released twice under one promise: budgets, order, crashes in between, and what readers asked."""

from fractions import Fraction

import pytest

from hubbub.confidential import Counts
from hubbub.errors import GuaranteeChanged, InvalidCounts, InvalidParameter, StoreUnavailable, TickTaken
from hubbub.methods import make_mechanism
from hubbub.monitor.paired import Follower, JoinedCurator, RangePlan, open_curator
from hubbub.privacy import Grant, Guarantee, Session, User, Window
from hubbub.ranges import PairWindow
from hubbub.release import Lpa
from hubbub.released import Keys, Tick
from hubbub.store import Curator, Store, faults

KEYS = Keys(["front", "news"])
WHOLE = Guarantee.pure(Session(max_ticks=20), 1)
PLAN = RangePlan(64, Fraction(1, 4), "two-level")


class Crash(BaseException):
    """Ends a step as SIGKILL would, as far as one process can tell."""


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "site.db") as opened:
        yield opened


@pytest.fixture(autouse=True)
def no_faults():
    yield
    faults.install(None)


def opened(store, plan=PLAN, guarantee=WHOLE, name="site"):
    return open_curator(store, name, KEYS, guarantee, Lpa, plan)


def counts(tick, value=100):
    return Counts.of(KEYS, Tick(tick), [value, 50])


def ticks(store, name):
    return [release.tick.index for release in store.releases(name)]


def fail_at(name, nth, error):
    passed = []

    def hook(at):
        if at == name:
            passed.append(at)
            if len(passed) == nth:
                raise error

    faults.install(hook)


def test_a_tick_is_in_both_streams_and_the_promise_is_their_sum(store):
    with opened(store) as pair:
        assert isinstance(pair, JoinedCurator)
        assert pair.guarantee == WHOLE
        live = [pair.release(counts(tick)) for tick in range(3)]
    assert [release.tick.index for release in live] == ticks(store, "site") == ticks(store, "site.ranges")
    assert (store.stream("site").guarantee.epsilon, store.stream("site.ranges").guarantee.epsilon) == (
        Fraction(3, 4),
        Fraction(1, 4),
    )
    for name in ("site", "site.ranges"):  # whichever is named, the whole is told
        budget = store.budget(name)
        assert (budget.guarantee, budget.spent, budget.left) == (WHOLE, Fraction(3, 20), Fraction(17, 20))
        assert set(budget.parts) == {"site", "site.ranges"}
        assert budget.to_dict()["parts"]["site.ranges"]["total"] == "1/4"
    assert store.ranges_of("site").name == "site.ranges"
    assert store.ranges_of("site.ranges") is None


def test_without_a_plan_it_is_an_ordinary_curator(store):
    with opened(store, plan=None) as curator:
        assert isinstance(curator, Curator)
        assert curator.guarantee == WHOLE
    assert [stream.name for stream in store.streams()] == ["site"]
    assert store.ranges_of("site") is None


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ((None, "1/2"), (RangePlan(64), "1")),  # it would be half of a stronger promise that was made alone
        ((None, "1"), (RangePlan(64), "1")),
        ((RangePlan(64), "1"), (None, "1/2")),  # the other half would be forgotten
        ((RangePlan(64), "1"), (RangePlan(64, Fraction(1, 3)), "1")),
        ((RangePlan(64), "1"), (RangePlan(65), "1")),
        ((RangePlan(64), "1"), (RangePlan(64), "2")),
    ],
)
def test_a_promise_once_made_is_neither_split_nor_joined_later(store, first, then):
    def guarantee(epsilon):
        return Guarantee.pure(Session(max_ticks=20), epsilon)

    opened(store, first[0], guarantee(first[1])).close()
    before = store.budget("site")
    with pytest.raises(GuaranteeChanged):
        opened(store, then[0], guarantee(then[1]))
    assert store.budget("site") == before, "a refusal changes nothing"


def test_another_method_for_ranges_is_refused_by_name(store):
    """Options belong to the promise, those of ranges too."""
    opened(store, RangePlan(64)).close()
    before = store.budget("site")
    with pytest.raises(GuaranteeChanged, match="`method` was auto when the stream was made, now none"):
        opened(store, RangePlan(64, method="none"))
    assert store.budget("site") == before
    opened(store, RangePlan(64, method="auto")).close()


def test_a_crash_between_the_two_leaves_the_tick_in_one_and_is_never_drawn_again(store):
    pair = opened(store)
    pair.release(counts(0))
    fail_at("debit:begin", 2, Crash())  # the second debit of a tick is that of ranges
    with pytest.raises(Crash):
        pair.release(counts(1))
    faults.install(None)
    pair.close()
    with opened(store) as again:
        assert again.next_tick == 2
        again.release(counts(2))
    assert ticks(store, "site") == [0, 1, 2]
    assert ticks(store, "site.ranges") == [0, 2]
    assert store.budget("site").spent == 3 * Fraction(3, 80) + 2 * Fraction(1, 80)


def test_a_crash_after_the_second_draw_loses_the_tick_there(store):
    pair = opened(store)
    fail_at("draw:done", 2, Crash())
    with pytest.raises(Crash):
        pair.release(counts(0))
    faults.install(None)
    pair.close()
    with opened(store) as again:
        assert again.next_tick == 1
    assert [release.is_predicted for release in store.releases("site")] == [False]
    assert [release.is_predicted for release in store.releases("site.ranges")] == [True]
    assert store.budget("site").lost == 1
    assert store.budget("site").spent == Fraction(1, 20), "what was charged stays charged"


@pytest.mark.parametrize("point", ["debit:begin", "debit:committed", "settle:debit"])
def test_a_store_that_goes_away_in_between_is_waited_for(store, point):
    """The live part is out: trying again must finish the second one, and not draw the live part a second time."""
    with opened(store) as pair:
        fail_at(point, 2, StoreUnavailable("gone"))
        with pytest.raises(StoreUnavailable):
            pair.release(counts(0))
        assert pair.next_tick == 0, "it is half done"
        faults.install(None)
        release = pair.release(counts(0))
        assert release.measurements.tolist() == next(store.releases("site")).measurements.tolist()
        assert pair.next_tick == 1
        pair.release(counts(1))
    assert ticks(store, "site") == ticks(store, "site.ranges") == [0, 1]
    assert store.budget("site").lost == (point != "debit:begin")
    assert store.verify("site").ok
    assert store.verify("site.ranges").ok


def test_what_the_second_stream_refuses_is_not_spent_for(store):
    with opened(store) as pair:
        with pytest.raises(InvalidCounts):
            pair.release(counts(0, 2**61))
        assert store.budget("site").spent == 0
        assert pair.next_tick == 0


def test_two_monitors_share_both_ledgers(tmp_path):
    with Store.open(tmp_path / "site.db") as one, Store.open(tmp_path / "site.db") as other:
        first, second = opened(one), opened(other)
        for tick in range(6):
            pair, late = (first, second) if tick % 2 else (second, first)
            pair.release(counts(tick))
            with pytest.raises(TickTaken):
                late.release(counts(tick))
        assert ticks(one, "site") == ticks(one, "site.ranges") == list(range(6))
        first.close()
        second.close()


def test_a_segment_is_chosen_by_what_readers_asked_in_any_process(tmp_path):
    plan = RangePlan(4096)
    with Store.open(tmp_path / "site.db") as store, opened(store, plan) as pair:
        pair.release(counts(0))
        before = pair._followers[0].mechanism.describe()["title"]
        with Store.open(tmp_path / "site.db") as elsewhere:
            elsewhere.record_query("site", *([1, 2] * 100))
            elsewhere.record_query("site", 10**9)  # longer than the window: a stranger may ask for anything
        pair._followers[0].mechanism._left = 0  # the segment is over
        pair.release(counts(1))
        assert pair._followers[0].mechanism.describe()["title"] != before
        assert pair._followers[0].mechanism.history.lengths[-1] == 4096
        assert pair._followers[0].mechanism.history.lengths[-3:-1] == [1, 2]


def test_a_history_that_cannot_be_read_is_no_reason_to_stop(store, monkeypatch):
    with opened(store) as pair:

        def gone(*_, **__):
            raise StoreUnavailable("gone")

        monkeypatch.setattr(store, "recent_queries", gone)
        assert pair.release(counts(0)).tick.index == 0


def test_a_promise_with_a_delta_is_divided_too(store):
    """Through rho: so both parts are kept in zCDP, and together they lead back to epsilon and delta."""
    whole = Guarantee.approximate(Session(max_ticks=20), 1, "1e-9")
    with opened(store, RangePlan(64), whole) as pair:
        pair.release(counts(0))
        assert pair.guarantee == whole
    parts = store.budget("site").parts
    assert [part.guarantee.kind for part in parts.values()] == ["zcdp", "zcdp"]
    assert sum(part.guarantee.budget for part in parts.values()) == whole.divisible < whole.budget
    assert store.budget("site").spent == whole.divisible / 20


def joined(store, shares=("1/2", "1/4", "1/8")):
    """The first of three streams that get the same counts, and the curators of all."""
    visitors, curators = Grant("visitors", WHOLE), []
    for name, share in zip(("a", "b", "c"), shares, strict=True):
        part = visitors.part(share)
        mechanism = Lpa(KEYS, part.guarantee)
        curators.append((store.curate(name, mechanism, part=part), mechanism))
    return JoinedCurator(curators[0][0], [Follower(*one) for one in curators[1:]])


def test_any_number_of_streams_get_the_same_counts(store):
    with joined(store) as three:
        assert (three.streams, three.guarantee.epsilon) == (("a", "b", "c"), Fraction(7, 8))
        for point, nth in (("debit:begin", 3), ("settle:debit", 2)):
            tick = three.next_tick
            fail_at(point, nth, StoreUnavailable("gone"))
            with pytest.raises(StoreUnavailable):
                three.release(counts(tick))
            faults.install(None)
            assert three.next_tick == tick, "it is not done in all of them"
            release = three.release(counts(tick))
            assert three.next_tick == tick + 1
            assert release.measurements.tolist() == list(store.releases("a"))[-1].measurements.tolist()
        three.predict(Tick(2))
        three.lose(Tick(3))
        assert three.proved
    assert ticks(store, "a") == ticks(store, "b") == ticks(store, "c") == [0, 1, 2, 3]
    assert [store.spending(name).lost for name in "abc"] == [1, 2, 1], "the step that failed after its debit is lost"
    assert store.budget("a").spent == Fraction(7, 8) * 3 / 20


def test_a_grant_is_shared_by_monitors_with_and_without_ranges(store):
    visitors = Grant("visitors", WHOLE, "visitors of example.org")
    with open_curator(store, "site", KEYS, visitors.part("1/2"), Lpa, PLAN) as pair:
        pair.release(counts(0))
        assert pair.guarantee.epsilon == Fraction(1, 2)
        assert pair.streams == ("site", "site.ranges")
    with open_curator(store, "pages", KEYS, visitors.part("1/4"), Lpa) as other:
        other.release(counts(0))
    budget = store.budget("pages")
    assert {name: part.share for name, part in budget.parts.items()} == {
        "site": Fraction(3, 8),
        "site.ranges": Fraction(1, 8),
        "pages": Fraction(1, 4),
    }
    assert (budget.guarantee, budget.free, budget.spent) == (WHOLE, Fraction(1, 4), Fraction(3, 4) / 20)
    assert budget.left == 1 - budget.spent


def test_queries_are_kept_within_bounds(store):
    opened(store).close()
    for _ in range(5):
        store.record_query("site", *range(1, 401))
    kept = store.recent_queries("site")
    assert len(kept) == 1000
    assert kept[-400:] == list(range(1, 401))
    for wrong in ((), (0,), (2**63,)):
        with pytest.raises(InvalidParameter):
            store.record_query("site", *wrong)


def test_zcdp_is_divided_and_kept_as_well(store):
    whole = Guarantee.zcdp(Session(max_ticks=20), "1/2")
    with opened(store, RangePlan(64), whole) as pair:
        pair.release(counts(0))
        assert pair.guarantee == whole
    assert (store.budget("site").currency, store.budget("site").spent) == ("rho", Fraction(1, 40))


@pytest.mark.parametrize(("method", "even"), [("lpa", True), ("navigation", True), ("sample", False), ("ba", False)])
def test_live_measurements_share_in_answers_only_at_even_costs(store, method, even):
    unit = Window(4) if method == "ba" else User(max_ticks=10, horizon=100)

    def make(keys, guarantee):
        return make_mechanism(method, keys, guarantee)

    with open_curator(store, "site", KEYS, Guarantee.pure(unit, 1), make, PLAN) as pair:
        for tick in range(8):
            pair.release(counts(tick))
    ranges = store.ranges_of("site")
    assert ranges.options["even"] is even
    window = PairWindow.of(
        KEYS, 64, store.state(ranges), store.releases(ranges), store.releases("site"), even=even
    )  # fmt: skip
    assert (window.total(0, 7).weight < 1) == even
    assert window.total(0, 7).missing == 0
