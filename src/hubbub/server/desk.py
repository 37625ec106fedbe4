"""Everything that a request may need, in one place."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from hubbub.server.clock import Clock
from hubbub.server.feed import Feed
from hubbub.server.metrics import Meters
from hubbub.server.ports import CountsPort, EventPort, StatusPort, TruthPort
from hubbub.server.questions import Questions
from hubbub.server.ranges import Ranges
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
    meters: Meters = field(default_factory=Meters)
    events: EventPort | None = None
    counts: CountsPort | None = None
    status: StatusPort | None = None
    truth: TruthPort | None = None
    adding: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    """Long sums wait for each other, so that they leave time for everyone else."""


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


TheDesk = Annotated[Desk, Depends(desk_of)]
