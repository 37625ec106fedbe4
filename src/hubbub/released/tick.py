"""One discrete time step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from hubbub.errors import InvalidParameter


@dataclass(frozen=True, slots=True, order=True)
class Tick:
    """Step number `index` of a stream, and the span of clock time it stands for if it has one.

    >>> Tick(3)
    Tick(index=3)
    >>> from datetime import datetime, timedelta, UTC
    >>> print(Tick(0, datetime(2026, 1, 1, tzinfo=UTC), timedelta(seconds=10)).after())
    1 (2026-01-01T00:00:10+00:00, 10 s)
    """

    index: int
    start: datetime | None = None
    length: timedelta | None = None

    def __post_init__(self) -> None:
        if isinstance(self.index, bool) or not isinstance(self.index, int) or not 0 <= self.index < 2**62:
            raise InvalidParameter(f"A tick's index must be a whole number from 0 on; got {self.index!r}.")
        if (self.start is None) != (self.length is None):
            raise InvalidParameter("A tick has both a start and a length, or neither.", "Give both, or only the index.")
        if self.start is not None and self.start.tzinfo is None:
            raise InvalidParameter(
                "A tick's start must say its time zone, or two machines would count different days.",
                "Use datetime(…, tzinfo=datetime.UTC).",
            )
        if self.length is not None and self.length <= timedelta(0):
            raise InvalidParameter(f"A tick must last longer than nothing; got {self.length}.")

    def after(self, steps: int = 1) -> Tick:
        """The tick `steps` later."""
        if self.start is None or self.length is None:
            return Tick(self.index + steps)
        return Tick(self.index + steps, self.start + steps * self.length, self.length)

    def __repr__(self) -> str:
        times = "" if self.start is None else f", start={self.start!r}, length={self.length!r}"
        return f"Tick(index={self.index}{times})"

    def __str__(self) -> str:
        if self.start is None or self.length is None:
            return str(self.index)
        return f"{self.index} ({self.start.isoformat()}, {self.length.total_seconds():g} s)"
