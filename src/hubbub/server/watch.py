"""Verifies the ledgers now and then, so that a page can say when that was last done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from hubbub.errors import HubbubError
from hubbub.masking import masked
from hubbub.server.clock import Clock
from hubbub.server.faults import place_of
from hubbub.server.feed import Feed
from hubbub.store import Store

log = logging.getLogger("hubbub.server")

SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the last walk over a ledger found."""

    at: datetime
    ok: bool
    words: str


class LedgerWatch:
    """Walks every ledger in a worker thread, at the start and every ten minutes.

    A promise is that of a grant: a stream's verdict is about all ledgers of its grant.
    """

    def __init__(self, store: Store, feed: Feed, clock: Clock) -> None:
        self._store = store
        self._feed = feed
        self._clock = clock
        self._verdicts: dict[str, Verdict] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        return self._verdicts

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def look(self) -> None:
        verdicts: dict[str, Verdict] = {}
        for stream in self._feed.streams:
            grant = stream.part.grant.name
            if grant not in verdicts:
                verdicts[grant] = await self._verify(grant)
            self._verdicts[stream.name] = verdicts[grant]

    async def _verify(self, grant: str) -> Verdict:
        try:
            shares = (await asyncio.to_thread(self._store.grant, grant)).shares
            results = [await asyncio.to_thread(self._store.verify, name) for name in shares]
        except Exception as error:  # whatever it was, the page must say that the ledger was not verified
            what = error.code if isinstance(error, HubbubError) else f"{type(error).__name__} at {place_of(error)}"
            return Verdict(self._clock(), False, f"could not be verified: {what}")
        broken = [one for one in results if not one.ok]
        lines = sum(one.debits for one in results)
        if broken:
            # What exactly is wrong may quote the store: that is for its owner, the page tells where.
            log.error("the ledger is broken: %s", masked(str(broken[0].faults[0])))
        words = _where(broken[0].faults[0].tick) if broken else f"{lines:,} lines, none changed"
        return Verdict(self._clock(), not broken, words)

    async def _run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(SECONDS if self._verdicts else 5.0)


def _where(tick: int | None) -> str:
    return "broken; the server's log says how" if tick is None else f"broken at tick {tick:,}"
