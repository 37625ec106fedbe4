"""Answers from two streams against plain lists of what both released, whatever happened in between."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.confidential import Counts
from hubbub.privacy import Event, Guarantee
from hubbub.ranges import PairWindow, RangeStream, Tree
from hubbub.release import Lpa
from hubbub.released import Keys, Snapshot, Tick

KEYS = Keys(["front", "news", "sports"])
WINDOW = 24
DOINGS = st.lists(
    st.tuples(
        st.sampled_from(["both", "both", "both", "live", "ranges", "neither", "gap", "restart"]), st.integers(1, 9)
    ),
    min_size=1,
    max_size=12,
)


class Streams:
    """A live stream and its ranges, with what a store would hold of them."""

    def __init__(self):
        self.live = Lpa(KEYS, Guarantee.pure(Event(), 1))
        self.ranges = self.make()
        self.kept_live, self.kept_ranges = {}, {}
        self.next = 0

    def make(self):
        return RangeStream(KEYS, Guarantee.pure(Event(), 2), window=WINDOW, strategy=Tree((3, 2)))

    def do(self, what, amount):
        if what == "restart":
            snapshot = Snapshot.from_bytes(self.ranges.snapshot().to_bytes())
            self.ranges = self.make()
            self.ranges.restore(snapshot)
            return
        for _ in range(amount):
            tick = Tick(self.next)
            self.next += 1
            if what == "gap":
                continue
            counts = Counts.of(KEYS, tick, [40, 7, 0])
            measured = what in ("both", "live")
            self.kept_live[tick.index] = self.live.release(counts) if measured else self.live.predict(tick)
            if what in ("both", "ranges"):
                self.kept_ranges[tick.index] = self.ranges.release(counts)
            elif what == "neither":
                self.kept_ranges[tick.index] = self.ranges.predict(tick)

    def since(self, first):
        end = self.ranges.next_tick
        return [
            [release for tick, release in sorted(kept.items()) if first <= tick < end]
            for kept in (self.kept_ranges, self.kept_live)
        ]

    def window(self):
        ranges, live = self.since(max(0, self.ranges.next_tick - WINDOW))
        return PairWindow.of(KEYS, WINDOW, self.ranges.snapshot(), ranges, live)


def expected(streams, window, first, last, at):
    """Value, variance and missing ticks from the definition."""
    ours = [t for t in range(first, last + 1) if _measured(streams.kept_ranges, t)]
    live = [t for t in range(first, last + 1) if _measured(streams.kept_live, t)]
    extra = sorted(set(live) - set(ours))

    def added(kept, ticks):
        return sum(int(kept[t].measurements[i]) for t in ticks for i in at)

    value, variance = added(streams.kept_ranges, ours), len(at) * window.window.variance(first, last)
    both = [t for t in live if t in set(ours)]
    other, beside = added(streams.kept_live, both), sum(streams.kept_live[t].noise_variance for t in both) * len(at)
    if set(ours) <= set(live) and variance + beside > 0:
        value, variance = (
            (value * beside + other * variance) / (variance + beside),
            variance * beside / (variance + beside),
        )
    value += added(streams.kept_live, extra)
    variance += sum(streams.kept_live[t].noise_variance for t in extra) * len(at)
    return value, variance, last - first + 1 - len(set(ours) | set(live))


def _measured(kept, tick):
    return tick in kept and kept[tick].measurements is not None


@settings(max_examples=120, deadline=None)
@given(
    doings=DOINGS, cut=st.integers(0, 11), ends=st.lists(st.tuples(st.integers(0, 23), st.integers(0, 23)), max_size=5)
)
def test_every_answer_is_the_best_mean_of_what_both_released(doings, cut, ends):
    streams = Streams()
    for what, amount in doings[:cut]:
        streams.do(what, amount)
    grown = streams.window()
    for what, amount in doings[cut:]:
        streams.do(what, amount)
        ranges, live = streams.since(grown.next_tick)
        grown.extend(streams.ranges.snapshot(), ranges, live)
    afresh = streams.window()
    assert grown.next_tick == afresh.next_tick == streams.ranges.next_tick
    end = streams.ranges.next_tick - 1
    for a, b in ends:
        first, last = end - max(a, b), end - min(a, b)
        if first < max(grown.window.oldest, afresh.window.oldest):
            continue
        for positions in (None, [1], [2, 0]):
            at = positions if positions is not None else range(3)
            value, variance, missing = expected(streams, grown, first, last, at)
            for window in (grown, afresh):
                answer = window.total(first, last, positions)
                assert answer.value == pytest.approx(value, abs=1e-6)
                assert answer.standard_error**2 == pytest.approx(variance, rel=1e-9, abs=1e-9)
                assert answer.missing == missing
                assert 0 <= answer.lower <= max(answer.value, 0) <= answer.upper
                each = window.each(first, last, positions)
                assert sum(one.value for one in each) == pytest.approx(value, abs=1e-6)
                assert all(one.standard_error**2 == pytest.approx(variance / len(each)) for one in each)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 20), st.integers(0, 20), st.fractions(Fraction(1, 10), 3))
def test_never_worse_than_either_alone(length, start, epsilon):
    keys = Keys(["front"])
    live, ranges = Lpa(keys, Guarantee.pure(Event(), epsilon)), RangeStream(keys, Guarantee.pure(Event(), 1), window=64)
    both = [(live.release(c), ranges.release(c)) for c in (Counts.of(keys, Tick(t), [9]) for t in range(41))]
    window = PairWindow.of(keys, 64, ranges.snapshot(), [r for _, r in both], [r for r, _ in both])
    answer = window.total(start, start + length - 1)
    alone = ranges.variance(start, start + length - 1), length * both[0][0].noise_variance
    assert answer.standard_error**2 <= min(alone) * (1 + 1e-12)
    assert answer.standard_error**2 == pytest.approx(1 / (1 / alone[0] + 1 / alone[1]))
    assert math.isclose(answer.weight, alone[1] / sum(alone))
