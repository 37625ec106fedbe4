"""When nobody could send to us, though we were not down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

STILL = timedelta(seconds=2)
"""Two looks that lie further apart than this, with nothing done between them, show that the process stood still."""

RESEND = timedelta(seconds=2)
"""How long senders who could not reach us may take to come back."""

RETRY = timedelta(seconds=5)
"""How long senders who were refused wait before they try again: we ask them to (`Retry-After`)."""

_KEPT = 100


@dataclass(slots=True)
class _Span:
    first: datetime
    last: datetime
    back: timedelta
    """How long after its end those who could not send may take to come back."""


class ShutTimes:
    """Remembers when events could not be taken: the process stood still (a container that was paused, a machine without
    memory), or the source refused what came (a full disk).

    A tick that people could not send their events to in time has too low a count, and must not pass for a measurement.
    Nobody is waited for longer than a sender takes to come back: what is not sent again is not known here.

    >>> from datetime import UTC
    >>> steady, now = [0.0], datetime(2026, 1, 1, tzinfo=UTC)
    >>> shut = ShutTimes(lambda: steady[0])
    >>> shut.look(now, takes_events=True)
    >>> steady[0] = 8.0  # the next look comes eight seconds later
    >>> shut.look(now + timedelta(seconds=8), takes_events=True)
    >>> second = timedelta(seconds=1)
    >>> shut.within(now + 3 * second, now + 4 * second, now + 5 * second)
    True
    """

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._seen: tuple[float, datetime] | None = None
        self._refusing: _Span | None = None
        self._spans: list[_Span] = []

    def look(self, now: datetime, *, takes_events: bool) -> None:
        """Called again and again, by a thread that does nothing else."""
        reading = self._steady()
        before = now if self._seen is None else self._seen[1]
        if self._seen is not None and reading - self._seen[0] > STILL.total_seconds():
            self._add(_Span(before, now, RESEND))
        if self._refusing is not None:
            self._refusing.last = now  # it may have lasted until just now
        elif not takes_events:
            self._refusing = _Span(before, now, RETRY)  # and may have begun right after the last look
            self._add(self._refusing)
        if takes_events:
            self._refusing = None
        self._seen = reading, now

    def awake(self) -> None:
        """Whoever looks was busy until now, and did not stand still."""
        if self._seen is not None:
            self._seen = self._steady(), self._seen[1]

    def within(self, begins: datetime, ends: datetime, closes: datetime) -> bool:
        """Whether events of the tick from `begins` to `ends` may have been kept away until it closed."""
        return any(span.first < ends and begins < span.last and closes <= span.last + span.back for span in self._spans)

    def _add(self, span: _Span) -> None:
        self._spans = [*self._spans[1 - _KEPT :], span]
