"""The live pipeline of one stream: events in, one release a tick out."""

from __future__ import annotations

import math
import resource
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Literal, TypeVar

from hubbub.collect import Batch, CountingByCuts, Cutter, Ended, PeriodEnded, Replay, Resume, Source
from hubbub.collect.clock import STEP, Clock
from hubbub.collect.resume import oldest_needed, start_at_the_end
from hubbub.confidential import Counts, Cut
from hubbub.errors import PrivacyRefusal, StoreUnavailable, TickOutOfOrder, TickTaken
from hubbub.monitor.key_finding import KeyFinding
from hubbub.monitor.paired import AnyCurator
from hubbub.released import Release, Tick
from hubbub.store import Store

FORGET_SECONDS = 5.0
"""How often what a restart will not need is forgotten."""

FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
"""Seconds between two tries while the store is away."""

CLOCK_BEHIND = "The clock is behind the newest tick: nothing is released until it has caught up."
STORE_AWAY = "The store cannot be reached, or takes no writes."
SAY_AGAIN = 60.0
"""Seconds after which it is said once more that the store is still away."""

TAKE_OVER = timedelta(seconds=5)
"""How long past its time a tick may stay open before a monitor that stands by closes it itself; or two ticks."""

GRACE = timedelta(seconds=1)
"""How long a monitor that comes to a stream waits past a tick's time, in case another one is at work."""

REST = 9
"""Once everything is read, so many times as long as that took is rested, though never for long."""

T = TypeVar("T")


def _nothing(what: object) -> None:
    del what


class Pipeline:
    """Reads a source, closes ticks by the clock, releases them through the ledger, and remembers where it was.

    `collect` makes the collector, told where to go on. `run` returns when the source is over or `stop` is set; then
    the tick in hand is finished. While the store is away nothing is lost: the source is not told to forget, and the
    tick in hand waits.

    A thread of its own looks at the clock (`Cutter`): how busy this one is decides when a tick is *released*, and
    never what is counted in it. A cut is in the store before the first tick that it closes is released, so a restart
    judges every record as it was judged before.

    Of two pipelines on one store, whoever makes a tick's cut first makes it for both. The other one then stands by: it
    follows the cuts that it finds, if it reads the same source, and takes over when a tick stays open too long.
    """

    def __init__(
        self,
        store: Store,
        curator: AnyCurator,
        source: Source,
        collect: Callable[[Resume | None], CountingByCuts],
        *,
        clock: Clock,
        on_release: Callable[[Release], None] = _nothing,
        on_counts: Callable[[Counts], None] = _nothing,
        say: Callable[[str], None] = _nothing,
        grace: timedelta = timedelta(0),
        finding: KeyFinding | None = None,
    ) -> None:
        self.name = curator.stream.name
        self._store, self._curator, self._source = store, curator, source
        self._clock, self._on_release, self._on_counts, self._say = clock, on_release, on_counts, say
        self._finding = finding
        self._forgot_at = time.monotonic()
        self._last: Release | None = None
        self._trouble = self._remarked = ""
        self._clock_error: BaseException | None = None
        self._started = clock()
        self.stop = threading.Event()
        self.beat = time.monotonic()
        """When the pipeline last turned; one that does not turn is stuck."""
        self._again: deque[Cut] = deque()  # cuts of an earlier life that are made again
        self._cuts: list[Cut] = []  # those that a restart may need
        self._cutter: Cutter | None = None
        self._standing_by = False
        self._past_lost = False  # and no cut has told it yet
        self._collect = collect
        self._collector = self._begin(grace)
        self._nap = min(0.1, self._collector.calendar.length.total_seconds() / 4)

    # ── where it goes on ─────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, grace: timedelta = timedelta(0)) -> CountingByCuts:
        fresh = self._collect(None)
        tick = self._curator.next_tick - 1
        self._cuts = self._store.cuts(self.name)
        if isinstance(fresh.time, Replay):
            return self._replay(fresh, tick)
        first_start = not self._cuts and tick < 0
        if first_start:
            self._cuts = [self._store.keep_cut(self.name, start_at_the_end(self._source, -1, self._clock))]
            collector, grace = fresh, timedelta(0)
        else:
            resume = Resume.of(
                self._cuts, tick, fresh.calendar.start, fresh.needed_from(tick), self._source, self._clock
            )
            self._again, self._past_lost = deque(resume.again), resume.lost
            self._cuts = [resume.cut, *resume.again]
            collector = self._collect(resume)
        self._cutter = self._new_cutter(collector, grace)
        if not first_start:
            self._cutter.down_until(self._started)
        return collector

    def _new_cutter(self, collector: CountingByCuts, grace: timedelta = timedelta(0)) -> Cutter:
        lateness = collector.time.lateness
        assert lateness is not None, "a live stream has one"
        first = self._cuts[0]
        return Cutter(
            self._source,
            collector.calendar,
            lateness,
            self._clock,
            self._cuts[-1],
            keep=lambda cut: self._store.keep_cut(self.name, cut),
            first_look=first.time if first.tick < 0 else None,
            grace=grace,
            past_lost=self._past_lost,
            ahead=collector.ahead,
            # A clock that is set by hand does not tell whether the process stood still: a busy machine is no pause.
            steady=getattr(self._clock, "steady", lambda: 0.0),
        )

    def _replay(self, fresh: CountingByCuts, tick: int) -> CountingByCuts:
        """A file is read from its beginning, and the ticks that are out are skipped: if it is still the same file."""
        self._source.open({})
        here = Cut(-1, self._started, self._source.frontier() or {}, self._source.identity, shared=self._source.shared)
        if not self._cuts:
            self._cuts = [self._store.keep_cut(self.name, here)]
        if tick < 0:
            return fresh
        if here.frontier and not self._cuts[0].frontier:
            raise PrivacyRefusal(
                "Which file the first ticks were released from can be read only on the machine that released them.",
                "Go on there, with its state folder (HUBBUB_STATE), or start a new stream; what both publish adds up.",
            )
        if dict(self._cuts[0].frontier) != dict(here.frontier):
            raise PrivacyRefusal(
                "The file is not the one whose first ticks were released: it has changed since.",
                "Give the same file again, or start a new stream; what both publish about somebody adds up.",
            )
        return self._collect(Resume(tick, fresh.calendar.start, here))

    # ── one turn ─────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self) -> None:
        """Until the source is over or `stop` is set."""
        try:
            if self._cutter is not None:
                self._cutter.down_until(self._clock())  # whoever runs us serves by now
                threading.Thread(target=self._watch_the_clock, name="clock", daemon=True).start()
            while not self.stop.is_set():
                begun = time.monotonic()
                turn = self._turn()
                if turn == "over":
                    return
                if turn == "idle":
                    # Few records cost nearly as much as many: let some gather, for the server needs the time.
                    self.stop.wait(min(REST * (time.monotonic() - begun), self._nap / 2))
                    self._source.wait(self._nap)
        finally:
            self.close()

    def step(self) -> bool:
        """A look at the clock, one turn, and a nap if there was nothing to do. False when the source is over."""
        self._look_at_the_clock()
        turn = self._turn()
        if turn == "idle":
            self._source.wait(self._nap)
        return turn != "over"

    def catch_up(self) -> None:
        """A look at the clock, and turns until there is nothing to do at present."""
        self._look_at_the_clock()
        while self._turn() == "busy":
            pass

    def _turn(self) -> Literal["busy", "idle", "over"]:
        """Read up to the next cut or to the present end; release what became final."""
        self.beat = time.monotonic()
        if self._clock_error is not None:
            raise self._clock_error
        if self._cutter is None:
            return "busy" if self._step_replay() else "over"
        if self._standing_by and not self._again:
            return "busy" if self._look_at_the_other() else "idle"
        until, cut = self._goal(self._cutter)
        if until is None:
            return "idle"
        batch = self._source.poll(until) if until else Batch.of([], reached=True)
        if batch is not None:
            self._collector.add(batch)
        if cut is not None and (batch is None or batch.reached):
            self._close_ticks(cut, self._cutter)
            return "busy"
        if batch is None:
            self._over()
            return "over"
        return "busy" if batch.events.height and not batch.reached else "idle"

    def close(self) -> None:
        """Hand back what was reserved, let go of the source."""
        self.stop.set()
        self._forget(now=True)
        self._curator.close()
        if self._finding is not None:
            self._finding.close()
        self._source.close()

    def status(self) -> Mapping[str, str | int | float | bool | None]:
        """What the curator may know: how the pipeline is doing, what the bound dropped. Never a tick's counts."""
        lag = None
        if self._last is not None and self._last.tick.start is not None and self._last.tick.length is not None:
            lag = round((self._clock() - self._last.tick.start - self._last.tick.length).total_seconds(), 3)
        spent = [self._store.spending(name) for name in self._curator.streams]
        return {
            "last_tick": None if self._last is None else self._last.tick.index,
            "lag_seconds": lag,
            "delay_seconds": self._collector.delay.total_seconds(),
            "trouble": self.trouble or None,
            "ticks_settled": sum(one.settled for one in spent),
            "ticks_lost": sum(one.lost for one in spent),
            "memory_bytes": _memory(),
            **self._collector.statistics.for_curator(),
        }

    @property
    def trouble(self) -> str:
        """What the pipeline waits for, in words that anyone may read; empty where all is well."""
        behind = 0 if self._cutter is None else self._cutter.behind + len(self._again)
        late = ""
        if self._cutter is not None and behind > 1:
            late = f"Reading is {self._cutter.newest - self._collector.closed:,} ticks behind."
        early = CLOCK_BEHIND if self.clock_behind else ""
        return self._trouble or self._source.trouble or early or late

    @property
    def clock_behind(self) -> timedelta:
        """How long no tick can close, since the clock has not come to where the newest one ended; nothing if it has.

        The clock was set back, or that of another monitor at the same store is ahead of ours.
        """
        if self._cutter is None:
            return timedelta(0)
        newest, calendar = max(self._cutter.newest, self._cuts[-1].tick), self._collector.calendar
        left = calendar.start + (newest + 1) * calendar.length - self._clock()
        return left if newest >= 0 and left > STEP else timedelta(0)

    @property
    def source_trouble(self) -> str:
        return self._source.trouble

    @property
    def waits_for_store(self) -> bool:
        """The store refuses what is to be written, and nothing is released meanwhile."""
        return bool(self._trouble)

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _watch_the_clock(self) -> None:
        while not self.stop.wait(self._nap / 2):
            try:
                self._look_at_the_clock()
            except BaseException as error:  # the pipeline's own thread raises it
                self._clock_error = error
                return

    def _look_at_the_clock(self) -> None:
        if self._cutter is not None and not self._standing_by:
            self._cutter.look()

    def _goal(self, cutter: Cutter) -> tuple[Mapping[str, str] | None, Cut | None]:
        return (self._again[0].frontier, self._again[0]) if self._again else cutter.goal()

    def _close_ticks(self, cut: Cut, cutter: Cutter) -> None:
        if self._again:
            self._again.popleft()
        else:
            self._patiently(cutter.reached, f"cut {cut.tick}")
            if cutter.overtaken:
                self._stand_by(cut)
                return
            self._cuts.append(cut)
            self._past_lost = False
        for ended in self._collector.cut(cut):
            self.beat = time.monotonic()
            self._publish(ended)
            if self.stop.is_set():  # a cut can close very many ticks; the next start releases the rest
                return
        self._forget()

    def _stand_by(self, cut: Cut) -> None:
        """Another pipeline closed this tick, and what we read may lie on the wrong side of its cut: begin anew."""
        self._say(f"cut {cut.tick}  made by another monitor; standing by")
        self._standing_by = True
        self._collector = self._begin()

    def _look_at_the_other(self) -> bool:
        """Follow the cuts of the pipeline that is at work; if it makes none for too long, take over."""
        newest, calendar = self._cuts[-1].tick, self._collector.calendar
        found = self._patiently(lambda: self._store.cuts(self.name, newest + 1), "standing by")
        if any(cut.begins_anew for cut in found):
            self._collector = self._begin()
            return True
        self._cuts += found
        ours = self._source.identity
        if all(cut.source == ours for cut in found):
            self._again += found
        else:  # its source means nothing to us, and ours will be read from its end
            self._source.settle(self._source.frontier() or {})
        due = calendar.tick(self._cuts[-1].tick + 1)
        lateness = self._collector.time.lateness or timedelta(0)
        patience = max(TAKE_OVER, 2 * calendar.length)
        if found or self._clock() < calendar.start + (due.index + 1) * calendar.length + lateness + patience:
            return bool(found)
        self._say(f"tick {due.index}  nobody closed it; taking over")
        self._standing_by = False
        if self._cuts[-1].source == ours:
            self._cutter = self._new_cutter(self._collector)
        else:
            self._collector = self._begin()
        return True

    def _step_replay(self) -> bool:
        batch = self._source.poll({})
        for given in self._collector.drain() if batch is None else self._collector.add(batch):
            self._publish(given if isinstance(given, PeriodEnded) else Ended(given))
        return batch is not None

    def _over(self) -> None:
        """A live source that takes no more: what has ended by now is given out."""
        for given in self._collector.drain():
            if isinstance(given, PeriodEnded):
                self._publish(given)
            else:
                self._publish(Ended(given, self._collector.doubt_of(given.tick)))

    def _publish(self, ended: Ended | PeriodEnded) -> None:
        """Release one tick, or predict one that was not measured; wait for the store as long as it takes."""
        if isinstance(ended, PeriodEnded):
            self._find_keys(ended)
            return
        tick = ended.counts.tick
        self._on_counts(ended.counts)
        try:
            release = self._patiently(lambda: self._outcome(ended), f"tick {tick.index}")
        except (TickTaken, TickOutOfOrder) as error:
            self._say(f"tick {tick.index}  not ours: {error.message}")
            return
        self._last = release
        self._say(_line(release, ended.doubt))
        remark = self._collector.remark
        if remark and remark != self._remarked:  # to the owner's terminal: what is on a page would tell everybody
            self._say(remark)
        self._remarked = remark
        self._on_release(release)

    def _find_keys(self, period: PeriodEnded) -> None:
        """The list of a period; the ticks after it are counted by what it found."""
        finding = self._finding
        assert finding is not None, "periods end where keys are found"
        seen_before = self._ended_before(period.tick)
        publish = partial(finding.publish, period, seen_before=seen_before)
        self._collector.count_by(self._patiently(publish, f"list {period.tick.index}"))

    def _ended_before(self, tick: Tick) -> bool:
        """Whether it was over before we came."""
        return tick.start is not None and tick.length is not None and tick.start + tick.length <= self._started

    def _outcome(self, ended: Ended) -> Release:
        tick = ended.counts.tick
        if self._ended_before(tick) and not self._curator.proved:
            # The store may have been set back: what ended before we came may have been released before.
            return self._curator.lose(tick)
        return self._curator.predict(tick) if ended.doubt else self._curator.release(ended.counts)

    def _patiently(self, act: Callable[[], T], what: str) -> T:
        pause, said = FIRST_WAIT, -math.inf
        while True:
            try:
                done = act()
            except StoreUnavailable as error:
                self.beat = time.monotonic()
                self._trouble = STORE_AWAY
                if time.monotonic() - said >= SAY_AGAIN:
                    said = time.monotonic()
                    self._say(f"{what}  waiting: {error.message}")
                if self.stop.wait(pause):
                    raise
                pause = min(2 * pause, LONGEST_WAIT)
            else:
                self._trouble = ""
                return done

    def _forget(self, *, now: bool = False) -> None:
        """Let go of what a restart will not need: old cuts, and the source's records before them."""
        if (
            self._last is None
            or self._cutter is None
            or not (now or time.monotonic() - self._forgot_at > FORGET_SECONDS)
        ):
            return
        last = self._last.tick.index
        oldest = oldest_needed(self._cuts, last, self._collector.needed_from(last))
        if oldest is None:
            return
        try:
            self._store.forget_cuts(self.name, oldest.tick)
        except StoreUnavailable as error:  # an older place is as good, only slower
            self._say(f"old cuts not forgotten: {error.message}")
            return
        self._cuts = [cut for cut in self._cuts if cut.tick >= oldest.tick]
        self._forgot_at = time.monotonic()
        self._source.settle(oldest.frontier)


def _line(release: Release, doubt: str) -> str:
    """One line a tick, from released values and public reasons alone."""
    when = "" if release.tick.start is None else f"  {release.tick.start:%Y-%m-%d %H:%M:%S}"
    what = "predicted" if release.is_predicted else f"released {len(release.keys):,} keys"
    spent = release.cost.epsilon or release.cost.rho
    return f"tick {release.tick.index}{when}  {what}{f' ({doubt})' if doubt else ''}  cost {spent}"


def _memory() -> int:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024
