"""The black-box audit on range streams that differ in one event and in one session; `test_sharp_audit.py` is sharper.

Error rate: each audit has a confidence of 1 - 1e-8, so an honest mechanism is refused with a chance of at most 1e-8;
fewer than twenty stay below 1e-6. Controls: a stream calibrated for events and promised for sessions of two ticks
(twice the epsilon), and one whose noise was drawn at a third of the scale, must be found out.
"""

import pytest

from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session
from hubbub.privacy.audit import audit, neighbours
from hubbub.ranges import Fenwick, RangeStream, Toeplitz, Tree
from hubbub.ranges.calibration import Calibration
from hubbub.released import Keys

CONFIDENCE = 1 - 1e-8
KEYS = Keys(["front", "news"])
TICKS = 5
RUNS = 1500


def audited(strategy, guarantee, runs, promised=None, tamper=None):
    unit = (promised or guarantee).unit
    pair = neighbours(unit, KEYS, TICKS)
    with simulation(20260103) as source:
        made = RangeStream(KEYS, guarantee, window=64, strategy=strategy, source=source)
        if tamper:
            tamper(made)
        fresh = made.snapshot()

        def make():  # a restored stream begins a new segment with new noise: as good as a new one, and faster
            made.restore(fresh)
            return made

        return audit(make, pair.with_unit, pair.without, runs=runs, confidence=CONFIDENCE, promised=promised)


@pytest.mark.parametrize("strategy", [Fenwick(3), Tree((4,)), Tree((2, 2))], ids=str)
@pytest.mark.parametrize("unit", [Event(), Session(max_ticks=2)], ids=["event", "session"])
def test_trees_keep_their_epsilon(strategy, unit):
    finding = audited(strategy, Guarantee.pure(unit, 1), runs=RUNS)
    assert finding.accepted, finding.verdict


@pytest.mark.parametrize("strategy", [Tree((4,)), Toeplitz(16)], ids=str)
@pytest.mark.parametrize("unit", [Event(), Session(max_ticks=2)], ids=["event", "session"])
def test_strategies_keep_their_rho(strategy, unit):
    finding = audited(strategy, Guarantee.zcdp(unit, "1/2"), runs=RUNS)
    assert finding.accepted, finding.verdict


def test_the_bound_is_not_far_below_the_truth():
    """With no tree the tick of the event carries all of epsilon: the audit must find most of it."""
    assert audited(Fenwick(1), Guarantee.pure(Event(), 1), runs=4000).bound > 0.6


def test_control_events_noise_for_sessions_is_found_out():
    finding = audited(
        Fenwick(1), Guarantee.pure(Event(), 2), runs=4000, promised=Guarantee.pure(Session(max_ticks=2), 2)
    )
    assert not finding.accepted


def test_control_a_third_of_the_noise_is_found_out():
    def tamper(made):
        made._calibration = Calibration(Guarantee.pure(Event(), 3), made._calibration._source)

    finding = audited(Tree((4,)), Guarantee.pure(Event(), 1), runs=4000, tamper=tamper)
    assert not finding.accepted, finding.verdict
