"""Closes ticks, by the clock and by nothing else."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta

from hubbub.collect.calendar import EPOCH, Calendar, microseconds
from hubbub.collect.clock import Clock
from hubbub.collect.shut_times import RESEND, ShutTimes
from hubbub.collect.source import Source
from hubbub.confidential import Cut
from hubbub.confidential.cut import PAST_LOST
from hubbub.errors import ClockTooFarAhead, StoreUnavailable

PATIENCE = timedelta(minutes=1)
"""How long ticks wait for a source that is away, or three ticks if that is longer; then they are predicted."""

LONGEST_CUT = 1_000
"""How many ticks one cut closes at most: their counts lie in memory together."""

MOST_DUE = 10_000_000
"""How many ticks may be due at once. More would take days to write down, and a clock that is wrong is likelier."""

CLOCK_WAS_SET = "the clock was set"
EVENTS_REFUSED = "for some time no event could be taken"
NOBODY_COULD_SEND = "the monitor was down and nobody could send"
NOT_YET_STARTED = "it began before the monitor did"
SOURCE_AWAY = "the source was away"


class Cutter:
    """Asks the source where it ends at the moment a tick closes, and keeps the answers until they have been read up to.

    `look` is called again and again by a thread that does nothing else. So a tick closes when the clock says so,
    however many records wait to be read, and whoever sent them. What was there by then is in time; what came later is
    late for that tick, even if it is read in the same breath.

    `keep` writes a cut down for good when it is made, and answers with the one that holds: its own, or that of another
    monitor that was faster. So a crash cannot undo a cut, however far reading was behind it. If nothing can be
    written, the cut is kept in memory and written down before the first tick that it closes is released.

    A monitor that comes to a stream gives the one that may be at work `grace` to make the next cut. One that has lost
    its past (`past_lost`) says so in its first cut: whoever goes on later must not read as if there were no hole.

    While the source cannot say where it ends no tick closes; the next answer closes all that are due. If it is away for
    longer than `PATIENCE` they are closed where it ended last, in doubt: nobody knows what they missed. Where events
    are sent to us, ticks are in doubt too while nothing could be taken (`ShutTimes`).

    After the clock was set, events that bear the new time may be dropped for a while as too far `ahead` of the old one.
    So the ticks up to the new time and that much further are in doubt, also if the next process begins with it.
    """

    def __init__(
        self,
        source: Source,
        calendar: Calendar,
        lateness: timedelta,
        clock: Clock,
        last: Cut,
        *,
        keep: Callable[[Cut], Cut] = lambda cut: cut,
        first_look: datetime | None = None,
        grace: timedelta = timedelta(0),
        past_lost: bool = False,
        ahead: timedelta = timedelta(0),
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source, self._calendar, self._lateness, self._clock = source, calendar, lateness, clock
        self._last, self._keep = last, keep
        self._first_look, self._grace = first_look, grace
        self._down_until: datetime | None = None
        self._past_lost, self._ahead = past_lost, ahead
        self._set_until = clock() + ahead if last.doubt == CLOCK_WAS_SET else None
        self._pending: deque[Cut] = deque()
        self._written = 0  # how many of the pending ones are written down
        self._overtaken = False
        self._away_since: datetime | None = None
        self._shut = None if source.waits_for_us else ShutTimes(steady)
        self._lock = threading.Lock()

    def down_until(self, moment: datetime) -> None:
        """Nobody could send to us before this moment; it may come late in a start that takes long."""
        if not self._source.waits_for_us:
            self._down_until = moment + RESEND

    def look(self) -> None:
        """Make a cut if one is due, and write it down if that can be done."""
        with self._lock:
            self._look()
            with suppress(StoreUnavailable):
                self._write()

    def goal(self) -> tuple[Mapping[str, str] | None, Cut | None]:
        """Up to where to read now, and the cut that stands there, if one does; nowhere while the source is away.

        Whoever asks is reading, and how often it asks is a matter of what there is to read: so this makes no cut.
        """
        with self._lock:
            if self._pending:
                return self._pending[0].frontier, self._pending[0]
            # No cut can come in between: whatever lies before this end lies before the next cut too.
            return self._source.frontier(), None

    def reached(self) -> Cut:
        """The oldest cut was read up to: it is done, and written down. Raises `StoreUnavailable` while it cannot be."""
        with self._lock:
            if not self._written:
                self._write()
            self._written -= 1
            return self._pending.popleft()

    @property
    def overtaken(self) -> bool:
        """Another monitor was faster: what was read may lie on the wrong side of its cut."""
        return self._overtaken

    @property
    def behind(self) -> int:
        """How many cuts have not been read up to yet."""
        return len(self._pending)

    @property
    def newest(self) -> int:
        """The last tick that is closed."""
        return self._last.tick

    def _look(self) -> None:
        now = self._clock()
        if self._shut is not None:
            self._shut.look(now, takes_events=self._source.takes_events)
        due = self._calendar.index(microseconds(now - self._lateness - self._grace)) - 1
        if due <= self._last.tick:
            return
        if due - self._last.tick > MOST_DUE:
            raise ClockTooFarAhead(
                f"By the clock it is {now:%Y-%m-%d %H:%M}, {due - self._last.tick:,} ticks after the stream's last "
                "one. Each would have to be written down, which takes days.",
                "If the clock is wrong, set it and start again. If the stream rested for so long, or began while the "
                "clock was wrong, start one under another name; what both publish about somebody adds up.",
            )
        frontier, for_all = self._source.frontier(), ""
        if frontier is None:
            self._away_since = self._away_since or now
            if now - self._away_since < max(PATIENCE, 3 * self._calendar.length):
                return
            frontier, for_all = self._last.frontier, SOURCE_AWAY
        else:
            self._away_since = None
        if self._past_lost:
            for_all = PAST_LOST
        self._grace, self._past_lost = timedelta(0), False
        for tick, doubt in self._runs(self._last.tick + 1, due, for_all):
            self._last = Cut(tick, now, frontier, self._source.identity, doubt, self._source.shared)
            self._pending.append(self._last)

    def _write(self) -> None:
        try:
            for cut in list(self._pending)[self._written :]:
                if self._keep(cut) != cut:
                    self._overtaken = True
                self._written += 1
        finally:
            if self._shut is not None:
                self._shut.awake()  # a store that takes its time keeps nobody from sending

    def _runs(self, first: int, last: int, for_all: str) -> Iterator[tuple[int, str]]:
        """The last tick of each run of ticks with the same doubt, which `for_all` is for all; a long run is several."""
        before, begun = for_all or self._doubt(first), first
        for tick in range(first + 1, last + 1):
            doubt = for_all or self._doubt(tick)
            if doubt != before or tick - begun >= LONGEST_CUT:
                yield tick - 1, before
                before, begun = doubt, tick
        yield last, before

    def _doubt(self, tick: int) -> str:
        begins, ends = self._moment(tick), self._moment(tick + 1)
        if self._first_look is not None and begins < self._first_look:
            return NOT_YET_STARTED
        if self._down_until is not None and ends + self._lateness <= self._down_until:
            return NOBODY_COULD_SEND
        if self._shut is not None and self._shut.within(begins, ends, ends + self._lateness):
            return EVENTS_REFUSED
        doubtful = getattr(self._clock, "doubtful", None)
        was_set = doubtful is not None and doubtful(begins - self._ahead, ends)
        was_set |= self._set_until is not None and begins < self._set_until
        return CLOCK_WAS_SET if was_set else ""

    def _moment(self, tick: int) -> datetime:
        return EPOCH + timedelta(microseconds=self._calendar.begins(tick))
