"""Where to go on after a restart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from hubbub.collect.calendar import aware
from hubbub.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class Resume:
    """What is kept of a collector on disk: no session, no count; only times and positions in the source.

    | field | meaning |
    |---|---|
    | `tick` | the last tick that may have been released; no earlier tick is given out again |
    | `start` | when tick 0 began |
    | `positions` | where to read the source again |
    | `since` | everything that came in after this moment lies behind `positions`; None: they are the very beginning |
    | `ahead` | how far in the future an event could then claim to be |

    Positions in a file tell roughly how much was written: keep them with the curator's other secrets.

    >>> from datetime import UTC
    >>> Resume.from_dict(Resume(3, datetime(2026, 1, 1, tzinfo=UTC)).to_dict()).tick
    3
    """

    tick: int
    start: datetime
    positions: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    ahead: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        if self.tick < -1:
            raise InvalidParameter(f"`tick` must be the last tick given out, or -1; got {self.tick}.")
        aware(self.start, "start")
        if self.since is not None:
            aware(self.since, "since")

    def forgotten(self, now: datetime) -> Resume:
        """The same if the source could not go back: nothing from before `now` is known."""
        return replace(self, since=now)

    def to_dict(self) -> dict[str, Any]:
        since = None if self.since is None else self.since.isoformat()
        return {
            "tick": self.tick,
            "start": self.start.isoformat(),
            "positions": dict(self.positions),
            "since": since,
            "ahead_seconds": self.ahead.total_seconds(),
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Resume:
        since = None if facts["since"] is None else datetime.fromisoformat(facts["since"])
        start, ahead = datetime.fromisoformat(facts["start"]), timedelta(seconds=facts["ahead_seconds"])
        return cls(facts["tick"], start, dict(facts["positions"]), since, ahead)
