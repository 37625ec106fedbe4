"""Where to go on after a restart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hubbub.collect.calendar import aware
from hubbub.collect.clock import Clock
from hubbub.collect.source import Source
from hubbub.confidential import Cut
from hubbub.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class Resume:
    """What a collector is told of the time before it. No session and no count was kept: only times and positions.

    | field | meaning |
    |---|---|
    | `tick` | the last tick that may have been released; no earlier tick is given out again |
    | `start` | when tick 0 began |
    | `cut` | where the source is read again |
    | `again` | the cuts after it, to be made again where they were: what was late stays late |
    | `since` | nothing from before this moment is known; None: there was nothing before |
    | `lost` | the past is lost: it is read from the source's present end, and the next cut says so |

    >>> from datetime import UTC
    >>> moment = datetime(2026, 1, 1, tzinfo=UTC)
    >>> Resume(3, moment, Cut(-1, moment, {})).since is None
    True
    """

    tick: int
    start: datetime
    cut: Cut
    again: tuple[Cut, ...] = ()
    since: datetime | None = None
    lost: bool = False

    def __post_init__(self) -> None:
        if self.tick < -1:
            raise InvalidParameter(f"`tick` must be the last tick given out, or -1; got {self.tick}.")
        aware(self.start, "start")

    @classmethod
    def of(
        cls,
        cuts: Sequence[Cut],
        tick: int,
        start: datetime,
        needed: Sequence[datetime],
        source: Source,
        clock: Clock,
    ) -> Resume:
        """Open `source` at an old cut from which all that can still count is read again, or say that the past is lost.

        `needed` are moments from which on to read: the best, and what will do if the source does not reach back so far
        (none: from the very beginning). The past is lost where the source is another one, or cannot prove that it still
        has everything. Once lost it stays lost, even if a later process could prove it: the cuts since then were made
        by one that had not read what lay between.
        """
        mine = _own(cuts, source.identity)
        moments: Sequence[datetime | None] = needed or [None]
        for at in dict.fromkeys(_oldest_needed(mine, tick, moment) for moment in moments if mine):
            if source.open(mine[at].frontier) and source.unchanged([cut.frontier for cut in mine[at + 1 :]]):
                since = None if mine[at].tick < 0 else max(cut.time for cut in cuts if cut.tick <= mine[at].tick)
                return cls(tick, start, mine[at], tuple(mine[at + 1 :]), since)
        here = start_at_the_end(source, max([tick, *(cut.tick for cut in cuts)]), clock)
        since = max([here.time, *(cut.time for cut in cuts)])  # the clock may have been set back
        return cls(tick, start, here, since=since, lost=True)


def start_at_the_end(source: Source, tick: int, clock: Clock) -> Cut:
    """Open `source` where it ends at present: what it holds from before is nobody's business any more.

    The clock is read last. What came until that moment may lie before the end and is not read; looking for a lost past
    may have taken long.
    """
    source.open({})
    frontier = source.frontier() or {}
    if frontier:
        source.open(frontier)
    return Cut(tick, clock(), frontier, source.identity, shared=source.shared)


def oldest_needed(cuts: Sequence[Cut], tick: int, needed: Sequence[datetime]) -> Cut | None:
    """The cut from which a restart after `tick` would read; everything before it can be forgotten."""
    return cuts[_oldest_needed(cuts, tick, needed[0] if needed else None)] if cuts else None


def _oldest_needed(cuts: Sequence[Cut], tick: int, moment: datetime | None) -> int:
    if moment is None:
        return 0
    chosen = 0
    for i, cut in enumerate(cuts):
        if cut.time > moment or cut.tick > tick:  # the clock may have gone back since: then no later one will do
            break
        chosen = i
    return chosen


def _own(cuts: Sequence[Cut], identity: str) -> list[Cut]:
    """The newest cuts without a break that were made for this source: an older one of its own has a hole behind it."""
    found: list[Cut] = []
    for cut in reversed(cuts):
        if cut.source != identity:
            break
        found.append(cut)
        if cut.begins_anew:
            break
    return found[::-1]
