"""One viewer's live connection."""

from __future__ import annotations

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from hubbub.server.channel import Channel
from hubbub.server.feed import Feed

HEARTBEAT_SECONDS = 15.0
"""How often a comment is sent on a quiet stream, so that proxies keep the connection and a dead one is noticed."""


ABORT = "hubbub.abort"
"""Where a connection offers, in the scope of its requests, to be cut off at once."""


class LiveResponse(Response):
    """Server-sent events from a channel until the viewer leaves, stops reading, or the server stops.

    A viewer who does not take what was sent within `send_seconds` is let go; the browser comes back by itself with
    `Last-Event-ID` and misses nothing. `missed` are events that were asked for and lie before what the channel keeps.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        channel: Channel,
        after: int | None,
        missed: bytes,
        *,
        feed: Feed,
        send_seconds: float,
        retry_milliseconds: int,
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]  # the body has no end yet
        self._channel = channel
        self._after = after
        self._first = f"retry: {retry_milliseconds}\n\n".encode() + missed
        self._send_seconds = send_seconds
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        writing = asyncio.ensure_future(self._write(send))
        leaving = asyncio.ensure_future(_left(receive))
        self._feed.viewers += 1
        try:
            await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if writing.done() and writing.result() and ABORT in scope:
                scope[ABORT]()  # what waits to be sent is thrown away, not kept for someone who does not read
                await leaving
        finally:
            self._feed.viewers -= 1
            for task in (writing, leaving):
                task.cancel()
            await asyncio.gather(writing, leaving, return_exceptions=True)

    async def _write(self, send: Send) -> bool:
        """Send until the server stops; True where the viewer took nothing for too long."""

        async def give(body: bytes, more: bool = True) -> None:
            await asyncio.wait_for(
                send({"type": "http.response.body", "body": body, "more_body": more}), self._send_seconds
            )

        try:
            await give(self._first)
            while self._feed.is_open:
                changed = self._channel.changed  # taken before looking: news in between sets it
                news = self._channel.events_after(self._after)
                if news is not None:
                    self._after, body = news
                    await give(body)
                    continue
                try:
                    await asyncio.wait_for(changed.wait(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    await give(b": still here\n\n")
            await give(b"", more=False)
        except TimeoutError:
            return True
        return False


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
