"""Counts that somebody else made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hubbub.collect.calendar import Calendar
from hubbub.confidential import Counts
from hubbub.released import Domain


@dataclass(frozen=True, slots=True)
class ReadyMade:
    """Counting where there is nothing left to count: a tick with its counts is final when it comes.

    The bound is the promise of whoever counted: counts cannot be bounded after the fact.

    >>> from datetime import UTC, datetime, timedelta
    >>> from hubbub.released import Keys
    >>> day = Calendar(datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=1))
    >>> ReadyMade(Keys(["front"]), day).add((1, {"front": 812}))
    [Counts(tick=1 (2026-01-02T00:00:00+00:00, 86400 s), 1 keys, <confidential>)]
    """

    keys: Domain
    calendar: Calendar

    def add(self, given: tuple[int, Mapping[str, int]], /) -> list[Counts]:
        tick, values = given
        return [Counts.of(self.keys, self.calendar.tick(tick), values)]
