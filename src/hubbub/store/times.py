"""Times as whole microseconds, exact in both databases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from hubbub.released import Tick

Clock: TypeAlias = Callable[[], datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def now() -> datetime:
    """The clock of production."""
    return datetime.now(UTC)


def to_micros(time: datetime) -> int:
    """
    >>> to_micros(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (time - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return _EPOCH + micros * _MICROSECOND


def span_of(tick: Tick) -> tuple[int | None, int | None]:
    """Start and length of a tick, or nothing where it has none."""
    if tick.start is None or tick.length is None:
        return None, None
    return to_micros(tick.start), tick.length // _MICROSECOND


def tick_of(index: int, start: int | None, length: int | None) -> Tick:
    """The inverse of `span_of`; the start comes back in UTC."""
    if start is None or length is None:
        return Tick(index)
    return Tick(index, from_micros(start), length * _MICROSECOND)
