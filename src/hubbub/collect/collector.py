"""From events to bounded counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hubbub.collect.batch import Batch
from hubbub.collect.bound import Bound
from hubbub.collect.calendar import EPOCH, Calendar, microseconds
from hubbub.collect.clock import Clock, SteadyClock
from hubbub.collect.domain import UNKNOWN, KeyDomain
from hubbub.collect.ended import Ended, PeriodEnded
from hubbub.collect.filters import Filters
from hubbub.collect.identity import Identity
from hubbub.collect.pages import Found, Listed, OnMap, Pages
from hubbub.collect.person_bound import full
from hubbub.collect.resume import Resume
from hubbub.collect.rows import Rows
from hubbub.collect.rules import bound_of, rebuild_span, wait_of
from hubbub.collect.statistics import Statistics
from hubbub.collect.stay import Stay
from hubbub.collect.tally import Tally
from hubbub.collect.times import Live, Replay
from hubbub.confidential import Counts, Cut, Sealed
from hubbub.confidential.cut import PAST_LOST
from hubbub.errors import HubbubError, InvalidInput, InvalidParameter, PrivacyRefusal
from hubbub.privacy.unit import Session, Unit
from hubbub.released import Discovered, Domain, Keys, Map, Tick
from hubbub.released.axes import SWAPPED, WHAT_TO_DO

T = TypeVar("T")

RECORDS_LOST = "records were lost unread"

_SLICE = 2_000_000
"""How many events are bounded at a time; it limits memory and changes no result."""


class Collector(Sealed):
    """Cuts a stream of events into ticks and enforces a unit's bound on each session, person or event.

    `add` takes a batch. A live stream closes its ticks by `cut`, which the clock makes (`Cutter`); a replay closes
    them on its way and by `flush`. What one unit contributes depends on that unit's own events and on the cuts, never
    on anybody else's: removing one session changes the counts by at most `unit.max_items` in each of at most
    `unit.max_ticks` ticks. Proof: `docs/proofs/bounding.md`.

    >>> from datetime import UTC
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> collector = Collector(
    ...     ["/", "/news"], Session(max_ticks=20, timeout=timedelta(minutes=30)), timedelta(minutes=1),
    ...     Replay(start, start + timedelta(minutes=3)),
    ... )
    >>> event = {"time": start, "person": "a", "path": "/"}
    >>> collector.add(Batch.of([event]))
    []
    >>> collector.flush()
    [Counts(tick=0 (2026-01-01T00:00:00+00:00, 60 s), 3 keys, <confidential>), ...]
    """

    def __init__(
        self,
        keys: KeyDomain | Domain | Sequence[str] | Mapping[str, str] | Found,
        unit: Unit,
        tick_length: timedelta,
        time: Live | Replay,
        *,
        identify: Sequence[str] = ("person",),
        stay: bool | timedelta = True,
        filters: Filters | None = None,
        clock: Clock | None = None,
        max_open: int = 10_000_000,
        max_waiting: int = 20_000_000,
        resume: Resume | None = None,
    ) -> None:
        for name, limit in (("max_open", max_open), ("max_waiting", max_waiting)):
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
                raise InvalidParameter(f"`{name}` must be a whole number from 1 on; got {limit!r}.")
        self._found = keys if isinstance(keys, Found) else None
        if self._found is not None and (unit.max_items != 1 or not isinstance(unit, Session)):
            # Two pages of one session may have the same key, which would then rise by two.
            raise InvalidParameter(
                f"Where pages are found a session counts under one of them per tick; got {unit!r}.",
                "Use Session(max_ticks=…, timeout=…) with max_items=1, or list the keys.",
            )
        self._pages: Pages = _pages(keys)
        self.unit, self.time = unit, time
        self._clock = clock or SteadyClock()
        self.calendar = _calendar(time, tick_length, self._clock, resume)
        timeout = unit.timeout if isinstance(unit, Session) else None
        stays = Stay.of(stay, timeout) if isinstance(unit, Session) else Stay(False)
        self._bound: Bound = bound_of(unit, self.calendar, self._pages.size, stays, max_open)
        self._wait = wait_of(unit, self.calendar, stays)
        self._filters = Filters() if filters is None else filters
        self._identity = Identity(identify)
        self._max_waiting = max_waiting
        self._tally = Tally(self._pages.size)
        self._waiting: list[Rows] = []
        self._fresh: list[Rows] = []  # of a live stream: what came after the last cut
        self._numbers = dict.fromkeys(Statistics.__dataclass_fields__, 0)
        self._closed = -1 if resume is None else resume.cut.tick  # the last tick that takes no more events
        self._given = -1 if resume is None else resume.tick  # the last tick that was given out
        self._latest = -(2**62)  # of a replay: the greatest time so far
        self._stopped: HubbubError | None = None
        self._doubts: dict[int, str] = {}
        self._lost_since: int | None = None
        self._whole_from = 0
        self.span = rebuild_span(unit, self.calendar)
        """How far back a session's own past can matter; None: to the very beginning."""
        self.ahead = time.max_ahead if isinstance(time, Live) else timedelta(0)
        if resume is not None:
            self._go_on(resume)

    def _go_on(self, resume: Resume) -> None:
        """Whoever may have been counted before what can be read again is counted no more."""
        self._bound.begin(self._closed)
        if resume.since is None:
            if self._found is not None and resume.tick >= 0:
                self._found.read_again(self.calendar.tick(resume.tick), None)
            return
        if self.span is None:
            raise PrivacyRefusal(
                f"A stream of people who count in {self.unit.max_ticks} ticks can be resumed only from its beginning: "
                "how often each was counted is not kept on disk.",
                "Read the source again from its beginning, or start a new stream with a new grant.",
            )
        timeout = self.unit.timeout if isinstance(self.unit, Session) else None
        known = microseconds(resume.since + self.ahead + (timeout or timedelta(0)))
        self._bound.distrust(known)
        if self._found is not None:
            self._found.distrust(known)
            self._found.read_again(self.calendar.tick(max(resume.tick, 0)), known)
        # Those who are not counted are missing until they would have used up their bound.
        self._whole_from = self.calendar.index(microseconds(resume.since + self.ahead + self.span) - 1) + 1

    @property
    def keys(self) -> Domain:
        return self._pages.keys

    def count_by(self, keys: Discovered) -> None:
        """Where pages are found: what the ticks that are yet to be given out are counted by."""
        assert self._found is not None, "listed keys stay"
        self._found.count_by(keys)

    def needed_from(self, tick: int) -> list[datetime]:
        """From which moments on all must be read again if `tick` was the last released: the best first.

        From the first on nothing is missing; from the last on ticks are whole, and a list lacks what came before.
        """
        if self.span is None:
            return []
        moments = [self.calendar.begins(tick + 1) - microseconds(self.span)]
        if self._found is not None:
            moments.insert(0, min(moments[0], self._found.needed_from))
        return [EPOCH + timedelta(microseconds=moment) - self.ahead for moment in moments]

    @property
    def closed(self) -> int:
        """The last tick that takes no more events; -1 while there is none."""
        return self._closed

    @property
    def delay(self) -> timedelta:
        """How long after its end a tick becomes final, if the source keeps up."""
        lateness = self.time.lateness
        return self._wait * self.calendar.length + (lateness or timedelta(0))

    @property
    def statistics(self) -> Statistics:
        """For the curator only: exact numbers about people's events."""
        waiting = self._held
        facts = {"open": self._bound.open, "waiting": waiting, "state_bytes": 40 * self._bound.open + 28 * waiting}
        return Statistics(**(self._numbers | facts))

    @property
    def remark(self) -> str:
        """What its owner should know of what came lately, and nobody else; empty if nothing."""
        return f"{SWAPPED} {WHAT_TO_DO}" if isinstance(self._pages, OnMap) and self._pages.swapped else ""

    def add(self, batch: Batch) -> Iterable[Counts | PeriodEnded]:
        """Take a batch. Of a replay: the counts of the ticks that became final by it, in order, empty ones included.

        Where pages are found, periods that end stand in between, and the counts that follow are made when they are
        asked for: by the keys that the period found. With listed keys it is a plain list.
        """
        self._refuse_if_stopped()
        self._numbers["malformed"] += batch.malformed
        self._numbers["oversized"] += batch.oversized
        if batch.lost and self._lost_since is None:
            self._lost_since = self._closed + 1
        self._take(batch.events)
        through = self._complete_through()
        return self._handed_out(self._give(through, through - self._wait)) if through > self._closed else []

    def cut(self, cut: Cut) -> Iterable[Ended | PeriodEnded]:
        """Close the ticks up to `cut.tick`; those that became final by it, in order, as `add` gives them.

        Everything that lay before the cut must have been added, and nothing that lay behind it.
        """
        self._refuse_if_stopped()
        self._judge_ahead(cut.time)
        self._note_doubts(cut)
        if cut.tick <= self._closed:
            return []
        given = self._give(cut.tick, cut.tick - self._wait)
        return self._handed_out(
            one if isinstance(one, PeriodEnded) else Ended(one, self.doubt_of(one.tick)) for one in given
        )

    def _handed_out(self, given: Iterator[T]) -> Iterable[T]:
        return list(given) if self._found is None else given

    def _judge_ahead(self, now: datetime) -> None:
        """Whether an event claims too late a time is judged by the cut that follows it, whenever it is read."""
        for rows in self._fresh:
            ahead = self._count("ahead", rows.time > microseconds(now) + microseconds(self.ahead))
            self._waiting.append(rows.where(~ahead) if ahead.any() else rows)
        self._fresh = []

    def _note_doubts(self, cut: Cut) -> None:
        if self._lost_since is not None:
            # What was lost may have had any time up to now.
            last = max(self.calendar.index(microseconds(cut.time)), cut.tick)
            self._doubts |= dict.fromkeys(range(max(self._lost_since, self._given + 1), last + 1), RECORDS_LOST)
            self._lost_since = None
        if cut.doubt:
            self._doubts |= dict.fromkeys(range(max(self._closed, self._given) + 1, cut.tick + 1), cut.doubt)

    def doubt_of(self, tick: Tick) -> str:
        """Why the counts of a tick that was given out may not pass for a measurement; empty where they may."""
        return self._doubts.get(tick.index, "") or (PAST_LOST if tick.index < self._whole_from else "")

    def flush(self) -> list[Counts]:
        """The stream is over: the counts of all ticks that have ended."""
        return [counts for counts in self.drain() if isinstance(counts, Counts)]

    def drain(self) -> Iterator[Counts | PeriodEnded]:
        """`flush`, one tick at a time: for long replays with many keys."""
        self._refuse_if_stopped()
        if isinstance(self.time, Replay):
            last = self.calendar.index(microseconds(self.time.end) - 1)
        else:
            now = self._clock()
            last = self.calendar.index(microseconds(now)) - 1
            self._judge_ahead(now)
            self._note_doubts(Cut(last, now, {}))
        yield from self._give(max(last, self._closed), max(last, self._closed))
        # No tick follows that would ask for them: periods that end with the last one have their lists, too.
        yield from self._pages.before(self.calendar.tick(self._given + 1), self._codes_in_use)

    def _refuse_if_stopped(self) -> None:
        if self._stopped is not None:
            raise self._stopped

    def _stop(self, error: HubbubError) -> HubbubError:
        self._stopped = error
        return error

    def _take(self, events: pl.DataFrame) -> None:
        count = self._count
        self._numbers["events"] += events.height
        events = events.filter(~count("not_shown", self._filters.not_shown(events)))
        events = events.filter(~count("bots", self._filters.bots_among(events)))
        if not events.height:
            return
        codes, assets = self._pages.find(events, self._filters)
        if self.remark and isinstance(self.time, Replay) and self._given < 0:
            raise self._stop(InvalidInput(SWAPPED, WHAT_TO_DO))  # while nothing is spent
        rows = Rows(*self._identity.of(events), events.get_column("time").to_physical().to_numpy(), codes)
        drop = count("assets", assets)
        unknown = self._pages.unknown
        drop = drop | ((count("unknown", ~drop & (codes == unknown))) & (unknown == UNKNOWN))
        drop = drop | self._untimely(rows.time, drop)
        if drop.any():
            rows = rows.where(~drop)
        if len(rows):
            (self._fresh if isinstance(self.time, Live) else self._waiting).append(rows)
        if self._held > self._max_waiting:
            raise self._stop(full("events that wait for their tick", self._max_waiting, "max_waiting"))

    def _count(self, name: str, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        self._numbers[name] += int(which.sum())
        return which

    def _untimely(self, times: NDArray[np.int64], dropped: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Events that belong to no tick that can still be counted."""
        if isinstance(self.time, Replay):
            outside = (times < microseconds(self.time.start)) | (times >= microseconds(self.time.end))
            self._count("outside", outside & ~dropped)
            self._check_order(times[~(outside | dropped)])
            return outside
        late = times < self.calendar.begins(self._closed + 1)
        self._count("late", late & ~dropped)
        self._count("rebuilding", ~(late | dropped) & (times < self.calendar.begins(self._given + 1)))
        return late

    def _check_order(self, times: NDArray[np.int64]) -> None:
        if not len(times) or not isinstance(self.time, Replay) or self.time.lateness is None:
            return
        highest = np.maximum.accumulate(np.maximum(times, self._latest))
        if (highest - times > microseconds(self.time.lateness)).any():
            raise self._stop(
                InvalidInput(
                    f"The events are out of order by more than lateness={self.time.lateness}; collecting has stopped.",
                    "Give a longer `lateness`, or lateness=None to wait for the end. Events are not dropped here: "
                    "whether one is late would depend on other people's.",
                )
            )
        self._latest = int(highest[-1])

    def _complete_through(self) -> int:
        if not isinstance(self.time, Replay) or self.time.lateness is None or self._held < self.time.gather:
            return -1
        return self.calendar.index(self._latest - microseconds(self.time.lateness)) - 1

    @property
    def _held(self) -> int:
        return sum(map(len, self._waiting)) + sum(map(len, self._fresh))

    def _give(self, through: int, final: int) -> Iterator[Counts | PeriodEnded]:
        """Close the ticks up to `through`, give out those up to `final`."""
        rows = Rows.joined(self._waiting)
        ticks = self.calendar.indices(rows.time)
        due = ticks <= through
        self._waiting = [] if due.all() else [rows.where(~due)]
        rows, ticks = (rows, ticks) if due.all() else (rows.where(due), ticks[due])
        try:
            for part, end in _slices(rows, ticks, through):
                bounded = self._bound.advance(part, end)
                self._pages.advance(part, self.calendar.begins(end + 1))
                self._numbers["beyond_bound"] += bounded.beyond
                self._numbers["superseded"] += bounded.superseded
                self._numbers["counted"] += len(part) - bounded.beyond - bounded.superseded
                cells = bounded.cells
                self._tally.add(cells[cells >= (self._given + 1) * self._pages.size] if self._given >= 0 else cells)
        except HubbubError as error:
            raise self._stop(error) from None
        self._closed = through
        while self._given < final:
            tick = self.calendar.tick(self._given + 1)
            yield from self._pages.before(tick, self._codes_in_use)
            self._given += 1
            if self._found is not None and not self.doubt_of(tick):
                self._found.measured(tick)
            yield self._pages.count(tick, *self._tally.take(tick.index))
            self._doubts.pop(tick.index, None)

    def _codes_in_use(self) -> list[NDArray[np.int32]]:
        """Of pages that somebody is yet to be counted under, or may go on from."""
        held = [rows.key for rows in (*self._waiting, *self._fresh)]
        return [*held, self._bound.keys, self._tally.keys.astype(np.int32)]


def _pages(keys: KeyDomain | Domain | Sequence[str] | Mapping[str, str] | Found) -> Pages:
    if isinstance(keys, Found):
        return keys
    if isinstance(keys, Domain) and isinstance(keys, Map):
        return OnMap(keys)
    if isinstance(keys, Domain) and not isinstance(keys, Keys):
        raise InvalidParameter(
            f"Events say which page or where on a map; {keys!r} is neither.", "Give names, or a map with bounds."
        )
    return Listed(keys if isinstance(keys, KeyDomain) else KeyDomain(keys))


def _slices(rows: Rows, ticks: NDArray[np.int64], through: int) -> Iterator[tuple[Rows, int]]:
    """Rows in runs of whole ticks, with the last tick of each run."""
    if len(rows) > _SLICE:
        sizes = np.cumsum(np.bincount(ticks - ticks.min()))
        first, before = int(ticks.min()), -1
        while before < len(sizes) - 1:
            done = sizes[before] if before >= 0 else 0
            last = max(before + 1, int(np.searchsorted(sizes, done + _SLICE, side="right")) - 1)
            chosen = (ticks > first + before) & (ticks <= first + last)
            yield rows.where(chosen), (through if last >= len(sizes) - 1 else first + last)
            before = last
    else:
        yield rows, through


def _calendar(time: Live | Replay, length: timedelta, clock: Clock, resume: Resume | None) -> Calendar:
    start = time.start if time.start is not None else clock()
    if resume is not None:
        calendar = Calendar(resume.start, length)
        if time.start is not None and Calendar.around(time.start, length).start != resume.start:
            raise InvalidParameter(
                f"The stream began at {resume.start}; it cannot be resumed with start={time.start}.",
                "Leave `start` out, or give the one the stream was made with.",
            )
        return calendar
    if isinstance(time, Replay) and (time.start - EPOCH) % length:
        # A recorded span need not begin on a round time, but its first tick must not begin before the span does.
        return Calendar(time.start, length)
    calendar = Calendar.around(start, length)
    if isinstance(time, Live) and time.start is None:
        # The tick that has begun already would be counted in part only; the first one is the next.
        return Calendar(calendar.start + length, length)
    return calendar
