"""The live pipeline of one stream: events in, one release a tick out."""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from hubbub.collect import Collector, Resume, Source
from hubbub.collect.clock import Clock
from hubbub.confidential import Counts
from hubbub.errors import StoreUnavailable, TickOutOfOrder, TickTaken
from hubbub.monitor.paired import AnyCurator
from hubbub.released import Release
from hubbub.store import Store

KEEP_PLACE_SECONDS = 5.0
"""How often the place in the source is written down; an older place costs re-reading, nothing else."""

FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
"""Seconds between two tries while the store is away."""


def _nothing(what: object) -> None:
    del what


class Pipeline:
    """Polls a source, closes ticks, releases them through the ledger, and remembers where it was.

    Made by `open_pipeline`, which knows what a restart needs. `run` returns when the source is over or `stop` is set;
    then the tick in hand is finished and the place written down. While the store is away nothing is lost: the source is
    not told to forget, and the tick in hand waits.
    """

    def __init__(
        self,
        store: Store,
        curator: AnyCurator,
        source: Source,
        collector: Collector,
        *,
        clock: Clock,
        on_release: Callable[[Release], None] = _nothing,
        on_counts: Callable[[Counts], None] = _nothing,
        say: Callable[[str], None] = _nothing,
    ) -> None:
        self.name = curator.stream.name
        self._store, self._curator, self._source, self._collector = store, curator, source, collector
        self._clock, self._on_release, self._on_counts, self._say = clock, on_release, on_counts, say
        self._poll_seconds = min(0.25, collector.calendar.length.total_seconds() / 4)
        self._kept_at = 0.0
        self._last: Release | None = None
        self._trouble = ""
        self.stop = threading.Event()

    def run(self) -> None:
        """Until the source is over or `stop` is set."""
        try:
            while not self.stop.is_set() and self.step():
                pass
        finally:
            self.close()

    def step(self) -> bool:
        """One look at the source; release what became final. False when the source is over."""
        batch = self._source.poll(self._poll_seconds)
        for counts in self._collector.drain() if batch is None else self._collector.add(batch):
            self._on_counts(counts)
            self._publish(counts)
        return batch is not None

    def close(self) -> None:
        """Write the place down, hand back what was reserved, let go of the source."""
        if self._last is not None:
            self._keep_place(self._last.tick.index)
        self._curator.close()
        self._source.close()

    def status(self) -> Mapping[str, str | int | float | bool | None]:
        """What the curator may know: how the pipeline is doing, what the bound dropped. Never a tick's counts."""
        lag = None
        if self._last is not None and self._last.tick.start is not None and self._last.tick.length is not None:
            lag = round((self._clock() - self._last.tick.start - self._last.tick.length).total_seconds(), 3)
        budget = self._store.budget(self.name)
        return {
            "last_tick": None if self._last is None else self._last.tick.index,
            "lag_seconds": lag,
            "delay_seconds": self._collector.delay.total_seconds(),
            "trouble": self._trouble or None,
            "ticks_settled": budget.settled,
            "ticks_lost": budget.lost,
            "memory_bytes": _memory(),
            **self._collector.statistics.for_curator(),
        }

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _publish(self, counts: Counts) -> None:
        """Release one tick; wait for the store as long as it takes."""
        pause = FIRST_WAIT
        while True:
            try:
                release = self._curator.release(counts)
                break
            except (TickTaken, TickOutOfOrder) as error:
                self._say(f"tick {counts.tick.index}  not ours: {error.message}")
                return
            except StoreUnavailable as error:
                self._trouble = error.message
                self._say(f"tick {counts.tick.index}  waiting: {error.message}")
                if self.stop.wait(pause):
                    raise
                pause = min(2 * pause, LONGEST_WAIT)
        self._trouble = ""
        self._last = release
        self._say(_line(release))
        self._on_release(release)
        if time.monotonic() - self._kept_at > KEEP_PLACE_SECONDS:
            self._keep_place(release.tick.index)

    def _keep_place(self, tick: int) -> None:
        place = self._collector.resume_point(tick)
        try:
            self._store.keep_place(self.name, place.to_dict())
        except StoreUnavailable as error:  # the older place is as good, only slower
            self._say(f"place not kept: {error.message}")
            return
        self._kept_at = time.monotonic()
        self._source.settle(place.positions)


def where_to_resume(store: Store, curator: AnyCurator, source: Source, clock: Clock) -> Resume | None:
    """Where the collector goes on, and the source opened there; None for a stream that begins now."""
    kept = store.place(curator.stream.name)
    if kept is None:
        source.open({})
        return None
    resume = Resume.from_dict(kept)
    # Ticks may have been released after the place was written down: none of them is given out again.
    resume = replace(resume, tick=max(resume.tick, curator.next_tick - 1))
    if not source.open(resume.positions):
        resume = resume.forgotten(clock())
    return resume


def _line(release: Release) -> str:
    """One line a tick, from released values alone."""
    when = "" if release.tick.start is None else f"  {release.tick.start:%Y-%m-%d %H:%M:%S}"
    what = "predicted" if release.is_predicted else f"released {len(release.keys):,} keys"
    spent = release.cost.epsilon or release.cost.rho
    return f"tick {release.tick.index}{when}  {what}  cost {spent}"


def _memory() -> int:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024
