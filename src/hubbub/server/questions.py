"""How long the ranges were that readers asked for: later range trees are chosen by it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from contextlib import suppress

from hubbub.errors import HubbubError
from hubbub.server.faults import place_of
from hubbub.store import Store

log = logging.getLogger("hubbub.server")

MOST = 256
"""Questions of one stream that wait to be written: in a flood the newest are as good as all."""

SECONDS = 1.0


class Questions:
    """Writes lengths into the store, at most once per second, however many are asked.

    Whoever may read may ask, so nothing here grows: not what waits, and not what the store keeps. A store that cannot
    be written (read-only, full, locked) is no reason to refuse an answer.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[str, deque[int]] = {}
        self._task: asyncio.Task[None] | None = None
        self._written = -SECONDS

    def note(self, stream: str, length: int) -> None:
        """Someone asked for a range of so many ticks. Returns at once."""
        self._waiting.setdefault(stream, deque(maxlen=MOST)).append(length)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_soon())

    async def stop(self) -> None:
        """Write what waits."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await asyncio.to_thread(self._write)

    async def _write_soon(self) -> None:
        while self._waiting:
            await asyncio.sleep(max(0.0, self._written + SECONDS - time.monotonic()))
            await asyncio.to_thread(self._write)
            self._written = time.monotonic()

    def _write(self) -> None:
        while self._waiting:
            stream, lengths = self._waiting.popitem()
            try:
                self._store.record_query(stream, *lengths)
            except HubbubError:
                continue
            except Exception as error:  # raised in a task of its own, it would reach a log with all that it says
                log.error("%s at %s", type(error).__name__, place_of(error))
