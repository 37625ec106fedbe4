"""Ticks close by the clock, and what a session adds never depends on anybody else: late events, slow reading, restarts.

Streams are drawn at random and played through `Cutter`, `Resume` and `Collector` as a pipeline plays them, with a
clock that is set by hand. Then one session is taken out and everything is played again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from tests.support.listed import Listed

from hubbub.collect import Collector, Cutter, Filters, Live, Resume
from hubbub.collect.resume import start_at_the_end
from hubbub.confidential import Cut
from hubbub.privacy.unit import Event, Session, Unit, User, Window

START = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = ["/a", "/b"]
TICK, LATENESS, AHEAD = 10, 15, 20
SPAN = 300  # seconds of events
LONG = timedelta(seconds=400)  # a timeout that no pause in a stream is as long as
END = SPAN + 900.0  # when every session is over


@dataclass
class Plan:
    """What happens when: the same for neighbours."""

    looks: list[float]  # when the clock is looked at
    reads: list[tuple[float, float]]  # when something is read, and how far behind the present that stays, in seconds
    restarts: list[tuple[float, bool]]  # when the process dies and comes back, and whether the source proves its past


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


def draw(rng: np.random.Generator, people: int) -> list[tuple[float, float, str, str]]:
    """(arrives, happened, who, where), by arrival; some come late, some claim to come from the future."""
    count = int(rng.integers(5, 60))
    arrives = np.sort(rng.uniform(0, SPAN, count))
    delay = np.where(rng.random(count) < 0.3, rng.uniform(-40, 60, count), rng.uniform(0, 3, count))
    rows = []
    for at, late in zip(arrives, delay, strict=True):
        rows.append((float(at), float(max(at - late, 0)), f"p{rng.integers(people)}", str(rng.choice(KEYS))))
    return rows


def plan(rng: np.random.Generator) -> Plan:
    looks = [*rng.uniform(0, SPAN + 100, int(rng.integers(20, 120))).tolist(), END]
    behind = float(rng.choice([0, 5, 50]))
    reads = [(float(t), behind) for t in rng.uniform(0, SPAN + 100, int(rng.integers(5, 60)))]
    restarts = [(float(t), bool(rng.random() < 0.7)) for t in rng.uniform(5, SPAN, int(rng.integers(0, 4)))]
    return Plan(looks, reads, restarts)


class Player:
    """One stream through all its lives."""

    collectors = Collector

    def __init__(self, rows, unit: Unit, stay, plan: Plan):
        self.rows, self.unit, self.stay, self.plan = rows, unit, stay, plan
        self.clock = Clock()
        self.arrived: list[dict] = []
        self.cuts: list[Cut] = []  # the durable ones that are still needed
        self.ever: list[Cut] = []
        self.given: dict[int, np.ndarray] = {}
        self.doubts: dict[int, str] = {}

    def collector(self, resume=None):
        time = Live(timedelta(seconds=LATENESS), timedelta(seconds=AHEAD), START)
        return self.collectors(
            KEYS, self.unit, timedelta(seconds=TICK), time, stay=self.stay, filters=Filters.none(), clock=self.clock,
            resume=resume,
        )  # fmt: skip

    def open(self, proves: bool):
        self.source = Listed(self.arrived, proves=proves)
        fresh = self.collector()
        tick = max(self.given, default=-1)
        if not self.cuts:
            self.cuts = [start_at_the_end(self.source, -1, self.clock)]
            self.engine, self.again = fresh, []
        else:
            resume = Resume.of(self.cuts, tick, fresh.calendar.start, fresh.needed_from(tick), self.source, self.clock)
            self.engine, self.again = self.collector(resume), list(resume.again)
            self.cuts = [resume.cut, *resume.again]
        self.cutter = Cutter(
            self.source, fresh.calendar, timedelta(seconds=LATENESS), self.clock, self.cuts[-1], keep=self.keep
        )

    def keep(self, cut: Cut) -> Cut:
        self.cuts.append(cut)
        self.ever.append(cut)
        return cut

    def read(self, behind: float):
        """All that arrived until `behind` seconds ago, on the right side of every cut; ticks come out as they close."""
        moment = self.clock() - timedelta(seconds=behind)
        upto = sum(START + timedelta(seconds=row[0]) <= moment for row in self.rows)
        while True:
            until, cut = (self.again[0].frontier, self.again[0]) if self.again else self.cutter.goal()
            if cut is not None and cut.time > moment:
                return  # how far reading is behind is a time here, the same for neighbours
            self.source.at_once = max(upto - self.source.at, 0)
            batch = self.source.poll(until)
            self.engine.add(batch)
            if not batch.reached:
                return
            if cut is None:
                return
            if self.again:
                self.again.pop(0)
            else:
                self.cutter.reached()
            for ended in self.engine.cut(cut):
                self.take(ended)

    def take(self, ended):
        index = ended.counts.tick.index
        assert index not in self.given, "a tick was given out twice"
        self.given[index] = self.vector(ended.counts)
        self.doubts[index] = ended.doubt

    def vector(self, counts):
        return counts.values.reveal()

    def play(self):
        self.open(True)
        happenings = [(t, 0, None) for t in self.plan.looks]
        happenings += [(t, 1, n) for t, n in self.plan.reads]
        happenings += [(t, 2, proves) for t, proves in self.plan.restarts]
        at = 0
        for moment, kind, what in sorted(happenings, key=lambda h: h[0]):
            self.clock.now = START + timedelta(seconds=moment)
            while at < len(self.rows) and self.rows[at][0] <= moment:
                _, happened, who, where = self.rows[at]
                when = START + timedelta(seconds=happened)
                self.arrived.append({"time": when, "person": who, "path": where})
                at += 1
            if kind == 0:
                self.cutter.look()
            elif kind == 1:
                self.read(what)
            else:
                self.open(what)
        self.read(0)
        last = max(self.given)
        assert sorted(self.given) == list(range(last + 1)), "every tick comes out, in order"
        return np.array([self.given[i] for i in range(last + 1)]), [self.doubts[i] for i in range(last + 1)]


UNITS = [
    (Session(3, LONG), True),
    (Session(3, LONG), False),
    (Session(4, LONG), timedelta(seconds=25)),
    (Session(2, LONG, 2), timedelta(seconds=25)),
    (Window(2), False),
    (User(100_000, 100_000), False),
]


def changes(unit, stay, rng, people=5, player=Player):
    rows, what = draw(rng, people), plan(rng)
    who = rows[int(rng.integers(len(rows)))][2]
    full, doubts = player(rows, unit, stay, what).play()
    less, less_doubts = player([row for row in rows if row[2] != who], unit, stay, what).play()
    assert doubts == less_doubts, "what is measured and what is predicted does not depend on anybody"
    return full - less


@pytest.mark.parametrize(("unit", "stay"), UNITS)
def test_one_person_changes_no_more_than_the_bound_through_late_events_slow_reading_and_restarts(unit, stay):
    """A timeout longer than the stream: everything that one person does is one session."""
    for seed in range(40):
        change = changes(unit, stay, np.random.default_rng([seed, 1]))
        assert np.abs(change).sum(axis=1).max(initial=0) <= unit.max_items, seed
        if isinstance(unit, Session):
            assert (np.abs(change).sum(axis=1) > 0).sum() <= unit.max_ticks, seed


class ForgetsItsCuts(Player):
    """As it was: what was late is judged anew after a restart."""

    def open(self, proves):
        super().open(proves)
        if self.again:
            self.again, self.cuts = [], self.cuts[:1]
            calendar = self.engine.calendar
            lateness = timedelta(seconds=LATENESS)
            self.cutter = Cutter(self.source, calendar, lateness, self.clock, self.cuts[0], keep=self.keep)


class TrustsEverybody(Collector):
    """As it was: a source that lost its past is believed."""

    def _go_on(self, resume):
        super()._go_on(replace(resume, since=None))


class ClosesWhenItHasRead(Player):
    """As it was: a tick closes when nothing is left to read, so that one person's records keep it open for others."""

    def read(self, behind):
        if behind == 0 or sum(START + timedelta(seconds=row[0]) <= self.clock() for row in self.rows) % 3 == 0:
            self.cutter.look()
        goal, self.cutter._look = self.cutter._look, lambda: None
        super().read(behind)
        self.cutter._look = goal

    def play(self):
        self.plan = replace(self.plan, looks=[END])
        return super().play()


@pytest.mark.parametrize(
    "fault",
    [
        type("Trusts", (Player,), {"collectors": TrustsEverybody}),
        ClosesWhenItHasRead,
    ],
)
def test_the_old_faults_are_found(fault):
    """The control: each of these broke the promise, and must be seen within as many streams as are looked at above."""
    unit, seen = Session(3, LONG), False
    for seed in range(40):
        try:
            change = np.abs(changes(unit, False, np.random.default_rng([seed, 1]), player=fault)).sum(axis=1)
        except (AssertionError, ValueError):
            seen = True  # neighbours do not even have the same ticks
            break
        if change.max(initial=0) > 1 or (change > 0).sum() > unit.max_ticks:
            seen = True
            break
    assert seen


def session_of(rows, cuts, chosen, timeout):
    """The places of all events of the session that holds `chosen`, by the definition: accepted events of one person
    without a gap longer than the timeout. None if `chosen` is in nobody's session."""

    def accepted(place):
        closed = max((cut.tick for cut in cuts if int(cut.frontier["at"]) <= place), default=-1)
        seen = min((cut.time for cut in cuts if int(cut.frontier["at"]) > place), default=None)
        happened = START + timedelta(seconds=rows[place][1])
        if seen is None or happened > seen + timedelta(seconds=AHEAD):
            return False
        return rows[place][1] // TICK > closed

    if not accepted(chosen):
        return None
    mine = sorted((row[1], i) for i, row in enumerate(rows) if row[2] == rows[chosen][2] and accepted(i))
    runs, run = [], [mine[0]]
    for before, row in pairwise(mine):
        if row[0] - before[0] > timeout:
            runs.append(run)
            run = []
        run.append(row)
    runs.append(run)
    return next([i for _, i in run] for run in runs if chosen in [i for _, i in run])


@pytest.mark.parametrize("stay", [True, False, timedelta(seconds=20)])
def test_one_session_of_a_person_with_several_changes_no_more_than_the_bound(stay):
    """Late events are in nobody's session: taking out the others must not join two sessions that were counted apart."""
    unit, found = Session(2, timedelta(seconds=25)), 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 6])
        rows, what = draw(rng, 2), plan(rng)
        player = Player(rows, unit, stay, what)
        full, _ = player.play()
        gone = session_of(rows, player.ever, int(rng.integers(len(rows))), 25)
        if gone is None:
            continue
        found += 1
        rest = [row for i, row in enumerate(rows) if i not in gone]
        less, _ = Player(rest, unit, stay, what).play()
        change = np.abs(full - less).sum(axis=1)
        assert change.max(initial=0) <= 1, seed
        assert (change > 0).sum() <= unit.max_ticks, seed
    assert found > 20


def test_a_restart_does_not_join_sessions_that_were_counted_apart():
    """An event of 45 s arrives at 80 s, too late. Let in after a restart it would close the gap between two visits."""
    first = [(1.0, 1.0, "v", "/a"), (11.0, 11.0, "v", "/a"), (21.0, 21.0, "v", "/a")]
    rest = [(68.0, 68.0, "v", "/a"), (78.0, 78.0, "v", "/a"), (80.0, 45.0, "v", "/a")]
    looks = [*map(float, range(200)), END]
    what = Plan(looks, [(t, 0.0) for t in looks], [(82.5, True)])
    unit = Session(2, timedelta(seconds=25))
    changed = {}
    for player in (Player, ForgetsItsCuts):
        full, less = (player(rows, unit, False, what).play()[0] for rows in (first + rest, rest))
        changed[player] = (np.abs(full - less).sum(axis=1) > 0).sum()
    assert changed == {Player: 2, ForgetsItsCuts: 3}, "the second one is the control: it is how it was"


def test_one_event_changes_one_count():
    for seed in range(40):
        rng = np.random.default_rng([seed, 2])
        rows, what = draw(rng, 3), plan(rng)
        gone = int(rng.integers(len(rows)))
        full, _ = Player(rows, Event(), False, what).play()
        less, _ = Player(rows[:gone] + rows[gone + 1 :], Event(), False, what).play()
        assert np.abs(full - less).sum() <= 1, seed


def test_how_fast_records_are_read_changes_nothing():
    for seed in range(30):
        rng = np.random.default_rng([seed, 3])
        rows, what = draw(rng, 5), plan(rng)
        unit = Session(3, timedelta(seconds=40))
        moments = [*what.looks, *(t for t, _ in what.reads)]  # whoever reads looks at the clock as well
        slow, _ = Player(rows, unit, timedelta(seconds=25), Plan(moments, what.reads, [])).play()
        quick, _ = Player(rows, unit, timedelta(seconds=25), Plan(moments, [(t, 0.0) for t in moments], [])).play()
        assert (slow == quick).all(), seed


def test_a_restart_that_proves_its_past_changes_nothing_for_those_who_stay():
    """With `stay=True` a session that is not known again had used up its bound: the restart is exact."""
    for seed in range(40):
        rng = np.random.default_rng([seed, 4])
        rows, what = draw(rng, 5), plan(rng)
        unit = Session(3, timedelta(seconds=40))
        # Without slow reading: a cut that was made and not reached is lost by a crash, and made later.
        reads = [(t, 0.0) for t in what.looks]
        plain, _ = Player(rows, unit, True, Plan(what.looks, reads, [])).play()
        broken = Plan(what.looks, reads, [(t, True) for t, _ in what.restarts])
        again, doubts = Player(rows, unit, True, broken).play()
        assert (plain == again).all(), seed
        assert not any(doubts), seed


def test_a_lost_past_is_said_for_as_long_as_it_matters():
    rng = np.random.default_rng(5)
    rows = draw(rng, 5)
    looks = [*map(float, range(0, SPAN + 100, 5)), END]
    unit = Session(3, timedelta(seconds=40))
    what = Plan(looks, [(t, 0.0) for t in looks], [(100.0, False)])
    _, doubts = Player(rows, unit, True, what).play()
    doubted = [i for i, doubt in enumerate(doubts) if doubt]
    # From the tick that was open at 100 s until 100 + ahead 20 + timeout 40 + three ticks of ten = 190 s.
    assert doubted == list(range(min(doubted), 19))
    assert min(doubted) * TICK <= 100
