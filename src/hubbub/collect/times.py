"""When a tick is complete: by the clock for a live stream, by a public span for a recorded one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from hubbub.collect.calendar import aware
from hubbub.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class Live:
    """Ticks close by the clock, `lateness` after their end, whatever the events say.

    An event that comes later is dropped; so is one that claims to be more than `max_ahead` in the future. Both are
    decided by that event and the clock alone: no person's event can make another's late. Tick 0 is the one that holds
    `start` (default: the moment the collector is made).

    >>> Live(lateness=timedelta(seconds=5)).max_ahead
    datetime.timedelta(seconds=10)
    """

    lateness: timedelta = timedelta(seconds=30)
    max_ahead: timedelta = timedelta(seconds=10)
    start: datetime | None = None

    def __post_init__(self) -> None:
        for name in ("lateness", "max_ahead"):
            if getattr(self, name) < timedelta(0):
                raise InvalidParameter(f"`{name}` must not be negative; got {getattr(self, name)}.")
        if self.start is not None:
            aware(self.start, "start")


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded stream over a span that is public. Events outside it are dropped.

    Without `lateness` all ticks become final at the end (`flush`), so no event can be late. With it, ticks become final
    on the way, once an event `lateness` past their end was seen; then a stream that is out of order by more is
    *refused*: dropping such events would make what is counted of one person depend on another's clock.

    `gather` is how many events are waited for before ticks are closed on the way: it makes work cheaper and changes no
    count.

    >>> from datetime import UTC
    >>> Replay(datetime(1995, 8, 1, tzinfo=UTC), datetime(1995, 8, 2, tzinfo=UTC)).lateness is None
    True
    """

    start: datetime
    end: datetime
    lateness: timedelta | None = None
    gather: int = 500_000

    def __post_init__(self) -> None:
        if aware(self.start, "start") >= aware(self.end, "end"):
            raise InvalidParameter(f"`end` must lie after `start`; got start={self.start}, end={self.end}.")
        if self.lateness is not None and self.lateness < timedelta(0):
            raise InvalidParameter(f"`lateness` must not be negative; got {self.lateness}.")
