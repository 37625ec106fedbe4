"""Pages that nobody listed: a session is in one list at most, and counts no more often than its bound allows.

Played as `test_cuts` plays streams: late events, slow reading, restarts, sources that have lost their past. The keys
change with every period, in the same way for neighbours, as released lists would have it.
"""

from __future__ import annotations

import sys
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from tests.property.collect.test_cuts import AHEAD, LATENESS, LONG, START, TICK, Player, draw, plan, session_of

from hubbub.collect import Collector, Filters, Found, Live, PeriodEnded
from hubbub.collect.calendar import Calendar, microseconds
from hubbub.collect.finder import Finder
from hubbub.errors import InvalidParameter
from hubbub.privacy.unit import Event, Session, User
from hubbub.released import Discovered

PERIOD = 50  # seconds
KEYS = [Discovered(), *(Discovered(names, decision="lists tick 0") for names in (["/a"], ["/b", "/a"], ["/b"]))]


class FoundPlayer(Player):
    """One stream through all its lives, and the lists of its periods."""

    def __init__(self, *given):
        super().__init__(*given)
        self.periods: dict[int, Counter] = {}
        self.doubtful: dict[int, bool] = {}

    def collector(self, resume=None):
        time = Live(timedelta(seconds=LATENESS), timedelta(seconds=AHEAD), START)
        past = max(self.periods, default=-1)
        calendar = Calendar.around(START, timedelta(seconds=PERIOD))
        found = Found(calendar, microseconds(self.unit.timeout), KEYS[(past + 1) % len(KEYS)], given=past)
        return Collector(
            found, self.unit, timedelta(seconds=TICK), time, stay=self.stay, filters=Filters.none(), clock=self.clock,
            resume=resume,
        )  # fmt: skip

    def take(self, ended):
        if not isinstance(ended, PeriodEnded):
            super().take(ended)
            return
        index = ended.tick.index
        assert index == len(self.periods), "lists come out once, and in order"
        pages: dict[int, set[str]] = {}
        for session, page in zip(ended.sessions.tolist(), ended.pages.tolist(), strict=True):
            pages.setdefault(session, set()).add(ended.names[page])
        self.periods[index] = Counter(map(frozenset, pages.values()))
        self.doubtful[index] = ended.doubtful
        self.engine.count_by(KEYS[(index + 1) % len(KEYS)])

    def vector(self, counts):
        """By name, whatever the keys were."""
        named = dict(zip(counts.keys.names, counts.values.reveal().tolist(), strict=True))
        return np.array([named.get(name, 0) for name in ("/a", "/b", "other")])


def many(count, seed):
    """`python -m tests.property.collect.test_found_pages 10000`: that many pairs of neighbours; how many broke it."""
    broken = 0
    for at in range(count):
        unit = Session(3, LONG)
        one, two, change = neighbours(seed + at, unit, [True, False, timedelta(seconds=25)][at % 3])
        by_tick = np.abs(change).sum(axis=1)
        too_often = by_tick.max(initial=0) > unit.max_items or (by_tick > 0).sum() > unit.max_ticks
        broken += too_often or difference(one, two) > 1
    return broken


def difference(one, two):
    """How many sessions the lists of neighbours differ by, in all periods together."""
    assert one.doubtful == two.doubtful
    assert one.periods.keys() == two.periods.keys()
    both = [(one.periods[index], two.periods[index]) for index in one.periods]
    return sum(((a - b) + (b - a)).total() for a, b in both)


def neighbours(seed, unit, stay, people=5, player=FoundPlayer):
    rng = np.random.default_rng([seed, 12])
    rows, what = draw(rng, people), plan(rng)
    who = rows[int(rng.integers(len(rows)))][2]
    one = player(rows, unit, stay, what)
    two = player([row for row in rows if row[2] != who], unit, stay, what)
    (full, doubts), (less, less_doubts) = one.play(), two.play()
    assert doubts == less_doubts
    return one, two, full - less


@pytest.mark.parametrize("stay", [True, False, timedelta(seconds=25)])
def test_one_session_is_in_one_list_and_under_its_bound(stay):
    """A timeout longer than the stream: everything that one person does is one session."""
    unit, seen = Session(3, LONG), 0
    for seed in range(40):
        one, two, change = neighbours(seed, unit, stay)
        differ = difference(one, two)
        # A session that is another in one list leaves that list with one and enters it with the other.
        assert differ <= 1, seed
        seen += differ
        by_tick = np.abs(change).sum(axis=1)
        assert by_tick.max(initial=0) <= 1, seed
        assert (by_tick > 0).sum() <= unit.max_ticks, seed
    assert seen > 10, "lists were made of sessions at all"


@pytest.mark.parametrize("stay", [True, timedelta(seconds=20)])
def test_one_session_of_a_person_with_several(stay):
    unit, found = Session(2, timedelta(seconds=25)), 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 16])
        rows, what = draw(rng, 2), plan(rng)
        one = FoundPlayer(rows, unit, stay, what)
        full, _ = one.play()
        gone = session_of(rows, one.ever, int(rng.integers(len(rows))), 25)
        if gone is None:
            continue
        found += 1
        two = FoundPlayer([row for i, row in enumerate(rows) if i not in gone], unit, stay, what)
        less, _ = two.play()
        assert difference(one, two) <= 1, seed
        by_tick = np.abs(full - less).sum(axis=1)
        assert by_tick.max(initial=0) <= 1, seed
        assert (by_tick > 0).sum() <= unit.max_ticks, seed
    assert found > 20


def test_a_restart_that_proves_its_past_changes_no_list():
    for seed in range(40):
        rng = np.random.default_rng([seed, 18])
        rows, what = draw(rng, 5), plan(rng)
        what.restarts = [(moment, True) for moment, _ in what.restarts]
        once = FoundPlayer(rows, Session(3, timedelta(seconds=40)), False, what)
        once.play()
        what.restarts = []
        never = FoundPlayer(rows, Session(3, timedelta(seconds=40)), False, what)
        never.play()
        assert once.periods == never.periods, seed


@pytest.mark.parametrize("unit", [Session(3, LONG, 2), User(horizon=10), Event()])
def test_a_unit_that_may_raise_one_key_by_two_is_refused(unit):
    """Two pages that no list named are both `other`."""
    found = Found(Calendar.around(START, timedelta(seconds=PERIOD)), microseconds(LONG), KEYS[0])
    with pytest.raises(InvalidParameter, match="one of them per tick"):
        Collector(found, unit, timedelta(seconds=TICK), Live(timedelta(seconds=LATENESS)))


class TestSeededFaults:
    """The controls: each of these breaks the promise, and must be seen within as many streams as are looked at."""

    def seen(self):
        for seed in range(40):
            try:
                one, two, _ = neighbours(seed, Session(3, LONG), False)
                if difference(one, two) > 1:
                    return True
            except AssertionError:
                return True
        return False

    def test_nobody_is_distrusted_after_a_restart(self, monkeypatch):
        monkeypatch.setattr(Finder, "distrust", lambda self, until: None)  # noqa: ARG005
        assert self.seen()

    def test_a_session_counts_in_every_period_that_it_lasts(self, monkeypatch):
        real = Finder._sessions_of

        def anew(self, rows, begins, fresh, someone, place):
            _, number = real(self, rows, begins, fresh, someone, place)
            return self._periods.indices(rows.time[np.flatnonzero(begins)]), number

        monkeypatch.setattr(Finder, "_sessions_of", anew)
        assert self.seen()


if __name__ == "__main__":
    pairs = int(sys.argv[1])
    print(f"{pairs:,} pairs of neighbours, {many(pairs, 1000)} told apart by more than one session")
