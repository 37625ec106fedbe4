"""What turns events into bounded counts: what a monitor needs of it, whatever it is.

Two kinds. Ready-made counts name their tick themselves (`Counting`). Where events come in, ticks close by the clock:
whoever counts is told where its source ended (`Cut`) and gives out what became final by it (`CountingByCuts`). The
collector does so in this process; a cluster would do it elsewhere, under the same promise: what one unit contributes
depends on its own events and on the cuts alone, and never exceeds the unit's bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from hubbub.collect.batch import Batch
from hubbub.collect.calendar import Calendar
from hubbub.collect.ended import Ended, PeriodEnded
from hubbub.collect.times import Live, Replay
from hubbub.confidential import Counts, Cut
from hubbub.released import Discovered, Tick

Given = TypeVar("Given", contravariant=True)


class Counting(Protocol[Given]):
    """Takes what it is given and says which ticks became final by it, in order, with their bounded counts."""

    @property
    def calendar(self) -> Calendar:
        """Where ticks lie in time."""

    def add(self, given: Given, /) -> list[Counts]: ...


class Told(Protocol):
    """Numbers about the counting itself, some of them about people."""

    def for_curator(self) -> Mapping[str, str | int | float | bool | None]: ...


class CountingByCuts(Protocol):
    """Counts events; its ticks close by cuts or, where a source is read once, on the way."""

    @property
    def calendar(self) -> Calendar:
        """Where ticks lie in time."""

    def add(self, batch: Batch, /) -> Iterable[Counts | PeriodEnded]:
        """Take what was read. Of a source that is read once: what became final by it, in order."""

    def count_by(self, keys: Discovered, /) -> None:
        """Where keys are found: what the ticks that are yet to be given out are counted by."""

    @property
    def time(self) -> Live | Replay:
        """Whether the stream is live, and how late an event may come."""

    def needed_from(self, tick: int) -> Sequence[datetime]:
        """From which moments on to read again if `tick` was the last released, the best first; none: from the start."""

    @property
    def ahead(self) -> timedelta:
        """How far ahead of the clock an event's time may be."""

    @property
    def closed(self) -> int:
        """The last tick that takes no more events; -1 while there is none."""

    @property
    def delay(self) -> timedelta:
        """How long after its end a tick becomes final, if the source keeps up."""

    @property
    def statistics(self) -> Told:
        """For the curator only."""

    @property
    def remark(self) -> str:
        """What its owner should know of what came lately, and nobody else; empty if nothing."""

    def cut(self, cut: Cut) -> Iterable[Ended | PeriodEnded]:
        """Close the ticks up to the cut's; those that became final by it, in order, empty ones included.

        Where keys are found, periods that end stand in between; `count_by` then says what the next ticks count.
        """

    def doubt_of(self, tick: Tick) -> str:
        """Why the counts of a tick that was given out may not pass for a measurement; empty where they may."""

    def drain(self) -> Iterator[Counts | PeriodEnded]:
        """The stream is over: the counts of all ticks that have ended."""
