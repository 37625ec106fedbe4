"""Ranges that cross borders of trees, segments and restarts: the stated variance is the one the program has.

Weights of all noises are read off the running program (`hubbub.checks.read_ranges`), so nothing is drawn.
"""

import numpy as np
import pytest

from hubbub.checks import read_ranges
from hubbub.confidential import Confidential
from hubbub.errors import SchemaMismatch
from hubbub.privacy import Event, Guarantee, Session
from hubbub.ranges import QueryHistory, RangeStream, RangeWindow, Toeplitz, doubt
from hubbub.ranges.calibration import Calibration
from hubbub.ranges.chooser import make_chooser
from hubbub.ranges.old_streams import FAULTY, excess
from hubbub.ranges.segment import segment_ticks
from hubbub.ranges.toeplitz_filter import ToeplitzFilter
from hubbub.released import Keys, Snapshot, Tick

ONE = Keys(["visits"])
RHO = Guarantee.zcdp(Event(), "1/2")


def covariance(response):
    """Of the errors of all prefixes, in counts."""
    variances = np.array([draw.noise.variance for draw in response.draws])
    path = np.vstack([np.zeros(response.noises.shape[1]), response.noises])
    return (path * variances) @ path.T


def spread(table, a, b):
    return table[a, a] + table[b, b] - 2 * table[a, b]


@pytest.mark.parametrize("strategy", [Toeplitz(16), Toeplitz(20), Toeplitz(32, reach=16)], ids=str)
def test_the_stated_variance_of_every_range_is_that_of_the_program(monkeypatch, strategy):
    """Before, with one memory for all trees of a segment, a range across a border had up to 1.83 times what it said."""
    monkeypatch.setattr(Toeplitz, "rounding", lambda *_: 0.0)  # what whole numbers add is tested by drawing
    script = (("ticks", 50), ("batch", 40))
    table = covariance(read_ranges(lambda keys: RangeStream(keys, RHO, window=90, strategy=strategy), script))
    stream = RangeStream(ONE, RHO, window=90, strategy=strategy)
    stream.release_many(Confidential(np.zeros((90, 1), dtype=np.int64)))
    for first in range(0, 90, 3):
        for last in range(first, 90):
            stated = stream.variance(first, last)
            assert spread(table, first, last + 1) == pytest.approx(stated, rel=0.001)


@pytest.mark.parametrize("unit", [Event(), Session(max_ticks=5)], ids=str)
def test_what_auto_predicts_is_what_its_ranges_have(unit):
    """256 questions of 60 ticks on a window of 10,000: over a whole segment, within 2 %."""
    guarantee = Guarantee.zcdp(unit, "1/2")
    calibration = Calibration(guarantee)
    history = QueryHistory(10_000)
    history.restore([60] * 256)
    chosen = make_chooser("auto", 10_000, calibration).choose(history)
    assert isinstance(chosen, Toeplitz)
    predicted = calibration.error(chosen, chosen.mean_uses(np.array([60]))[0])
    assert segment_ticks(chosen.size, 10_000) % chosen.size == 0
    levels = calibration.prepare(chosen).variances
    exact = np.mean([chosen.variance(a, a + 60, levels) for a in range(chosen.size)])
    assert predicted == pytest.approx(exact, rel=0.02)
    # And the same through the program, on a script of several trees and segments.
    ticks = 3 * chosen.size // 2
    if ticks <= 2000:
        make = lambda keys: RangeStream(keys, guarantee, window=10_000, strategy=chosen)  # noqa: E731
        table = covariance(read_ranges(make, (("batch", ticks),)))
        starts = range(chosen.size // 2)
        wanted = np.mean([chosen.variance(chosen.size - 60 + a, chosen.size + a, levels) for a in starts[:60]])
        found = np.mean([spread(table, chosen.size - 60 + a, chosen.size + a) for a in starts[:60]])
        assert found == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize("strategy", [Toeplitz(64), Toeplitz(100), Toeplitz(1024, reach=16)], ids=str)
def test_the_mean_over_places_is_that_of_all_places(strategy):
    lengths = np.array([1, 5, 16, 60, 100, strategy.size, 3 * strategy.size + 7])
    exact = [np.mean([strategy.uses(a, a + n)[0] for a in range(strategy.size)]) for n in lengths.tolist()]
    assert strategy.mean_uses(lengths)[:, 0] == pytest.approx(exact, rel=0.01)


def test_a_short_reach_serves_ranges_of_its_order_better():
    """And so `auto` takes it: at least a fifth less variance than the best tree of a reach as long as itself."""
    calibration = Calibration(RHO)
    for length in (60, 256, 1024):
        history = QueryHistory(32_768)
        history.restore([length] * 256)
        chosen = make_chooser("auto", 32_768, calibration).choose(history)

        def error(strategy, asked=length):
            return calibration.error(strategy, strategy.mean_uses(np.array([asked]))[0])

        assert error(chosen) <= 0.8 * min(error(Toeplitz(2**i)) for i in range(6, 16))


# ── streams that were made before ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("unit", [Event(), Session(max_ticks=20)], ids=str)
def test_how_much_more_old_streams_cost_is_told(monkeypatch, unit):
    monkeypatch.setattr(ToeplitzFilter, "_begin_tree", lambda self: setattr(self, "_left", self._size))
    monkeypatch.setattr(Toeplitz, "square_weights", as_it_was)
    from hubbub.checks import sensitivity_of

    guarantee = Guarantee.zcdp(unit, "1/2")
    make = lambda keys: RangeStream(keys, guarantee, window=10_000, strategy=Toeplitz(64))  # noqa: E731
    found = sensitivity_of(read_ranges(make, (("batch", 320),)), unit).found / 0.5
    monkeypatch.undo()
    told = excess(64, 5, unit.max_ticks)
    assert 0.999 * found <= told <= 1.01 * found
    sentence = doubt("auto", guarantee, 10_000)
    assert sentence.startswith("What was promised as rho = 0.5 may have cost up to ")
    assert float(sentence.split(" up to ")[1].split(" ")[0]) >= found


def as_it_was(self, max_ticks):
    """How noise was calibrated then: inner products of columns that are not cut off at the end of the tree."""
    r, k = self.coefficients, min(max_ticks, self.size)
    g = np.array([float(r[: self.size - m] @ r[m:]) for m in range(k)])
    return (float(g[0] + 2 * ((1 - np.arange(1, k) / k) * g[1:]).sum()) * 1.001,)


def test_where_all_is_well_nothing_is_said():
    assert doubt("auto", Guarantee.pure(Event(), 1), 10_000) == ""
    assert doubt("multi-level", RHO, 10_000) == ""
    assert doubt("auto", RHO, 2000) == ""  # segments of one tree at most
    assert doubt("auto", RHO, 50) == ""
    assert doubt("toeplitz", RHO, 10_000) == ""
    assert doubt("toeplitz", RHO, 48) != ""
    assert doubt("toeplitz", RHO, 8) == ""
    said = doubt("auto", Guarantee.approximate(Session(max_ticks=20), 1, "1e-6"), 8640)
    assert said.startswith("What was promised as epsilon = 1 with delta = 1e-06 may have cost up to epsilon = 1.1")


def old_state(made, *, strategy, measured, nexts):
    facts = dict(made.snapshot().facts)
    segment = {"start": 0, "measured": measured, "strategy": strategy, "variances": [3.0]}
    return Snapshot("ranges", FAULTY, {**facts, "segments": [segment], "next": nexts}, {})


TOEPLITZ, TREE = Toeplitz(64).to_dict(), {"kind": "fenwick", "height": 1, "shares": ["1"]}


@pytest.mark.parametrize(
    ("options", "strategy", "measured", "nexts", "refused"),
    [
        ({"method": "auto"}, TOEPLITZ, 65, 65, True),
        ({"method": "auto"}, TOEPLITZ, 64, 64, False),
        ({"method": "auto"}, TREE, 100, 100, False),
        ({"method": "auto"}, TREE, 100, 20_000, True),  # what is forgotten may have been Toeplitz
        ({"method": "none"}, TREE, 100, 20_000, False),
        ({"method": "none"}, TOEPLITZ, 100, 20_000, True),
        ({"strategy": Toeplitz(64)}, TREE, 100, 20_000, True),
        ({"method": "toeplitz"}, TREE, 100, 20_000, False),
        ({"method": "auto", "window": 2000}, TREE, 100, 20_000, False),  # too short for trees in a row
    ],
)
def test_the_state_of_a_stream_that_may_have_cost_more_is_refused(options, strategy, measured, nexts, refused):
    made = RangeStream(ONE, RHO, **{"window": 10_000, **options})
    state = old_state(made, strategy=strategy, measured=measured, nexts=nexts)
    if refused:
        with pytest.raises(SchemaMismatch, match="more than they were charged for"):
            made.restore(state)
        assert made.next_tick == 0
    else:
        made.restore(state)
        assert made.next_tick == nexts
    pure = RangeStream(ONE, Guarantee.pure(Event(), 1), window=10_000)
    pure.restore(old_state(pure, strategy=TREE, measured=5, nexts=20_000))
    assert pure.predict(Tick(20_000)).tick.index == 20_000


def test_what_an_old_stream_published_is_read_with_its_true_error():
    made = RangeStream(ONE, RHO, window=10_000)
    state = old_state(made, strategy=TOEPLITZ, measured=320, nexts=320)
    window = RangeWindow.of(ONE, 10_000, state, [])
    true = Toeplitz(512, reach=64)
    assert window._segments[0].variance(50, 110) == pytest.approx(true.variance(50, 110, [3.0]))
    assert window._segments[0].variance(50, 110) != pytest.approx(Toeplitz(64).variance(50, 110, [3.0]), rel=0.1)
    short = old_state(made, strategy=TOEPLITZ, measured=60, nexts=60)
    assert RangeWindow.of(ONE, 10_000, short, [])._segments[0].strategy == Toeplitz(64)
