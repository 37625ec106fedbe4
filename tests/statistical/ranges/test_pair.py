"""The answer from both streams: its variance, its bias and its interval, measured; and what both give away together.

Variance and coverage: 20 runs of 20,000 keys, each key with noise of its own, make n = 400,000 independent errors a
range. An error is a sum of independent Laplace noises, whose kurtosis is at most 6, so the mean square has a relative
standard deviation of at most sqrt(5/n) = 0.35 %: 2 % are 5.6 of them (error rate 2e-8 a range). The share of intervals
that cover has a standard deviation of at most 0.035 %: 0.2 % are 5.8 of them (1e-8). A handful of ranges stays below
1e-6. Controls: the variance of one stream alone, and an interval of 1.6 standard errors, must be found wrong.

Audit: each has a confidence of 1 - 1e-8. Control: a live stream from whose budget the share was not subtracted.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session, together
from hubbub.privacy.audit import audit, neighbours
from hubbub.ranges import PairWindow, RangeStream
from hubbub.release import Lpa
from hubbub.released import Keys, Release, Tick

RUNS, MANY, TICKS, LEVEL = 20, 20_000, 40, 7
RANGES = ((5, 5), (3, 12), (0, 39))
CONFIDENCE = 1 - 1e-8


@lru_cache(maxsize=2)
def errors(kind):
    """For each range: the errors of all answers, the stated variance, the variance of ranges alone."""
    keys = Keys([f"k{i}" for i in range(MANY)])
    whole = Guarantee.pure(Session(max_ticks=3), 1) if kind == "pure" else Guarantee.zcdp(Session(max_ticks=3), "1/2")
    live_part, part = whole.part("2/3"), whole.part("1/3")
    table = Counts.of(keys, Tick(0), np.full(MANY, LEVEL)).values.reveal()
    found = {pair: [] for pair in RANGES}
    with simulation(20261116) as source:
        live = Lpa(keys, live_part, source=source)
        ranges = RangeStream(keys, part, window=64, method="two-level", source=source)
        fresh = live.snapshot(), ranges.snapshot()
        for _ in range(RUNS):
            live.restore(fresh[0])
            ranges.restore(fresh[1])
            both = []
            for tick in range(TICKS):
                counts = Counts.of(keys, Tick(tick), table)
                both.append((live.release(counts), ranges.release(counts)))
            window = PairWindow.of(keys, 64, ranges.snapshot(), [r for _, r in both], [r for r, _ in both])
            for first, last in RANGES:
                values, variance, missing, _ = window._combined(first, last, None)
                assert missing == 0
                found[first, last].append(values - LEVEL * (last - first + 1))
                reach = window._interval(1e9, math.sqrt(variance))[1] - 1e9
                stated = variance, window.window.variance(first, last), reach
                found[first, last][-1] = (found[first, last][-1], stated)
    return {
        pair: (np.concatenate([part for part, _ in parts]), parts[0][1])
        for pair, parts in found.items()
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["pure", "zcdp"])
@pytest.mark.parametrize("pair", RANGES, ids=str)
def test_the_stated_variance_is_the_true_one(kind, pair):
    measured, (variance, alone, _) = errors(kind)[pair]
    assert len(measured) == RUNS * MANY
    assert np.mean(measured**2) == pytest.approx(variance, rel=0.02)
    assert abs(np.mean(measured)) <= 5.6 * math.sqrt(variance / len(measured)), "it is unbiased"
    assert np.mean(measured**2) != pytest.approx(alone, rel=0.02), "the control: the tree alone is worse"


@pytest.mark.parametrize("kind", ["pure", "zcdp"])
@pytest.mark.parametrize("pair", RANGES, ids=str)
def test_intervals_cover_as_often_as_they_say(kind, pair):
    measured, (variance, _, reach) = errors(kind)[pair]
    assert np.mean(np.abs(measured) <= reach) >= 0.95 - 0.002
    assert np.mean(np.abs(measured) <= 1.6 * math.sqrt(variance)) < 0.95 - 0.002, "the control"


class Both:
    """Everything that the two streams publish of a tick, as one release: the audit looks for any function of it."""

    def __init__(self, live, ranges, guarantee):
        self.live, self.ranges, self.guarantee = live, ranges, guarantee
        self.fresh = live.snapshot(), ranges.snapshot()

    def anew(self):
        self.live.restore(self.fresh[0])
        self.ranges.restore(self.fresh[1])
        return self

    def release(self, counts):
        one, two = self.live.release(counts), self.ranges.release(counts)
        second, added = two.measurements.astype(float), (one.measurements + two.measurements).astype(float)
        return Release(
            counts.tick, counts.keys, second, np.zeros(len(second)), added, added, one.measurements, 1.0, one.cost
        )


def audited(unit, share, runs, *, subtract=True, kind=Guarantee.pure, budget=1, method="two-level"):
    keys = Keys(["front", "news"])
    whole = kind(unit, budget)
    live_part, part = whole.part(1 - Fraction(share)), whole.part(share)
    with simulation(20261117) as source:
        live = Lpa(keys, live_part if subtract else whole, source=source)
        ranges = RangeStream(keys, part, window=64, method=method, source=source)
        both = Both(live, ranges, whole)
        promised = together(whole.unit, [(live.guarantee, 1), (ranges.guarantee, 1)])
        assert (promised == whole) == subtract
        pair = neighbours(unit, keys, 4)
        return audit(both.anew, pair.with_unit, pair.without, runs=runs, confidence=CONFIDENCE)


@pytest.mark.parametrize("share", ["1/2", "1/4"])
@pytest.mark.parametrize("unit", [Event(), Session(max_ticks=2)], ids=["event", "session"])
def test_both_streams_together_keep_the_whole_epsilon(unit, share):
    finding = audited(unit, share, runs=1500)
    assert finding.accepted, finding.verdict


def test_both_streams_together_keep_rho():
    finding = audited(Session(max_ticks=2), "1/2", runs=1500, kind=Guarantee.zcdp, budget="1/2")
    assert finding.accepted, finding.verdict


def test_the_audit_looks_at_both():
    """With no tree both streams carry their part in the tick of the event: one half alone could not show this much."""
    assert audited(Event(), "1/2", runs=4000, budget=4, method="none").bound > 2.02


def test_control_a_share_that_is_not_subtracted_is_found_out():
    finding = audited(Event(), "7/8", runs=4000, budget=3, subtract=False, method="none")
    assert not finding.accepted, finding.verdict
