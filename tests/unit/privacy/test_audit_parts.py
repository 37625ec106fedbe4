"""The parts of an audit: bounds against their definition, events that are counted right, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from hubbub.errors import InvalidParameter, TickOutOfOrder
from hubbub.privacy import Event, Guarantee, Session
from hubbub.privacy.audit import audit, neighbours
from hubbub.privacy.audit.bounds import at_least, at_most, epsilon_between, rho_between
from hubbub.privacy.audit.events import Event as Outputs
from hubbub.privacy.audit.events import choose
from hubbub.privacy.audit.features import Recorder, Table, tables
from hubbub.privacy.audit.scores import Score, scores
from hubbub.privacy.promise import NAMED_DELTA
from hubbub.release import Lpa
from hubbub.released import Keys, Tick

KEYS = Keys(["front", "news"])


@pytest.mark.parametrize("hits", [0, 1, 7, 50, 99, 100])
@pytest.mark.parametrize("error", [0.05, 1e-7])
def test_clopper_pearson(hits: int, error: float) -> None:
    low, high = float(at_least(hits, 100, error)), float(at_most(hits, 100, error))
    assert low <= hits / 100 <= high
    # By definition: at the lower end so many hits or more have the chance `error`, at the upper end so few or fewer.
    assert low == 0 if hits == 0 else stats.binom.sf(hits - 1, 100, low) == pytest.approx(error, rel=1e-6)
    assert high == 1 if hits == 100 else stats.binom.cdf(hits, 100, high) == pytest.approx(error, rel=1e-6)


def test_epsilon_of_an_event() -> None:
    assert epsilon_between(0.5, 0.5 / math.e, 0.0) == pytest.approx(1)
    assert epsilon_between(0.5 + 0.01, 0.5 / math.e, 0.01) == pytest.approx(1)
    assert epsilon_between(0.1, 0.5, 0.0) == 0
    assert epsilon_between(0.001, 0.5, 0.01) == 0


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.5, 2.0])
@pytest.mark.parametrize("deviation", [0.5, 1.0, 3.0])
def test_rho_of_an_event_never_exceeds_that_of_the_gaussian(threshold: float, deviation: float) -> None:
    p, q = stats.norm.sf((threshold - 1) / deviation), stats.norm.sf(threshold / deviation)
    found = float(rho_between(p, q))
    assert 0 < found <= 1 / (2 * deviation**2)
    assert rho_between(q, p) == 0
    assert math.isfinite(rho_between(1.0, 0.01))


def test_every_event_is_counted_as_its_words_say() -> None:
    rows = np.array([[1.0], [2.0], [2.0], [np.nan]])
    score = Score("the number", lambda table: table[:, 0])
    for sign, threshold, hits in (("at least", 2, 2), ("at most", 2, 3), ("exactly", 1, 1), ("missing", 0, 1)):
        event = Outputs(score, sign, threshold, likelier_on_first=True)
        assert event.hits(rows) == hits
        assert sign in event.sentence


def test_nothing_to_choose() -> None:
    same = Table(("x",), np.zeros((100, 1)), np.array([True]))
    score = Score("x", lambda table: table[:, 0])
    assert choose([score], same, same, slice(0, 100), 100, 0.01, lambda p, q: epsilon_between(p, q, 0.0)) is None
    missing = Table(("x",), np.full((100, 1), np.nan), np.array([True]))
    event = choose([score], missing, same, slice(0, 100), 100, 0.01, lambda p, q: epsilon_between(p, q, 0.0))
    assert event is not None
    assert event.sign in ("missing", "at most", "at least", "exactly")


def test_learned_scores_find_a_sum_that_no_column_shows() -> None:
    generator = np.random.default_rng(1)
    noise = generator.laplace(0, 4, (8000, 4))
    one, two = (Table(tuple("abcd"), noise[half] + shift, np.ones(4, dtype=bool)) for half, shift in
                ((slice(0, 4000), 1.0), (slice(4000, 8000), 0.0)))  # fmt: skip
    learned = [score for score in scores(one, two, slice(0, 4000)) if "learned" in score.name or "linear" in score.name]
    assert len(learned) == 3
    for score in learned:
        apart = score.of(one.columns).mean() - score.of(two.columns).mean()
        assert apart > 0.1 * score.of(two.columns).std()


def test_refusals_and_gaps_are_outputs() -> None:
    pair = neighbours(Event(), KEYS, ticks=2)
    one, two = Recorder(KEYS, [0, 1], 1), Recorder(KEYS, [0, 1], 1)
    lpa = Lpa(KEYS, Guarantee.pure(Event(), 1))

    def refuse(counts: object) -> None:
        raise TickOutOfOrder("no")

    one.record(0, pair.with_unit[:1], refuse)
    two.record(0, pair.without, lpa.release)
    first, second = tables(one, two)
    status = [name.startswith("what became") for name in first.names]
    assert first.columns[0, status].tolist() == [1, 0]
    assert second.columns[0, status].tolist() == [3, 3]


def test_an_audit_without_any_difference() -> None:
    class Silent:
        guarantee = Guarantee.pure(Event(), 1)

        def __init__(self) -> None:
            self._lpa = Lpa(KEYS, self.guarantee)

        def release(self, counts):
            return self._lpa.predict(Tick(counts.tick.index))

    pair = neighbours(Event(), KEYS, ticks=2)
    finding = audit(Silent, pair.with_unit, pair.without, runs=100)
    assert finding.bound == 0
    assert finding.accepted
    assert "none" in finding.event
    assert finding.to_dict()["accepted"] is True


def test_held_to_another_promise_and_seen_in_progress() -> None:
    pair, seen = neighbours(Event(), KEYS, ticks=2), []
    finding = audit(
        lambda: Lpa(KEYS, Guarantee.pure(Event(), 10)),
        pair.with_unit,
        pair.without,
        runs=300,
        promised=Guarantee.pure(Event(), "0.1"),
        progress=seen.append,
    )
    assert sum(seen) == 300
    assert finding.stated == pytest.approx(0.1)
    assert not finding.accepted
    assert finding.verdict.startswith("BROKEN")


def test_a_promise_that_may_slip_is_held_to_its_epsilon() -> None:
    pair, promised = neighbours(Event(), KEYS, ticks=2), Guarantee.zcdp(Event(), "1/2", delta="1e-6")
    finding = audit(lambda: Lpa(KEYS, promised), pair.with_unit, pair.without, runs=400)
    read = promised.to_approximate(promised.delta + NAMED_DELTA)
    assert (finding.currency, finding.stated, finding.guarantee) == ("epsilon", float(read.epsilon), read)
    assert finding.accepted


@pytest.mark.parametrize("runs", [0, 99, 1.5])
def test_too_few_runs(runs: int) -> None:
    with pytest.raises(InvalidParameter, match="runs"):
        audit(lambda: Lpa(KEYS, Guarantee.pure(Event(), 1)), [], [], runs=runs)


@pytest.mark.parametrize("confidence", [0.0, 1.0, True, "x"])
def test_wrong_confidence(confidence: float) -> None:
    with pytest.raises(InvalidParameter, match="confidence"):
        audit(lambda: Lpa(KEYS, Guarantee.pure(Event(), 1)), [], [], confidence=confidence)


def test_streams_that_are_no_streams() -> None:
    pair, other = neighbours(Event(), KEYS, ticks=2), neighbours(Event(), Keys(["x"]), ticks=2)
    for one, two in (([], pair.without), (pair.without, ()), (pair.with_unit, other.without)):
        with pytest.raises(InvalidParameter, match="same keys"):
            audit(lambda: Lpa(KEYS, Guarantee.pure(Event(), 1)), one, two)


def test_neighbours_differ_by_exactly_one_unit() -> None:
    unit = Session(max_ticks=2, max_items=2)
    pair = neighbours(unit, Keys(["a", "b", "c"]), ticks=4)
    difference = [a.values.reveal() - b.values.reveal() for a, b in zip(pair.with_unit, pair.without, strict=True)]
    assert np.array(difference).tolist() == [[0, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 0]]
    with pytest.raises(InvalidParameter, match="max_ticks"):
        neighbours(unit, KEYS, ticks=1)
    with pytest.raises(InvalidParameter, match="ticks"):
        neighbours(unit, KEYS, ticks=0)
