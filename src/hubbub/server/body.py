"""Reading a body without trusting its size."""

from __future__ import annotations

import asyncio
import json
import time

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hubbub.server.errors import BodyTooLarge, body_of
from hubbub.server.settings import ServerSettings

SMALL = 16 * 2**10
"""The largest body of anything but an ingest request: a login form."""

LAB = 2**20
"""The largest table that the Lab takes."""

_DRAIN_SECONDS = 5.0


class BodyLimit:
    """Refuses a body that is larger than allowed: at once where its length is declared, otherwise as soon as it is
    passed. No more than the limit is ever held in memory.

    After a refusal the rest is read and thrown away for a few seconds, so that the sender gets to read the answer
    instead of a broken connection.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings, lab: bool = False) -> None:
        self._app = app
        self._large = settings.max_body
        self._lab = lab

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit(scope)
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not declared.isdigit() or len(declared) > 18 or int(declared) > limit:
            await _refuse(scope["path"], limit, receive, send)
            return
        taken, started, refused = 0, False, False

        async def receive_counted() -> Message:
            nonlocal taken, refused
            message = await receive()
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                if taken > limit:
                    refused = True
                    raise ClientDisconnect  # whoever reads the body stops here; the answer is given below
            return message

        async def send_noted(message: Message) -> None:
            nonlocal started
            if refused:
                return
            started = True
            await send(message)

        try:
            await self._app(scope, receive_counted, send_noted)
        except ClientDisconnect:
            if not refused:
                return
        if refused and not started:
            await _refuse(scope["path"], limit, receive, send)

    def _limit(self, scope: Scope) -> int:
        is_ingest = scope["method"] == "POST" and scope["path"].startswith("/v1/")
        if self._lab and scope["method"] == "POST" and scope["path"].startswith("/lab/"):
            return LAB
        return self._large if is_ingest else min(SMALL, self._large)


async def _refuse(path: str, limit: int, receive: Receive, send: Send) -> None:
    error = BodyTooLarge(
        f"The body is larger than {limit:,} bytes; nothing of it was taken.",
        "Send it in several requests, each with its own Idempotency-Key."
        if path.startswith("/v1/") and path != "/v1/select"
        else "Send less.",
    )
    body = json.dumps(body_of(error)).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    deadline = time.monotonic() + _DRAIN_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        try:
            message = await asyncio.wait_for(receive(), left)
        except TimeoutError:
            break
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            break
    await send({"type": "http.response.body", "body": b"", "more_body": False})
