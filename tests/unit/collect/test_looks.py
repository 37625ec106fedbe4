"""Ticks close by looks at the clock, and by nothing that reading does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.support.listed import Listed

from hubbub.collect import Cutter
from hubbub.collect.calendar import Calendar
from hubbub.collect.resume import start_at_the_end

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_asking_how_far_to_read_closes_no_tick():
    """How often a reader asks depends on what there is to read: a cut made by asking would come at such a moment."""
    now = [START]
    source = Listed([])
    calendar = Calendar(START, timedelta(seconds=10))
    cutter = Cutter(source, calendar, timedelta(0), lambda: now[0], start_at_the_end(source, -1, lambda: START))
    now[0] = START + timedelta(seconds=11)
    for _ in range(3):
        assert cutter.goal()[1] is None
        assert cutter.behind == 0
    now[0] = START + timedelta(seconds=12)
    cutter.look()
    now[0] = START + timedelta(seconds=13)
    cut = cutter.goal()[1]
    assert cut is not None
    assert (cut.tick, cut.time) == (0, START + timedelta(seconds=12))
