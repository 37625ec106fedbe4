"""Everything that a request may need, in one place."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from fastapi import Depends, Request

from hubbub.server.clock import Clock
from hubbub.server.door import room
from hubbub.server.feed import Feed
from hubbub.server.intake import Intake
from hubbub.server.lists import Lists
from hubbub.server.maps import Maps
from hubbub.server.media import NDJSON
from hubbub.server.metrics import Meters
from hubbub.server.ports import CountsPort, EventPort, ItemsPort, PulsePort, StatusPort, TruthPort
from hubbub.server.public import OwnersLog
from hubbub.server.questions import Questions
from hubbub.server.ranges import Ranges
from hubbub.server.senders import Senders
from hubbub.server.settings import ServerSettings
from hubbub.server.watch import LedgerWatch
from hubbub.store import Store


@dataclass(frozen=True)
class Desk:
    """Made once for an application; routes get it as a dependency."""

    store: Store
    settings: ServerSettings
    feed: Feed
    watch: LedgerWatch
    clock: Clock
    ranges: Ranges
    questions: Questions
    intake: Intake
    owners: OwnersLog
    lists: Lists
    maps: Maps
    senders: Senders = field(default_factory=Senders)
    meters: Meters = field(default_factory=Meters)
    events: EventPort | None = None
    counts: CountsPort | None = None
    status: StatusPort | None = None
    truth: TruthPort | None = None
    pulse: PulsePort | None = None
    items: ItemsPort | None = None
    adding: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    """Long sums wait for each other, so that they leave time for everyone else."""

    @cached_property
    def media(self) -> tuple[str, ...]:
        """Of which types a body of events may be: lines of JSON, unless whoever takes them says otherwise."""
        return getattr(self.events, "media", None) or NDJSON

    @cached_property
    def most_viewers(self) -> int:
        """A live connection is never asked to make room, so a quarter of all is kept for those who come and go."""
        return min(self.settings.max_viewers, max(1, room(self.settings) * 3 // 4))


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


TheDesk = Annotated[Desk, Depends(desk_of)]
