"""Spans and moments in words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from hubbub.released import Tick

Clock: TypeAlias = Callable[[], datetime]

_STEPS = (("year", 365 * 86400), ("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))


def now() -> datetime:
    """The clock of production."""
    return datetime.now(UTC)


def span(length: timedelta) -> str:
    """A length of time in its largest unit that is still honest.

    >>> span(timedelta(seconds=10)), span(timedelta(hours=1)), span(timedelta(minutes=90)), span(timedelta(days=400))
    ('10 seconds', '1 hour', '90 minutes', '400 days')
    """
    seconds = length.total_seconds()
    for name, size in _STEPS:
        many = seconds / size
        if many == 1 or (many >= 1 and many == int(many)) or (many >= 2 and size < 86400):
            shown = f"{many:.0f}" if many >= 2 else f"{many:g}"
            return f"{shown} {name}{'' if many == 1 else 's'}"
    return f"{seconds:.3g} seconds"


def ticks(count: int, tick: Tick | None) -> str:
    """`count` ticks as a length of time, or as a number of ticks where they have no clock time.

    >>> ticks(360, Tick(0, datetime(2026, 1, 1, tzinfo=UTC), timedelta(seconds=10))), ticks(360, Tick(0))
    ('1 hour', '360 ticks')
    """
    if tick is None or tick.length is None:
        return f"{count:,} tick{'' if count == 1 else 's'}"
    return span(count * tick.length)


def moment(tick: Tick | None) -> str:
    """When a tick ended, to the second, in UTC; its number where it has no clock time.

    >>> moment(Tick(0, datetime(2026, 1, 1, tzinfo=UTC), timedelta(seconds=10)))
    '2026-01-01 00:00:10 UTC'
    """
    if tick is None:
        return ""
    end = end_of(tick)
    return f"tick {tick.index:,}" if end is None else end.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def end_of(tick: Tick) -> datetime | None:
    return None if tick.start is None or tick.length is None else tick.start + tick.length


def is_stale(tick: Tick | None, arrived: datetime | None, at: datetime) -> bool:
    """Whether the next release is overdue: three ticks and two seconds without news. Unknown lengths cannot tell."""
    if tick is None or tick.length is None or arrived is None:
        return False
    return at - arrived > 3 * tick.length + timedelta(seconds=2)
