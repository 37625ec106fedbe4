"""Range streams against a plain list of what they released, whatever happens in between."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.confidential import Confidential, Counts
from hubbub.privacy import Event, Guarantee, Session
from hubbub.ranges import Fenwick, RangeStream, Toeplitz, Tree
from hubbub.ranges.calibration import Calibration
from hubbub.ranges.strategy import best_shares
from hubbub.released import Keys, Snapshot, Tick

KEYS = Keys(["front", "news"])
WINDOW = 32
STRATEGIES = st.one_of(
    st.integers(1, 6).map(Fenwick),
    st.lists(st.integers(2, 4), min_size=1, max_size=2).map(Tree),
    st.lists(st.integers(2, 4), min_size=1, max_size=2).map(lambda arity: Tree(arity, subtracts=True)),
)
DOINGS = st.lists(
    st.one_of(
        st.tuples(st.just("release"), st.integers(1, 12)),
        st.tuples(st.just("batch"), st.integers(0, 40)),
        st.tuples(st.just("gap"), st.integers(1, 40)),
        st.tuples(st.just("predict"), st.integers(1, 3)),
        st.tuples(st.just("restart"), st.just(0)),
    ),
    max_size=8,
)


@settings(max_examples=150, deadline=None)
@given(strategy=STRATEGIES, doings=DOINGS, ends=st.lists(st.tuples(st.integers(0, 31), st.integers(0, 31)), max_size=6))
def test_every_answer_is_the_sum_of_what_was_released(strategy, doings, ends):
    """`released` is None for a missing tick; `kept` is what a store would hold."""

    def make():
        return RangeStream(KEYS, Guarantee.pure(Event(), 1), window=WINDOW, strategy=strategy)

    stream, released, kept = make(), [], []
    for what, amount in doings:
        if what == "batch":
            table = stream.release_many(Confidential(np.full((amount, 2), 9)))
            for row in table:  # a release a tick, as a store would hold
                kept.append(_as_release(len(released), row))
                released.append(row)
        elif what == "gap":
            released += [None] * amount
            kept.append(stream.predict(Tick(len(released) - 1)))
        elif what == "restart":
            snapshot = Snapshot.from_bytes(stream.snapshot().to_bytes())
            stream = make()
            stream.restore(snapshot)
            stream.recall(kept[-WINDOW:])
        else:
            for _ in range(amount):
                tick = Tick(len(released))
                one = stream.predict(tick) if what == "predict" else stream.release(Counts.of(KEYS, tick, [9, 9]))
                kept.append(one)
                released.append(one.measurements)
    assert stream.next_tick == len(released)
    oldest = stream.window.oldest
    for a, b in ends:
        first, last = len(released) - 1 - max(a, b), len(released) - 1 - min(a, b)
        if first < oldest:
            continue
        part = [row for row in released[first : last + 1] if row is not None]
        answers = stream.totals(first, last)
        for i, key in enumerate(KEYS):
            assert answers[key].value == sum(int(row[i]) for row in part)
            assert answers[key].missing == last - first + 1 - len(part)
            assert (answers[key].standard_error == 0) == (not part)


def _as_release(tick, row):
    from hubbub.released import Release

    values = np.asarray(row, dtype=np.float64)
    return Release(Tick(tick), KEYS, values, values * 0, values * 1, values * 1, row.copy(), 1.0)


@settings(max_examples=100, deadline=None)
@given(strategy=STRATEGIES, a=st.integers(0, 60), lengths=st.tuples(st.integers(0, 60), st.integers(0, 60)))
def test_a_longer_range_is_no_worse_than_its_parts_allow(strategy, a, lengths):
    """sd(x + y) <= sd(x) + sd(y): the standard error of a whole is at most the sum of those of its parts."""
    b, c = a + lengths[0], a + sum(lengths)
    ones = [1.0] * len(strategy.spans)
    whole, left, right = (sum(strategy.uses(*ends)) ** 0.5 for ends in ((a, c), (a, b), (b, c)))
    assert whole <= left + right + 1e-9
    assert strategy.variance(a, c, ones) >= 0
    assert sum(strategy.uses(a, a)) == 0


@settings(max_examples=100, deadline=None)
@given(
    strategy=STRATEGIES,
    max_ticks=st.integers(1, 50),
    max_items=st.integers(1, 5),
    epsilon=st.fractions(Fraction(1, 100), 10),
    weights=st.lists(st.floats(0, 100), min_size=7, max_size=7),
)
def test_no_division_of_the_budget_spends_more_than_there_is(strategy, max_ticks, max_items, epsilon, weights):
    unit = Session(max_ticks=max_ticks, max_items=max_items)
    levels = len(strategy.spans)
    for pure in (True, False):
        divided = strategy.with_shares(best_shares(np.array(weights[:levels]), pure=pure))
        assert sum(divided.shares) <= 1
        if pure:
            scales = Calibration(Guarantee.pure(unit, epsilon)).parameters(divided)
            # A session in every node it can touch, tick by tick.
            assert max_ticks * max_items * sum(1 / scale for scale in scales) <= epsilon
        else:
            variances = Calibration(Guarantee.zcdp(unit, epsilon, allow_weak=True)).parameters(divided)
            squares = [max_items * max_ticks * min(max_ticks, span) for span in divided.spans]
            assert sum(s / (2 * v) for s, v in zip(squares, variances, strict=True)) <= epsilon


@pytest.mark.parametrize("max_ticks", [1, 5, 500])
def test_toeplitz_noise_covers_its_sensitivity(max_ticks):
    toeplitz = Toeplitz(128)
    unit = Session(max_ticks=max_ticks)
    variance = Calibration(Guarantee.zcdp(unit, 1)).parameters(toeplitz)[0] / 4**toeplitz.fraction_bits
    r = toeplitz.coefficients
    ticks = min(max_ticks, 128)
    change = np.convolve(r, np.ones(ticks))[:128]  # the worst placement: in a row, from the start
    assert float((change**2).sum()) / (2 * float(variance)) <= ticks / max_ticks
