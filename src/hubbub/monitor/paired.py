"""One tick, released twice under one promise: as it is, and into the stream that answers ranges."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from types import TracebackType
from typing import TypeAlias

from hubbub.confidential import Counts
from hubbub.errors import StoreUnavailable, TickOutOfOrder, TickTaken
from hubbub.privacy import Guarantee, divide, together
from hubbub.ranges import RangeStream
from hubbub.release import Releaser
from hubbub.released import Keys, Release
from hubbub.store import Curator, Store, Stream
from hubbub.store.mechanism import Mechanism
from hubbub.store.stream import COMPANION, COMPANION_OF, companion_name


@dataclass(frozen=True, slots=True)
class RangePlan:
    """How much of a stream's past any range can be asked of, and at which part of the budget."""

    window: int
    share: Fraction = Fraction(1, 2)
    method: str = "auto"


class PairedCurator:
    """Releases each tick's counts through two curators: the live stream, and its companion of ranges.

    Both are ordinary streams of the store with ledgers of their own. The live one comes first. A crash between the two
    leaves the tick in one stream and out of the other; it is never drawn a second time in either. If the store goes
    away between the two, releasing the same tick again finishes what is missing.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one. The promise is about everything that
        both streams publish together.
        Enforced by the caller: the unit's bounds, before counting.
        Formula: epsilon of the live stream plus epsilon of its companion (zCDP: rho plus rho); `share` of the whole
        goes to the companion, the rest to the live stream, exactly.
        Not covered: what each of the two does not cover.
        Reference: basic composition, Dwork & Roth 2014, Thm 3.14; Bun & Steinke 2016, Lemma 1.7.
        Proof: docs/proofs/pair.md (proved).
    """

    def __init__(self, store: Store, live: Curator, ranges: Curator, mechanism: RangeStream) -> None:
        self.stream: Stream = live.stream
        self.guarantee: Guarantee = together(live.guarantee, ranges.guarantee)
        self._store, self._live, self._ranges, self._mechanism = store, live, ranges, mechanism
        self._half: Release | None = None  # released live, not yet (or never) in the companion
        self._lock = threading.RLock()

    @property
    def next_tick(self) -> int:
        """The first tick that is free in both streams; one that is half done is to be finished first."""
        if self._half is not None:
            return self._half.tick.index
        return max(self._live.next_tick, self._ranges.next_tick)

    def release(self, counts: Counts) -> Release:
        """Debit, draw and store twice; the live release."""
        with self._lock:
            if self._half is None or self._half.tick.index != counts.tick.index:
                self._half = None
                self._learn()
                # What the companion would refuse must not be spent for in the live stream. The order of ticks is no
                # refusal: where two monitors share a store, the other one's companion may be ahead.
                with suppress(TickOutOfOrder):
                    self._mechanism.check(counts)
                self._half = self._live.release(counts)
            with suppress(TickTaken, TickOutOfOrder):  # lost, or another curator's: the tick is missing from ranges
                self._ranges.release(counts)
            done, self._half = self._half, None
            return done

    def close(self) -> None:
        """Hand back what was reserved."""
        self._ranges.close()
        self._live.close()

    def __enter__(self) -> PairedCurator:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _learn(self) -> None:
        """Before a segment begins: what readers asked of late, from whichever process they asked.

        The lengths are public and come from strangers; they are cut to what the window can hold.
        """
        if not self._mechanism.begins_segment:
            return
        history = self._mechanism.history
        with suppress(StoreUnavailable):  # then it chooses by what it knows
            recent = self._store.recent_queries(self.stream, limit=history.size)
            history.restore(min(length, history.window) for length in recent)


AnyCurator: TypeAlias = Curator | PairedCurator


def open_curator(
    store: Store,
    name: str,
    keys: Keys,
    guarantee: Guarantee,
    make: Callable[[Keys, Guarantee], Mechanism],
    plan: RangePlan | None,
) -> AnyCurator:
    """The curator of a live stream: `make` makes its mechanism; with a `plan`, it shares `guarantee` with ranges."""
    if plan is None:
        return store.curate(name, make(keys, guarantee))
    live, part = divide(guarantee, plan.share)
    releaser = make(keys, live)
    mechanism = RangeStream(keys, part, window=plan.window, method=plan.method)
    beside = companion_name(name)
    # Each says of the other that it is there, for good: neither half can later pass for the whole.
    options = {COMPANION: beside}
    if any(stream.name == name for stream in store.streams()):
        store.create_stream(name, keys, live, releaser.name, options)  # refuses another promise before anything is made
    # The companion first: whoever sees the live stream also sees that its promise has a second part.
    # Whether the live measurements may share in an answer: only if what they cost never depends on what they showed.
    even = isinstance(releaser, Releaser) and type(releaser).cost is Releaser.cost
    ranges = store.curate(beside, mechanism, {COMPANION_OF: name, "window": plan.window, "even": even})
    try:
        return PairedCurator(store, store.curate(name, releaser, options), ranges, mechanism)
    except BaseException:
        ranges.close()
        raise
