"""Which ticks a cutter closes in doubt, and how many at once; clock and steady time are set by hand."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.support.listed import Listed

from hubbub.collect.calendar import Calendar
from hubbub.collect.cutter import EVENTS_REFUSED, LONGEST_CUT, MOST_DUE, Cutter
from hubbub.confidential import Cut
from hubbub.errors import ClockTooFarAhead, StoreUnavailable

START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class Door(Listed):
    """Events are sent to it, and sometimes it refuses them."""

    waits_for_us = False
    takes_events = True


class Stage:
    """Ticks of a second that close a second after their end; twenty looks a second."""

    def __init__(self, source=None, keep=lambda cut: cut):
        self.source, self.seconds = source or Door([]), 0.0
        self.cutter = Cutter(
            self.source, Calendar(START, SECOND), SECOND, lambda: START + self.seconds * SECOND,
            Cut(-1, START, {"at": "0"}), keep=keep, steady=lambda: self.seconds,
        )  # fmt: skip

    def look_until(self, second):
        while self.seconds < second:
            self.seconds = round(self.seconds + 0.05, 2)
            self.cutter.look()

    def sleep_until(self, second):
        self.seconds = second
        self.cutter.look()

    def doubtful(self):
        """The ticks that are closed in doubt."""
        found, tick = [], 0
        while self.cutter.behind:
            cut = self.cutter.reached()
            found += [t for t in range(tick, cut.tick + 1) if cut.doubt]
            assert cut.doubt in ("", EVENTS_REFUSED)
            tick = cut.tick + 1
        return found


def test_ticks_that_a_paused_process_could_not_take_events_for_are_in_doubt():
    """As it was: a container paused for eight seconds published seven zeros as measurements."""
    stage = Stage()
    stage.look_until(10.5)
    stage.sleep_until(18.5)
    stage.look_until(25)
    # Tick 9 ended before; those up to 18 closed before the senders, who take two seconds, were back.
    assert stage.doubtful() == [*range(10, 19)]


def test_a_pause_that_is_no_longer_than_a_busy_machine_s_is_none():
    stage = Stage()
    stage.look_until(10.5)
    stage.sleep_until(12.4)
    stage.look_until(20)
    assert stage.doubtful() == []


def test_a_slow_store_keeps_nobody_from_sending():
    stage = Stage(keep=lambda cut: stage.slow(cut))

    def slow(cut):
        stage.seconds += 3  # and then it refuses
        raise StoreUnavailable("gone")

    stage.slow = lambda cut: cut
    stage.look_until(10.5)
    stage.slow = slow
    stage.look_until(30)
    stage.slow = lambda cut: cut
    stage.look_until(40)
    assert stage.doubtful() == []


def test_a_paused_process_misses_nothing_of_a_log():
    stage = Stage(Listed([]))
    stage.look_until(10.5)
    stage.sleep_until(18.5)
    stage.look_until(25)
    assert stage.doubtful() == []


def test_ticks_during_which_events_were_refused_are_in_doubt():
    """As it was: while the spool's disk was full every sender got 503, and zeros were published as measurements."""
    stage = Stage()
    stage.look_until(10.5)
    stage.source.takes_events = False
    stage.look_until(14.25)
    assert stage.doubtful() == [10, 11, 12], "at once, and not only when it is over"
    stage.source.takes_events = True
    stage.look_until(30)
    # Tick 13 closed while they waited for their second try, and 14 too, of which they missed the beginning.
    assert stage.doubtful()[-2:] == [13, 14]


def test_a_pause_while_events_are_refused_is_part_of_it():
    stage = Stage()
    stage.look_until(10.5)
    stage.source.takes_events = False
    stage.look_until(11)
    stage.sleep_until(16)
    stage.look_until(17)
    stage.source.takes_events = True
    stage.look_until(30)
    assert stage.doubtful() == [*range(10, 18)]


def test_one_cut_closes_a_thousand_ticks_at_most():
    """As it was: a month of seconds was one cut, and all its counts were made before the first was released."""
    stage = Stage(Listed([]))
    stage.sleep_until(2.0 + 2.5 * LONGEST_CUT)
    cuts = [stage.cutter.reached() for _ in range(stage.cutter.behind)]
    assert [cut.tick + 1 for cut in cuts] == [LONGEST_CUT, 2 * LONGEST_CUT, 2.5 * LONGEST_CUT + 1]
    assert {(cut.time, cut.frontier["at"]) for cut in cuts} == {(cuts[0].time, "0")}, "one look, one end"


def test_a_clock_that_is_years_ahead_is_refused():
    """As it was: a machine that began in 1970 and then learned the time had 1.8 thousand million ticks to close."""
    stage = Stage()
    stage.seconds = MOST_DUE + 2.0
    with pytest.raises(ClockTooFarAhead, match="10,000,001 ticks after") as refused:
        stage.cutter.look()
    assert "set it and start again" in refused.value.hint
    assert stage.cutter.behind == 0
