"""One tick, released into several streams of one grant: as it is, and into the stream that answers ranges."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from fractions import Fraction
from types import TracebackType
from typing import Any, TypeAlias, cast

from hubbub.confidential import Counts
from hubbub.errors import StoreUnavailable, TickOutOfOrder, TickTaken
from hubbub.mechanism import OnlineMechanism
from hubbub.privacy import Guarantee, Part
from hubbub.ranges import RangeStream
from hubbub.released import Domain, Release, Tick
from hubbub.store import Curator, Store, Stream
from hubbub.store.stream import RANGES_OF, Definition, drawn, ranges_name


@dataclass(frozen=True, slots=True)
class RangePlan:
    """How much of a stream's past any range can be asked of, and at which part of the budget."""

    window: int
    share: Fraction = Fraction(1, 2)
    method: str = "auto"


@dataclass(frozen=True, slots=True)
class Follower:
    """One more stream that gets the same counts; `prepare` is called before each tick."""

    curator: Curator
    mechanism: OnlineMechanism
    prepare: Callable[[], None] = lambda: None


class JoinedCurator:
    """Releases each tick's counts through several curators: that of the first stream, and those that follow it.

    All are ordinary streams of the store with ledgers of their own. The first one comes first. A crash in between
    leaves the tick in some streams and out of the others; it is never drawn a second time in any. If the store goes
    away in between, releasing the same tick again finishes what is missing.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one. The promise is about everything that
        all these streams publish together.
        Enforced by the caller: the unit's bounds, before counting.
        Formula: the sum of the shares that the streams draw of their grant, times its epsilon (zCDP: its rho).
        Not covered: what each of them does not cover.
        Reference: basic composition, Dwork & Roth 2014, Thm 3.14; Bun & Steinke 2016, Lemma 1.7.
        Proof: docs/proofs/grants.md (proved).
    """

    def __init__(self, first: Curator, followers: Sequence[Follower]) -> None:
        self.stream: Stream = first.stream
        self._first, self._followers = first, tuple(followers)
        parts = [curator.stream.part for curator in self._curators]
        shares, slips = (sum((getattr(one, name) for one in parts), Fraction(0)) for name in ("share", "slips"))
        self.guarantee: Guarantee = parts[0].grant.guarantee.part(shares, slips)
        # Released in the first stream, and which others have not (or never) got their part.
        self._half: Release | None = None
        self._waiting: list[Follower] = []
        self._lock = threading.RLock()

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of all the streams, the first one first."""
        return tuple(curator.stream.name for curator in self._curators)

    @property
    def keys(self) -> Domain:
        """What is counted."""
        return self._first.keys

    @property
    def next_tick(self) -> int:
        """The first tick that is free in all streams; one that is half done is to be finished first."""
        if self._half is not None:
            return self._half.tick.index
        return max(curator.next_tick for curator in self._curators)

    def release(self, counts: Counts) -> Release:
        """Debit, draw and store in each stream; the first one's release."""

        def refused_by_none() -> None:
            # What one of the others would refuse must not be spent for in the first stream. The order of ticks is no
            # refusal: where two monitors share a store, the other one's streams may be ahead.
            for follower in self._followers:
                follower.prepare()
                with suppress(TickOutOfOrder):
                    follower.mechanism.check(counts)

        return self._each(counts.tick, lambda curator: curator.release(counts), refused_by_none)

    def predict(self, tick: Tick) -> Release:
        """A tick that nobody measured, in all streams; free."""
        return self._each(tick, lambda curator: curator.predict(tick))

    def lose(self, tick: Tick) -> Release:
        """A tick that may have been drawn before the store forgot it: charged in all streams, and never drawn."""
        return self._each(tick, lambda curator: curator.lose(tick))

    @property
    def proved(self) -> bool:
        """Whether all ledgers are known to hold everything that was spent."""
        return all(curator.proved for curator in self._curators)

    def close(self) -> None:
        """Hand back what was reserved."""
        for curator in reversed(self._curators):
            curator.close()

    def __enter__(self) -> JoinedCurator:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def _curators(self) -> list[Curator]:
        return [self._first, *(follower.curator for follower in self._followers)]

    def _each(
        self, tick: Tick, act: Callable[[Curator], Release], before: Callable[[], None] = lambda: None
    ) -> Release:  # fmt: skip
        with self._lock:
            if self._half is None or self._half.tick.index != tick.index:
                self._half = None
                before()
                self._half, self._waiting = act(self._first), list(self._followers)
            while self._waiting:
                with suppress(TickTaken, TickOutOfOrder):  # lost, or another curator's: the tick is missing there
                    act(self._waiting[0].curator)
                del self._waiting[0]
            done, self._half = self._half, None
            return done


AnyCurator: TypeAlias = Curator | JoinedCurator


def open_curator(
    store: Store,
    name: str,
    keys: Domain,
    promise: Guarantee | Part,
    make: Callable[[Domain, Guarantee], OnlineMechanism],
    plan: RangePlan | None = None,
    facts: Mapping[str, Any] | None = None,
) -> AnyCurator:
    """The curator of a live stream: `make` makes its mechanism; with a `plan`, it shares its part with ranges.

    `promise` is a part of a grant; a guarantee alone is a grant of the stream's own. `facts` are fixed with the
    streams: how their counts come about, what their owner vouches for.
    """
    return open_streams(store, streams_of(name, keys, promise, make, plan, facts))


def open_streams(store: Store, wanted: Sequence[Wanted]) -> AnyCurator:
    """The curator of one stream; or of a live stream and that of its ranges."""
    # All at once: whoever sees one of them also sees that the promise has a second part.
    store.create_streams([one.definition(store) for one in wanted])
    if len(wanted) == 1:
        return wanted[0].curate(store)
    live, beside = wanted
    mechanism = cast(RangeStream, beside.mechanism)
    with ExitStack() as opened:
        ranges = opened.enter_context(beside.curate(store))
        first = live.curate(store)
        opened.pop_all()
    return JoinedCurator(first, [Follower(ranges, mechanism, lambda: _learn(store, first.stream, mechanism))])


@dataclass(frozen=True, slots=True)
class Wanted:
    """A stream as a monitor would have it: what it draws, by which mechanism, and what is fixed with it."""

    name: str
    mechanism: OnlineMechanism[Any]
    part: Part
    facts: Mapping[str, Any]

    def definition(self, store: Store) -> Definition:
        """What the store would make of it."""
        return store.definition(self.name, self.mechanism, self.part, self.facts)

    def curate(self, store: Store) -> Curator:
        return store.curate(self.name, self.mechanism, self.facts, part=self.part)


def streams_of(
    name: str,
    keys: Domain,
    promise: Guarantee | Part,
    make: Callable[[Domain, Guarantee], OnlineMechanism],
    plan: RangePlan | None,
    facts: Mapping[str, Any] | None,
) -> list[Wanted]:
    """The live stream and, with a `plan`, that of its ranges: as `open_curator` opens them, without a store."""
    fixed, part = dict(facts or {}), drawn(name, promise)
    if plan is None:
        return [Wanted(name, make(keys, part.guarantee), part, fixed)]
    live, ranged = part.of(1 - plan.share), part.of(plan.share)
    releaser = make(keys, live.guarantee)
    mechanism = RangeStream(keys, ranged.guarantee, window=plan.window, method=plan.method)
    # Whether the live measurements may share in an answer: only if what they cost never depends on what they showed.
    even = releaser.traits.even_cost
    options = {RANGES_OF: name, "window": plan.window, "even": even, **fixed}
    return [Wanted(name, releaser, live, fixed), Wanted(ranges_name(name), mechanism, ranged, options)]


def _learn(store: Store, stream: Stream, mechanism: RangeStream) -> None:
    """Before a segment begins: what readers asked of late, from whichever process they asked.

    The lengths are public and come from strangers; they are cut to what the window can hold.
    """
    if not mechanism.begins_segment:
        return
    history = mechanism.history
    with suppress(StoreUnavailable):  # then it chooses by what it knows
        recent = store.recent_queries(stream, limit=history.size)
        history.restore(min(length, history.window) for length in recent)
