"""What the server needs from whoever runs the pipeline. The monitor fits these shapes without importing this room.

The server itself sees released values only. What comes in (events, counts) is passed through unread, and what it may
say about the inner workings comes as facts that are fit for the curator's eyes.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from hubbub.released import Release
from hubbub.store import Stream

Fact: TypeAlias = str | int | float | bool | None


class Receipt(Protocol):
    """What became of a batch of events. It goes back to the sender, who knows what was in it, and nowhere else."""

    @property
    def accepted(self) -> int: ...

    @property
    def malformed(self) -> int: ...

    @property
    def duplicate(self) -> bool:
        """True where the idempotency key was seen before: the batch was not counted again."""
        ...


class EventPort(Protocol):
    """Where events go in."""

    def push(self, stream: str, body: bytes, idempotency_key: str | None, sender: str) -> Receipt:
        """Take a batch of events, whole or not at all. Raises `Overloaded` where the queue is full.

        They are lines of JSON; or, where the port says so in `media`, of one of those types.

        `sender` stands for the token that was shown: the same for all its requests, another for any other token. A
        key belongs to its sender; the same key of somebody else is another key.

        Called from worker threads, several at a time. When it returns, the batch is as safe as the pipeline makes it.
        """
        ...


class GroupPort(EventPort, Protocol):
    """An event port that takes several batches in one go: then small ones need no thread each."""

    def push_many(self, stream: str, batches: Sequence[tuple[bytes, str | None, str]]) -> Sequence[Receipt | Exception]:
        """`push` for each (body, key, sender), in this order; what one is refused for stands in its place."""
        ...


@dataclass(frozen=True, slots=True)
class CountsSent:
    """One tick's counts as they were sent. There is a `tick` or a `key`, or both."""

    tick: int | None
    key: str | None
    sender: str
    values: Mapping[str, int] = field(repr=False)
    seal: bytes = field(repr=False)
    """A secret of the sender's token, which no store holds: for codes over what must not be guessed."""


@dataclass(frozen=True, slots=True)
class CountsAnswer:
    """A tick's release; `again` where it was drawn for an earlier request."""

    release: Release
    again: bool


class CountsPort(Protocol):
    """Where ready-made counts of a tick go in."""

    def release(self, stream: str, sent: CountsSent) -> CountsAnswer:
        """Release one tick, once: what is sent again gets the same answer, across restarts too.

        Without a tick the newest one is meant that is over. The bound of the unit is the sender's promise here.
        """
        ...


class StatusPort(Protocol):
    """What the curator may know about the pipeline: lag, ticks lost, the share dropped by the bound, late events,
    unknown keys, memory, rate. What is shown of it goes through `fit_for_curator`: shares, never a raw count."""

    def status(self, stream: str) -> Mapping[str, Fact]: ...


@dataclass(frozen=True, slots=True)
class Pulse:
    """How a pipeline is, for anyone who watches over it. Seconds since it last turned, and since its last release."""

    state: str
    """`ok`, `waiting` (for its source or the store), `over` (the source has ended), `stuck`, or `stopped`."""
    seconds_since_beat: float | None = None
    seconds_since_tick: float | None = None
    trouble: str = ""
    """What is wrong at present, in fixed words that anyone may read; empty where nothing is."""
    store_writes: bool = True
    """False while the store refuses what is to be written: nothing can be released."""
    source: str = "ok"
    """`ok`, `away` (a log, a broker), or `no_writes` (events that are sent here cannot be kept)."""

    @property
    def is_healthy(self) -> bool:
        return self.state in ("ok", "waiting", "over") and self.store_writes and self.source == "ok"


class PulsePort(Protocol):
    """Whether the pipeline lives. Asked often, by anyone: answers at once and tells nothing about the data."""

    def pulse(self) -> Pulse: ...


class TruthPort(Protocol):
    """The true counts of a *simulated* stream. Given by the demo alone; a real pipeline has no such thing."""

    def overlay(self, stream: str, first: int, last: int) -> Mapping[str, Sequence[int | None]]:
        """For each key the true counts of the ticks `first` to `last`, both included; None where unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Needed:
    """How many people must share an item until it is listed, under one promise."""

    change: str
    """What is different from the present promise, in words; empty for the present one."""
    epsilon: str
    delta: str
    max_items: int
    people: int


@dataclass(frozen=True, slots=True)
class ListFacts:
    """What can be said of a stream of lists from its definition alone: public numbers, never a log."""

    guarantee: Mapping[str, Any]
    """The promise about all lists together, for programs."""
    card: tuple[str, ...]
    """What whoever uses a list should know."""
    card_without_counts: tuple[str, ...]
    needed: tuple[Needed, ...]
    """The present promise first."""


class ItemsPort(Protocol):
    """What a list promises and what it takes to be in it: computed where thresholds are, which the server may not see.

    A function of the stream's definition and of nothing else. Called from worker threads.
    """

    def about(self, stream: Stream) -> ListFacts | None:
        """None where nothing is known of how its lists are made."""
        ...


class SelectPort(Protocol):
    """Chooses results for a generalised context: bytes of JSON in and out, passed through unread.

    What it refuses, it refuses in words that never repeat what was sent. Called from worker threads.
    """

    def about(self) -> Mapping[str, Any]:
        """Which hierarchy clients must have, and the limits: public."""
        ...

    def kept(self, request: bytes) -> bytes | None:
        """The answer, if it is at hand; it never waits."""
        ...

    def answer(self, request: bytes) -> bytes: ...


class GatherPort(Protocol):
    """One of two servers that add up what neither sees. Bytes go in and come out, passed through unread.

    `offers` names what may be sent to a round; `largest` is the most bytes a message has. Called from worker threads.
    """

    @property
    def offers(self) -> Sequence[str]: ...

    @property
    def largest(self) -> int: ...

    def about(self) -> bytes:
        """What is asked, by whom, when: public, as JSON."""
        ...

    def announcement(self, tick: int) -> bytes:
        """What a client needs for one round."""
        ...

    def result(self, tick: int) -> Mapping[str, Any]:
        """What a round came to, or how it stands."""
        ...

    def status(self) -> Mapping[str, Any]: ...

    def take(self, tick: int, body: bytes, ticket: str) -> None:
        """A client's report; kept when this returns."""
        ...

    def tell(self, tick: int, step: str, message: bytes, shown: str) -> tuple[bytes, str]:
        """A message of the other server with the mark it showed; the answer, and our mark on it."""
        ...


class LabPort(Protocol):
    """The Playground: what is asked and answered are plain JSON types, passed through unread.

    Both may hold a confidential series: they belong to the tab that asked, and to no log. What is refused is refused in
    words that never repeat what was sent. Called from worker threads.
    """

    def choices(self) -> Mapping[str, Any]:
        """What a page can choose from: samples, units, strengths, methods, limits."""
        ...

    def series(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """A sample, or a table that was dropped: its columns and the chosen series."""
        ...

    def run(self, asked: Mapping[str, Any]) -> Generator[Mapping[str, Any], None, None]:
        """One method over a whole series: what was done so far, again and again, and the result at last.

        All that can be refused is refused before the first answer. Raises `Overloaded` where too much is running.
        """
        ...

    def plan(self, asked: Mapping[str, Any]) -> Generator[Mapping[str, Any], None, None]:
        """What accuracy each method buys, on a series that is public or simulated; in the way of `run`."""
        ...

    def days(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """A sample person, or a table of days that was dropped: how many, how long, which contexts."""
        ...

    def contexts(self, asked: Mapping[str, Any]) -> Generator[Mapping[str, Any], None, None]:
        """What each policy shows of some of the days, and what is believed then; in the way of `run`."""
        ...

    def script(self, asked: Mapping[str, Any]) -> str:
        """The Python that repeats a run."""
        ...

    def personal(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """A made-up town, a cut in it, the results that are sent for a place, and what that tells."""
        ...

    def begin(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """A live run that is given one value after another; its name and its promise."""
        ...

    def step(self, run: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Release the next value of a live run."""
        ...

    def end(self, run: str) -> None:
        """Forget a live run."""
        ...

    def close(self) -> None:
        """Stop what is running, forget the rest."""
        ...
