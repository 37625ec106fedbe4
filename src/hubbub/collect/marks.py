"""Remembers where in the source the collector was when."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from datetime import datetime, timedelta

from hubbub.collect.batch import Batch
from hubbub.collect.calendar import EPOCH, Calendar
from hubbub.collect.resume import Resume


class Marks:
    """One mark a tick: at this moment everything before these positions had come in.

    A restart reads again from a mark that is `span` older than the tick at which it goes on (None: from the very
    beginning).
    """

    def __init__(self, calendar: Calendar, span: timedelta | None, ahead: timedelta, resume: Resume | None) -> None:
        self._calendar, self._span, self._ahead = calendar, span, ahead
        self._origin = resume or Resume(-1, calendar.start, ahead=ahead)
        self._positions = dict(self._origin.positions)
        self._marks: deque[tuple[datetime, dict[str, str]]] = deque()
        self._begun = False

    def note(self, now: datetime, batch: Batch) -> None:
        """Before the batch is counted: what follows it came in after `now`."""
        if not self._begun and not batch.events.height and not self._origin.positions:
            # A source's first, empty batch says where its beginning is.
            self._origin = replace(self._origin, positions=dict(batch.positions))
        self._begun = True
        if self._span is not None and (not self._marks or now - self._marks[-1][0] >= self._calendar.length):
            self._marks.append((now, dict(self._positions)))
        self._positions.update(batch.positions)

    def resume_point(self, tick: int) -> Resume:
        origin = self._origin
        if self._span is not None:
            behind = EPOCH + timedelta(microseconds=self._calendar.begins(tick + 1)) - self._ahead - self._span
            while len(self._marks) > 1 and self._marks[1][0] <= behind:
                self._marks.popleft()
            if self._marks and self._marks[0][0] <= behind and self._marks[0][1]:
                since, positions = self._marks[0]
                return Resume(tick, self._calendar.start, positions, since, self._ahead)
        return Resume(tick, self._calendar.start, origin.positions, origin.since, max(origin.ahead, self._ahead))
