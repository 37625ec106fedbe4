"""Where bodies are held on their way in, and handed to the pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import TypeAlias, cast

from fastapi import Request

from hubbub.errors import HubbubError, Overloaded
from hubbub.server.ports import EventPort, GroupPort, Receipt
from hubbub.server.settings import ServerSettings

THREADS = 32
"""Batches that are handed over at the same time: each may wait for the disk, and one write serves all that wait."""


LINGER_SECONDS = 0.004
"""Where several send at the same time, so long is waited for those who were just answered: they share a write."""

Batch: TypeAlias = tuple[bytes, str | None, str]


class Cut(HubbubError):
    """The hand-over was broken off."""

    def __init__(self) -> None:
        super().__init__("The batch was not taken: the monitor is stopping.")


class Intake:
    """Counts the bytes that are held of all bodies together, from their arrival until the pipeline has them.

    A body that comes slowly is charged for what has come of it, so it does not keep others out; how long it may take
    is the connection's matter. Pushing has threads of its own: a slow disk does not hold up those who read.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._most = settings.max_uploads * settings.max_body
        self._held = 0
        self._waiting: dict[str, list[tuple[Batch, asyncio.Future[Receipt]]]] = {}
        self._handing: asyncio.Future[None] | None = None
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="intake")

    @asynccontextmanager
    async def body(self, request: Request) -> AsyncIterator[bytes]:
        """The whole body, held until the block ends."""
        parts, size = [], 0
        try:
            async for part in request.stream():
                size += len(part)
                self._take(len(part))
                parts.append(part)
            yield b"".join(parts)
        finally:
            self._held -= size

    @contextmanager
    def holding(self, body: bytes) -> Iterator[None]:
        """The same for a body that is here already."""
        try:
            self._take(len(body))
            yield
        finally:
            self._held -= len(body)

    async def push_soon(self, events: EventPort, stream: str, body: bytes, key: str | None, sender: str) -> Receipt:
        """Hand over a small batch, together with all others that have come by the time the last hand-over is done."""
        if not hasattr(events, "push_many"):
            return await self.push(events, stream, body, key, sender)
        answered: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(stream, []).append(((body, key, sender), answered))
        if self._handing is None:
            self._handing = asyncio.ensure_future(self._hand_over(cast(GroupPort, events)))
        return await answered

    async def _hand_over(self, events: GroupPort) -> None:
        loop, company = asyncio.get_running_loop(), False
        while self._waiting:
            if company:
                await asyncio.sleep(LINGER_SECONDS)
            stream, group = self._waiting.popitem()
            company = len(group) > 1
            try:
                answers = await loop.run_in_executor(self._pool, events.push_many, stream, [one for one, _ in group])
            except BaseException as error:  # nobody's request may wait for ever
                answers = [error if isinstance(error, Exception) else Cut()] * len(group)
            for (_, answered), answer in zip(group, answers, strict=True):
                if answered.done():  # whoever asked has gone
                    continue
                if isinstance(answer, Exception):
                    answered.set_exception(answer)
                else:
                    answered.set_result(answer)
        self._handing = None

    async def push(self, events: EventPort, stream: str, body: bytes, key: str | None, sender: str) -> Receipt:
        return await asyncio.get_running_loop().run_in_executor(self._pool, events.push, stream, body, key, sender)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _take(self, size: int) -> None:
        self._held += size
        if self._held > self._most:
            raise Overloaded("Too much is being read already; nothing was taken.", retry_after=1)
