"""A range stream: order, charges, gaps, restarts, queries that cannot be answered, and what its snapshot holds."""

import json
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest

from hubbub.confidential import Confidential, Counts
from hubbub.errors import (
    BudgetExceeded,
    ConfidentialLeak,
    GuaranteeChanged,
    HorizonReached,
    InvalidCounts,
    InvalidParameter,
    SchemaMismatch,
    TickOutOfOrder,
    UnknownKey,
)
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.ranges import METHODS, Fenwick, RangeStream, RangeWindow, Toeplitz, Tree
from hubbub.released import Cost, Keys, Release, Snapshot, Tick

KEYS = Keys(["front", "news"])
ONE = Keys(["visits"])
EVENTS = Guarantee.pure(Event(), 1)
RHO = Guarantee.zcdp(Event(), "1/2")


def counts(tick, values=(812, 240), keys=KEYS):
    return Counts.of(keys, Tick(tick), list(values))


def stream(guarantee=EVENTS, keys=KEYS, window=64, **options):
    return RangeStream(keys, guarantee, window=window, **options)


def run(made, ticks, first=0, value=5):
    return [made.release(counts(t, [value] * len(made.keys), made.keys)) for t in range(first, first + ticks)]


@pytest.mark.parametrize("guarantee", [EVENTS, RHO, Guarantee.approximate(Event(), 1, "1e-6")], ids=lambda g: g.kind)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_every_range_as_the_sum_of_its_releases(method, guarantee):
    if method == "toeplitz" and guarantee.kind == "pure":
        with pytest.raises(InvalidParameter, match="Gaussian"):
            stream(guarantee, method=method)
        return
    made = stream(guarantee, method=method)
    released = np.array([release.measurements for release in run(made, 150)])
    for first, last in [(86, 86), (86, 149), (100, 120), (149, 149)]:
        answers = made.totals(first, last)
        assert [answers[key].value for key in KEYS] == released[first : last + 1].sum(axis=0).tolist()
        assert answers["front"].standard_error ** 2 == pytest.approx(made.variance(first, last))
        assert answers["front"].lower <= max(answers["front"].value, 0) <= answers["front"].upper
    assert made.spent == guarantee.budget


def test_one_release_carries_its_cost_variance_and_interval():
    made = stream(Guarantee.pure(Session(max_ticks=20), 1), method="none")
    release = made.release(counts(0))
    assert release.cost == Cost(epsilon=Fraction(1, 20)) == made.cost(Tick(1))
    assert release.noise_variance == pytest.approx(made.variance(0, 0)) == pytest.approx(800, rel=0.01)
    assert (release.lower <= release.values).all()
    assert (release.values <= release.upper).all()


@pytest.mark.parametrize("strategy", [Fenwick(3), Tree((3, 2)), Tree((4,), True)], ids=str)
def test_the_variance_of_a_release_is_that_of_its_range_of_one(strategy):
    made = stream(strategy=strategy)
    for tick in range(140):
        release = made.release(counts(tick))
        assert release.noise_variance == pytest.approx(made.variance(tick, tick))


def test_batch_and_ticks_give_the_same_kind_of_answers():
    table = Confidential(np.full((1000, 2), 5))
    made = stream(method="two-level", window=128)
    run(made, 10)
    released = made.release_many(table)
    assert made.next_tick == 1010
    assert made.total(950, 1000, "news", record=False).value == released[940:991, 1].sum()
    run(made, 3, first=1010)
    one_by_one = stream(method="two-level", window=128)
    run(one_by_one, 1013)
    assert made.variance(900, 1012) == one_by_one.variance(900, 1012)
    assert made.snapshot().to_bytes() == one_by_one.snapshot().to_bytes()
    assert made.release_many(Confidential(np.empty((0, 2), dtype=np.int64))).shape == (0, 2)


@pytest.mark.parametrize(
    "unit", [Event(), Session(max_ticks=3), Window(4), User(max_ticks=3, horizon=500), Session(max_ticks=300)]
)
def test_a_batch_is_charged_as_its_ticks_would_be(unit):
    guarantee = Guarantee.pure(unit, 1)
    one, other = (stream(guarantee, method="none") for _ in range(2))
    for made in (one, other):
        run(made, 5)
    one.release_many(Confidential(np.full((200, 2), 5)))
    run(other, 200, first=5)
    assert one.snapshot().facts["account"] == other.snapshot().facts["account"]
    assert one.spent == other.spent


def test_a_batch_beyond_the_horizon_is_refused_as_a_whole():
    made = stream(Guarantee.pure(User(horizon=50), 1), method="none")
    with pytest.raises(HorizonReached):
        made.release_many(Confidential(np.full((51, 2), 5)))
    assert made.spent == 0
    assert made.next_tick == 0
    made.release_many(Confidential(np.full((50, 2), 5)))
    with pytest.raises(HorizonReached):
        made.release(counts(50))


@pytest.mark.parametrize(
    "table",
    [np.full((3, 1), 5), np.full(3, 5), np.full((3, 2), 0.5), np.full((3, 2), -1), [[1, 2]]],
    ids=["keys", "flat", "fractions", "negative", "list"],
)
def test_tables_that_cannot_be_are_refused(table):
    made = stream()
    with pytest.raises(InvalidCounts):
        made.release_many(Confidential(table))
    assert made.spent == 0


@pytest.mark.parametrize("method", ["none", "two-level", "toeplitz"])
@pytest.mark.parametrize("above", [1, 2**20])
def test_a_count_above_the_limit_is_cut_and_tells_nothing(method, above):
    """A refusal, and nothing else, would tell two neighbours apart: 2^24 and 2^24 + 1."""
    for keys in (ONE, KEYS, Keys([f"key {i}" for i in range(9)])):
        told = []
        for count in (2**24, 2**24 + above):
            with simulation(7) as source:
                made = stream(RHO, keys, method=method, source=source)
                row = [count] + [3] * (len(keys) - 1)
                assert made.check(counts(0, row, keys)) == made.cost(Tick(0))
                first = made.release(counts(0, row, keys))
                table = made.release_many(Confidential(np.array([row] * 70, dtype=np.uint64)))
                told.append((first.measurements.tolist(), table.tolist(), made.spent))
        assert told[0] == told[1]


def test_under_a_pure_guarantee_the_limit_is_the_windows():
    made = stream(window=4096)
    assert made.largest_count == 2**50
    assert abs(made.release(counts(0, [2**52, 0])).measurements[0] - 2**50) < 2**20
    assert made.spent == 1


def test_large_counts_are_answered_exactly():
    made = stream(method="none", keys=ONE, window=1024)
    made.release_many(Confidential(np.full((5000, 1), 2**52)))  # the sum of all is above 2^64
    for first in (3977, 4097, 4500, 4999):
        assert abs(made.total(first, 4999, record=False).value - (5000 - first) * 2**52) <= 2**12  # of a float's 2^62
    assert abs(int(made.window.sums(4000, 4999)[0]) - 1000 * 2**52) < 1000


# ── ranges that cannot be answered ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        (5, 4, "reversed"),
        (90, 100, "not been released yet"),
        (200, 300, "not been released yet"),
        (35, 99, "before the window"),
        (-1, 50, "before the window"),
        (40.5, 50, "tick's number"),
        (40, True, "tick's number"),
        ("40", 50, "tick's number"),
    ],
)
def test_ranges_outside_the_window_reversed_or_in_the_future(first, last, why):
    made = stream()
    run(made, 100)
    with pytest.raises(InvalidParameter, match=why):
        made.total(first, last, "news")
    assert len(made.history) == 0, "what cannot be answered says nothing about queries to come"
    assert made.total(36, 99, "news").last == 99


def test_a_key_must_be_named_where_there_are_several():
    made = stream()
    run(made, 3)
    with pytest.raises(InvalidParameter, match="more than one"):
        made.total(0, 2)
    with pytest.raises(UnknownKey):
        made.total(0, 2, "sports")
    single = stream(keys=ONE)
    run(single, 3)
    assert single.total(0, 2).key == "visits"


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": Fenwick(8)},
        {"strategy": Tree((32, 32))},
        {"window": 1, "method": "two-level"},
        {"window": 8, "method": "toeplitz", "guarantee": RHO},
        {"window": 0},
        {"window": 2**31},
        {"window": 2**28},
        {"method": "magic"},
        {"forecast": "oracle"},
        {"remembered": 0},
    ],
)
def test_streams_that_cannot_be(options):
    with pytest.raises(InvalidParameter):
        stream(**options)


def test_noise_that_64_bits_cannot_hold_is_refused_before_anything_is_spent():
    with pytest.raises(InvalidParameter, match="64 bits"):
        stream(Guarantee.pure(Event(), "1e-9"), window=2**18, strategy=Tree((64, 64, 64)))


# ── order, gaps, charges ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_tick_is_released_once_and_not_from_the_far_future():
    made = stream()
    made.release(counts(4))
    for tick in (4, 3):
        with pytest.raises(TickOutOfOrder, match="released already"):
            made.release(counts(tick))
        with pytest.raises(TickOutOfOrder):
            made.predict(Tick(tick))
    with pytest.raises(TickOutOfOrder, match="ahead"):
        made.release(counts(2_000_000))
    with pytest.raises(UnknownKey, match="other keys"):
        made.release(counts(5, [1], Keys(["sports"])))
    assert made.next_tick == 5


@pytest.mark.parametrize("gap", [1, 7, 63, 64, 65, 500])
@pytest.mark.parametrize("how", ["skip", "predict"])
def test_gaps_are_counted_and_cost_nothing(gap, how):
    made = stream(method="two-level")
    before = run(made, 10)
    if how == "predict":
        for tick in range(10, 10 + gap):
            assert made.predict(Tick(tick)).is_predicted
    after = run(made, 10, first=10 + gap)
    first = max(0, 20 + gap - 64)
    answer = made.total(first, 19 + gap, "news")
    measured = [r.measurements[1] for r in before + after if r.tick.index >= first]
    assert answer.value == sum(measured)
    assert answer.missing == 20 + gap - first - len(measured)
    assert "not measured" in str(answer)
    unbroken = stream(method="two-level")
    run(unbroken, 20)
    if first == 0:
        assert made.variance(0, 19 + gap) == pytest.approx(unbroken.variance(0, 19))
    if first <= 10:
        empty = made.total(10, 9 + gap, "news")
        assert (empty.value, empty.standard_error, empty.missing) == (0, 0, gap)


def test_a_stream_that_begins_with_a_gap():
    made = stream()
    made.predict(Tick(2))
    assert made.total(0, 2, "news").missing == 3
    run(made, 2, first=3)
    assert made.total(0, 4, "news").missing == 3
    assert made.total(0, 1, "news").standard_error == 0


def test_a_lost_tick_stays_charged():
    made = stream(Guarantee.pure(Session(max_ticks=20), 1))
    lost = made.predict(Tick(0), lost=Cost(epsilon=Fraction(1, 20)))
    assert lost.is_predicted
    assert made.spent == Fraction(1, 20)
    with pytest.raises(BudgetExceeded):
        made.predict(Tick(1), lost=Cost(epsilon=Fraction(2)))
    assert made.next_tick == 1


# ── restart ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("guarantee", [EVENTS, RHO], ids=["pure", "zcdp"])
@pytest.mark.parametrize("method", ["auto", "rtp", "two-level", "toeplitz"])
def test_a_snapshot_is_the_same_whatever_the_counts_and_the_noise(method, guarantee):
    if method == "toeplitz" and guarantee.kind == "pure":
        return
    taken = set()
    for seed in (1, 2):
        with simulation(seed) as source:
            made = stream(guarantee, method=method, source=source)
            for tick in range(37):
                made.release(counts(tick, [100 * seed + tick, seed]))
            taken.add(made.snapshot().to_bytes())
    assert len(taken) == 1, "noise or counts have found a way into the snapshot"


def test_an_open_segment_cannot_be_pickled():
    made = stream()
    run(made, 3)
    with pytest.raises(ConfidentialLeak, match="open segment"):
        pickle.dumps(made)


def test_a_forked_child_does_not_go_on_with_its_parents_noise():
    """With one noise on two streams of counts, the difference of what is published is the difference of the counts."""
    keys = Keys([f"key {i}" for i in range(40)])
    made = stream(keys=keys, method="two-level")
    made.release(counts(0, [5] * 40, keys))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, np.array(made.release(counts(1, [5] * 40, keys)).measurements).tobytes())
        finally:
            os._exit(0)  # whatever happens, the child runs no other test
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read, "rb") as sent:
        theirs = np.frombuffer(sent.read(), dtype=np.int64)
    ours = made.release(counts(1, [5] * 40, keys)).measurements
    assert (ours != theirs).any()  # 40 equal draws by chance: less than 1e-20
    assert len(made.window._segments) == 1, "the parent goes on"


def test_what_the_walk_holds_is_secret_and_would_have_shown():
    """The control of the test above: a snapshot that held the noise would differ."""
    held = set()
    for seed in (1, 2):
        with simulation(seed) as source:
            made = stream(method="two-level", source=source)
            run(made, 3)
            held.add(made._walk._block.tobytes())
    assert len(held) == 2


@pytest.mark.parametrize("method", ["rtp", "two-level", "auto"])
def test_a_restart_in_mid_segment_begins_another_and_answers_ranges_across_it(method):
    made = stream(method=method)
    releases = run(made, 37)
    made.total(10, 20, "news")
    snapshot = Snapshot.from_bytes(made.snapshot().to_bytes())
    again = stream(method=method)
    again.restore(snapshot)
    assert again.spent == made.spent
    assert again.history.lengths == [11]
    with pytest.raises(InvalidParameter, match="recall"):
        again.total(10, 20, "news")
    again.recall(releases)
    assert again.total(10, 20, "news").value == made.total(10, 20, "news").value
    assert again.variance(10, 36) == pytest.approx(made.variance(10, 36))
    more = run(again, 10, first=37)
    across = again.total(30, 46, "news")
    assert across.value == sum(int(r.measurements[1]) for r in [*releases[30:], *more])
    # Two parts with independent noise: the end of the old segment, and the new one from its start.
    assert across.standard_error**2 == pytest.approx(made.variance(30, 36) + again.variance(37, 46))
    with pytest.raises(TickOutOfOrder):
        again.release(counts(36))


def test_restored_twins_with_the_same_bytes_have_the_same_future():
    made = stream()
    run(made, 20)
    futures = []
    for _ in range(2):
        with simulation(3) as source:
            twin = stream(source=source)
            twin.restore(made.snapshot())
            futures.append([r.measurements.tolist() for r in run(twin, 30, first=20)])
    assert futures[0] == futures[1]


def test_a_recall_may_begin_anywhere_and_hold_gaps():
    made = stream(method="rtp")
    releases = [*run(made, 20), made.predict(Tick(20)), *run(made, 10, first=22)]
    again = stream(method="rtp")
    again.restore(made.snapshot())
    again.recall(releases[13:])
    for first, last in [(13, 31), (19, 25), (20, 21), (22, 22)]:
        assert again.total(first, last, "news") == made.total(first, last, "news")
    with pytest.raises(InvalidParameter, match="before the window"):
        again.total(12, 20, "news")
    again.recall([])
    for wrong in (releases[:-1], releases[::-1]):
        with pytest.raises(InvalidParameter, match="tick by tick"):
            again.recall(wrong)


def test_a_recall_of_more_ticks_than_the_window_holds():
    made = stream(method="rtp")
    releases = [*run(made, 20), made.predict(Tick(79)), *run(made, 10, first=80)]
    again = stream(method="rtp")
    again.restore(made.snapshot())
    again.recall(releases)
    assert again.window.oldest == made.window.oldest == 26
    for first, last in [(26, 89), (26, 79), (70, 85), (85, 89)]:
        assert again.total(first, last, "news") == made.total(first, last, "news")


def test_a_window_alone_answers_from_what_a_store_holds():
    made = stream(method="two-level")
    releases = run(made, 100)
    alone = RangeWindow.of(KEYS, 64, made.snapshot(), releases)
    assert alone.total(40, 99, "news") == made.total(40, 99, "news")
    assert alone.next_tick == 100
    assert alone.describe()["title"] == made.describe()["title"]


def test_a_snapshot_of_something_else_is_refused():
    made = stream()
    with pytest.raises(SchemaMismatch):
        made.restore(Snapshot("lpa", 1))
    with pytest.raises(SchemaMismatch, match="other keys"):
        made.restore(stream(keys=ONE).snapshot())
    with pytest.raises(GuaranteeChanged):
        made.restore(stream(Guarantee.pure(Event(), 2)).snapshot())
    with pytest.raises(InvalidParameter, match="same window"):
        made.restore(stream(window=128).snapshot())


def test_memory_of_the_window_is_bounded():
    made = stream(method="none", window=64)
    made.release_many(Confidential(np.full((100_000, 2), 5)))
    assert len(made.window._segments) <= 3
    assert len(made.snapshot().to_bytes()) < 3000


def test_what_pages_need_is_plain_data():
    made = stream()
    assert made.describe()["title"] == "no tree yet"
    assert made.memory() == 0
    run(made, 70)
    made.total(10, 20, "news")
    facts = json.loads(json.dumps(made.describe()))
    assert facts["lengths"] == [11]
    assert facts["segments"][0]["start"] == 0
    assert [level["span"] for level in facts["levels"]] == list(made.window._segments[-1].strategy.spans)
    assert json.loads(json.dumps(made.total(10, 20, "news").to_dict()))["first"] == 10
    assert made.memory() > 0


def test_nothing_confidential_in_errors():
    made = stream()
    with pytest.raises(InvalidCounts) as caught:
        made.release_many(Confidential(np.array([[123456789, -987654321]])))
    assert "987654321" not in str(caught.value)
    assert isinstance(made.release(counts(0)), Release)
    assert Toeplitz(64).title
