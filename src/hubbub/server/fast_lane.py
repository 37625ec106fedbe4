"""A short way in for what comes most often: a small batch of events from a sender who was here a moment ago."""

from __future__ import annotations

import re
from functools import partial

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hubbub.errors import HubbubError
from hubbub.server.access import may_send
from hubbub.server.desk import Desk
from hubbub.server.errors import RequestRefused, answer
from hubbub.server.media import NDJSON
from hubbub.server.senders import Sender

KEY = r"^[!-~]+$"
LONGEST_KEY = 200

SMALL = 64 * 2**10
"""The largest body that goes this way: it is in memory anyway by the time it is looked at."""

_BEGIN, _END = "/v1/streams/", "/events"
_KINDS = {kind.encode() for kind in NDJSON}
_KEY = re.compile(rb"[!-~]{1,200}")


class FastLane:
    """Answers `POST /v1/streams/NAME/events` where nothing about the request is out of the ordinary.

    Everything else goes the long way, which makes every check again and has the words for every refusal: this one only
    ever says yes, or what the pipeline says. Most of what a request costs otherwise are layers that look for what is
    not there.
    """

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app, self._desk = app, desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or not scope["path"].endswith(_END):
            await self._app(scope, receive, send)
            return
        plain = self._ordinary(scope)
        request = None if plain is None else await self._from_sender(*plain)
        if request is None:
            await self._app(scope, receive, send)
            return
        first = await receive()
        if first["type"] != "http.request" or first.get("more_body"):
            await self._app(scope, _again(first, receive), send)
            return
        await self._take(request, first.get("body", b""), scope, receive, send)

    async def _take(
        self, request: tuple[str, Sender, str | None], body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        stream, sender, key = request
        intake, events = self._desk.intake, self._desk.events
        assert events is not None
        try:
            with intake.holding(body):
                receipt = await intake.push_soon(events, stream, body, key, sender.id)
        except HubbubError as error:
            if not isinstance(error, RequestRefused):
                self._desk.owners.note(error)
            await answer(error)(scope, receive, send)
            return
        text = receipt_text(receipt.accepted, receipt.malformed, receipt.duplicate)
        headers = [
            (b"content-length", b"%d" % len(text)),
            (b"content-type", b"application/json"),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body", "body": text})

    async def _from_sender(self, stream: str, token: str, key: str | None) -> tuple[str, Sender, str | None] | None:
        senders = self._desk.senders
        try:
            sender = senders.known(token) or await senders.renewed(token, partial(may_send, self._desk))
        except HubbubError:  # the long way has the words
            return None
        return None if sender is None else (stream, sender, key)

    def _ordinary(self, scope: Scope) -> tuple[str, str, str | None] | None:
        """Stream, token and key, where all is plain; None sends it the long way."""
        path, desk = scope["path"], self._desk
        stream = path[len(_BEGIN) : -len(_END)]
        if not path.startswith(_BEGIN) or desk.events is None or desk.media is not NDJSON or not desk.feed.has(stream):
            return None
        token = kind = length = key = None
        for name, value in scope["headers"]:
            if name == b"authorization" and token is None:
                token = value
            elif name == b"content-type" and kind is None:
                kind = value
            elif name == b"content-length" and length is None:
                length = value
            elif name == b"idempotency-key" and key is None:
                key = value
            elif name in _SPECIAL:  # or one of the four a second time
                return None
        if kind not in _KINDS or length is None or not length.isdigit() or len(length) > 6:
            return None
        if int(length) > min(SMALL, desk.settings.max_body) or (key is not None and not _KEY.fullmatch(key)):
            return None
        if token is None or token[:7] != b"Bearer " or not token.isascii():
            return None
        return stream, token[7:].decode().strip(), None if key is None else key.decode()


_SPECIAL = {
    b"authorization", b"content-type", b"content-length", b"idempotency-key", b"content-encoding",
    b"transfer-encoding", b"expect",
}  # fmt: skip


def receipt_text(accepted: int, malformed: int, duplicate: bool) -> bytes:
    """What the sender gets, byte for byte the same on both ways.

    >>> receipt_text(2, 0, False)
    b'{"accepted":2,"malformed":0,"duplicate":false}'
    """
    return b'{"accepted":%d,"malformed":%d,"duplicate":%s}' % (accepted, malformed, b"true" if duplicate else b"false")


def _again(first: Message, receive: Receive) -> Receive:
    """`receive` with what was taken out of it put back in front."""
    waiting = [first]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
