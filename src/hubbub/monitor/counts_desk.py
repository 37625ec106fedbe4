"""For people who count by themselves: ready-made counts in, one release a tick out."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Mapping
from datetime import timedelta

from hubbub.collect import Counting, ReadyMade
from hubbub.collect.calendar import Calendar
from hubbub.collect.clock import Clock
from hubbub.errors import StoreSetBack, StoreUnavailable, TickOutOfOrder, TickTaken
from hubbub.monitor.one_stream import expect_own
from hubbub.monitor.paired import AnyCurator
from hubbub.monitor.pipeline import STORE_AWAY
from hubbub.released import Release
from hubbub.server import CountsAnswer, CountsSent
from hubbub.server.errors import KeyReused, TickNotOver
from hubbub.store import Store

TOLERANCE = timedelta(seconds=1)
"""How far ahead of ours a sender's clock may be, but never more than a tenth of a tick."""

_BEAT_SECONDS = 1.0

REFUSED_SECONDS = 60.0
"""How long a refusal of the store is shown if nobody sends again: it is only tried with counts."""


class CountsDesk:
    """Takes counts over HTTP (`POST /v1/streams/NAME/counts`) and releases them through the ledger.

    The bound of the unit is the sender's promise: counts cannot be bounded after the fact.

    A request that comes again gets the same answer and no second draw. Which tick a request means is written down,
    durably, before anything is drawn; the ledger releases a tick once, whatever happens; so a repeated request finds
    the tick's release, or the prediction that stands for it if the first try was cut off after its debit. A request is
    known by its sender and its idempotency key, its tick, or both: either of them finds it again. Of its body only a
    code is kept that nobody can compute without the sender's token: the store must not hold anything from which counts
    can be guessed.
    """

    def __init__(
        self,
        store: Store,
        curator: AnyCurator,
        calendar: Calendar,
        *,
        clock: Clock,
        on_release: Callable[[Release], None],
        say: Callable[[str], None],
    ) -> None:
        self._store, self._curator, self._calendar, self._clock = store, curator, calendar, clock
        self._counting: Counting[tuple[int, Mapping[str, int]]] = ReadyMade(curator.keys, calendar)
        self._on_release, self._say = on_release, say
        self._tolerance = min(TOLERANCE, calendar.length / 10)
        self._turn = threading.Lock()
        self.stop = threading.Event()
        self.beat = time.monotonic()
        self._refused_at: float | None = None

    def release(self, stream: str, sent: CountsSent) -> CountsAnswer:
        """The release of the tick that was sent, drawn now or stored before."""
        expect_own(stream, self._curator.stream.name)
        try:
            answer = self._release(sent)
        except StoreUnavailable:
            self._refused_at = time.monotonic()
            raise
        self._refused_at = None
        return answer

    def _release(self, sent: CountsSent) -> CountsAnswer:
        with self._turn:
            known = [self._known(sent, name) for name in _names(sent)]
            repeated = any(tick is not None for tick in known)
            tick = next((tick for tick in known if tick is not None), None)
            if tick is None:
                tick = self._which(sent.tick)
            for name, before in zip(_names(sent), known, strict=True):
                if before is None:
                    kept, tick = self._store.remember_answer(self._curator.stream, name, _code(sent, name), tick)
                    self._expect(sent, name, kept)
            return self._answer(tick, sent.values, repeated)

    def _known(self, sent: CountsSent, name: bytes) -> int | None:
        """The tick that was answered to this request under one of its names; refused, if it was another one then."""
        known = self._store.answer(self._curator.stream, name)
        if known is None:
            return None
        self._expect(sent, name, known[0])
        return known[1]

    def _expect(self, sent: CountsSent, name: bytes, kept: bytes) -> None:
        if not hmac.compare_digest(kept, _code(sent, name)):
            raise self._other_body(sent, name)

    def _answer(self, tick: int, values: Mapping[str, int], repeated: bool) -> CountsAnswer:
        # A tick of which only the first of two streams has its part is finished by releasing it again.
        if repeated and tick < self._curator.next_tick:
            stored = self._stored(tick)
            if stored is not None:
                return CountsAnswer(stored, again=True)
        try:
            release = self._draw(tick, values)
        except (TickTaken, TickOutOfOrder):
            # Lost in an earlier try, perhaps in this moment: then its prediction is the answer, now and later.
            stored = self._stored(tick) if repeated else None
            if stored is None:
                raise
            return CountsAnswer(stored, again=True)
        self._say(f"tick {tick}  released {len(release.keys):,} keys")
        self._on_release(release)
        return CountsAnswer(release, again=False)

    def _draw(self, tick: int, values: Mapping[str, int]) -> Release:
        (counts,) = self._counting.add((tick, values))
        try:
            return self._curator.release(counts)
        except StoreSetBack:
            # The store may have forgotten that it was released; then it is charged once more, and never drawn.
            if self._curator.proved:
                raise
            return self._curator.lose(counts.tick)

    def _which(self, asked: int | None) -> int:
        """The tick that a new request means. Only one that is over by the clock: else anybody could skip the future."""
        newest = (self._clock() + self._tolerance - self._calendar.start) // self._calendar.length - 1
        free = self._curator.next_tick
        tick = newest if asked is None else asked
        if tick > newest or newest < 0:
            raise TickNotOver(f"That tick is not over yet: {self._newest(newest)}", "Send it after its end.")
        if tick < free:
            if asked is None:
                raise TickNotOver(
                    f"The newest tick that is over, {newest:,}, has its release: the next one ends at "
                    f"{self._ends(free)}.",
                    "Send the next counts after that.",
                )
            raise TickTaken(f"Tick {tick} has its release, or a later one has.")
        return tick

    def _newest(self, newest: int) -> str:
        if newest < 0:
            return f"the first one, tick 0, ends at {self._ends(0)}."
        return f"the newest that can be sent is {newest:,}, which ended at {self._ends(newest)}."

    def _ends(self, tick: int) -> str:
        return (self._calendar.start + (tick + 1) * self._calendar.length).isoformat()

    def _stored(self, tick: int) -> Release | None:
        return next(iter(self._store.releases(self._curator.stream, first=tick, last=tick, limit=1)), None)

    def _other_body(self, sent: CountsSent, name: bytes) -> Exception:
        if name == _name(sent.sender, "tick", sent.tick):
            return TickTaken(f"Tick {sent.tick} was sent before, with other counts.")
        return KeyReused(
            "This Idempotency-Key was used before, for something else; nothing was taken.",
            "Give each request its own key; a repetition must be the same to the last count.",
        )

    # ── life ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self) -> None:
        """Counts come when they come; until `stop` is set."""
        while not self.stop.wait(_BEAT_SECONDS):
            self.beat = time.monotonic()
        self.close()

    def close(self) -> None:
        """Hand back what was reserved."""
        self._curator.close()

    @property
    def trouble(self) -> str:
        """What is wrong, in words that anyone may read."""
        return STORE_AWAY if self.waits_for_store else ""

    @property
    def clock_behind(self) -> timedelta:
        """Whoever sends counts is told that their tick is not over."""
        return timedelta(0)

    @property
    def source_trouble(self) -> str:
        """Counts come when they come."""
        return ""

    @property
    def waits_for_store(self) -> bool:
        """The last counts could not be released, since the store refused."""
        refused = self._refused_at
        return refused is not None and time.monotonic() - refused < REFUSED_SECONDS

    def status(self) -> Mapping[str, str | int | float | bool | None]:
        """What the curator may know."""
        spent = [self._store.spending(name) for name in self._curator.streams]
        return {"ticks_settled": sum(one.settled for one in spent), "ticks_lost": sum(one.lost for one in spent)}


def _names(sent: CountsSent) -> list[bytes]:
    """Under what a request is remembered: its key, its tick, or both."""
    given = (("key", sent.key), ("tick", sent.tick))
    return [_name(sent.sender, kind, value) for kind, value in given if value is not None]


def _name(sender: str, kind: str, value: str | int | None) -> bytes:
    """Another sender's same key, or same tick, is another name."""
    return hashlib.sha256(json.dumps([sender, kind, value]).encode()).digest()


def _code(sent: CountsSent, name: bytes) -> bytes:
    """What is remembered of tick and counts: a code under the sender's secret, different for each name.

    A plain hash would not do: counts are small numbers, and whoever has the store could try them all.
    """
    facts = json.dumps([sent.tick, sorted(sent.values.items())]).encode()
    return hmac.new(sent.seal, name + facts, hashlib.sha256).digest()
