"""What docs/limits.md says about people who share an identity: the cost it names is reached, and not exceeded."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hubbub.collect import Batch, Collector, Replay
from hubbub.privacy import Event, Session, User, Window

START = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TICKS = 61


def counted(unit, events):
    """The counts of an hour, `events` as (minute, key), all under one name: a proxy, or an empty id."""
    collector = Collector(["/", "/news"], unit, MINUTE, Replay(START, START + TICKS * MINUTE))
    rows = [{"time": START + minute * MINUTE, "person": "", "path": key} for minute, key in sorted(events)]
    found = collector.add(Batch.of(rows)) + collector.flush()
    return np.array([counts.values.reveal() for counts in found])


def moved(unit, mine, theirs):
    """How far removing my events moves the counts, in what the unit allows itself."""
    both, alone = counted(unit, mine + theirs), counted(unit, theirs)
    return np.abs(both - alone).sum() / unit.sensitivity


ONE_LONG_VISIT = [(minute, "/") for minute in range(0, 61, 4)]
THREE_VISITS = [(minute, "/news") for start in (10, 30, 50) for minute in (start, start + 1)]


def test_a_visit_that_joins_three_others_costs_four():
    unit = Session(max_ticks=2, timeout=5 * MINUTE)
    assert moved(unit, ONE_LONG_VISIT, THREE_VISITS) == 4


def test_a_visit_beside_one_other_costs_two():
    unit = Session(max_ticks=2, timeout=5 * MINUTE)
    assert moved(unit, [(9, "/"), (10, "/")], [(11, "/news"), (12, "/news")]) == 2


@pytest.mark.parametrize("unit", [User(max_ticks=2, horizon=TICKS), Window(2)], ids=repr)
def test_people_and_windows_cost_two_at_most(unit):
    assert moved(unit, [(9, "/"), (10, "/")], [(11, "/news"), (12, "/news")]) <= 2


def test_events_cost_one():
    assert moved(Event(), [(9, "/")], THREE_VISITS) == 1
