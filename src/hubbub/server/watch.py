"""Verifies the ledgers now and then, so that a page can say when that was last done."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from hubbub.errors import HubbubError
from hubbub.server.clock import Clock
from hubbub.server.faults import place_of
from hubbub.server.feed import Feed
from hubbub.store import Store

SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the last walk over a ledger found."""

    at: datetime
    ok: bool
    words: str


class LedgerWatch:
    """Walks every stream's ledger (and its companion's) in a worker thread, at the start and every ten minutes."""

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
        for stream in self._feed.streams:
            beside = self._feed.companion(stream.name)
            names = [stream.name] if beside is None else [stream.name, beside.name]
            try:
                found = [await asyncio.to_thread(self._store.verify, name) for name in names]
            except Exception as error:  # whatever it was, the page must say that the ledger was not verified
                what = error.code if isinstance(error, HubbubError) else f"{type(error).__name__} at {place_of(error)}"
                self._verdicts[stream.name] = Verdict(self._clock(), False, f"could not be verified: {what}")
                continue
            broken = [one for one in found if not one.ok]
            lines = sum(one.debits for one in found)
            words = f"broken at {broken[0].faults[0]}" if broken else f"{lines:,} lines, none changed"
            self._verdicts[stream.name] = Verdict(self._clock(), not broken, words)

    async def _run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(SECONDS if self._verdicts else 5.0)
