"""The outermost layer: security headers on every answer, and no exception that tells what it saw."""

from __future__ import annotations

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hubbub.errors import HubbubError
from hubbub.server.errors import answer
from hubbub.server.faults import place_of
from hubbub.server.metrics import Meters
from hubbub.server.settings import ServerSettings
from hubbub.server.sparing import Sparing


class InternalError(HubbubError): ...


class Guard:
    """Wraps the whole application.

    An unforeseen exception may carry anything in its message or its frames, a confidential value too. It is answered
    with a plain 500 and logged by type and place only.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings, meters: Meters, sparing: Sparing) -> None:
        self._app, self._sparing = app, sparing
        self._meters = meters
        self._headers = [
            (b"content-security-policy", policy(settings).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),  # with a stricter one a form's Origin would read "null"
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
        ]
        if settings.frame_ancestors == "'none'":
            self._headers.append((b"x-frame-options", b"DENY"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                route = scope.get("route")
                if route is not None and scope["method"] == "GET":
                    self._meters.answered(route.path, message["status"])
                have = {name.lower() for name, _ in message.get("headers", [])}
                extra = [header for header in self._headers if header[0] not in have]
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        try:
            await self._app(scope, receive, send_guarded)
        except Exception as error:
            what = f"{type(error).__name__} at {place_of(error)}"
            self._sparing.say(what, what, level=logging.ERROR, counted=False)
            if not started:
                refusal = InternalError(
                    "Something went wrong inside the server.", "It is in the server's log, by type and place."
                )
                await answer(refusal)(scope, receive, send_guarded)


def policy(settings: ServerSettings, more: str = "") -> str:
    """Nothing from elsewhere: no script, style, font, picture or connection of another origin."""
    return (
        "default-src 'self'; base-uri 'none'; form-action 'self'; object-src 'none'; "
        f"frame-ancestors {settings.frame_ancestors}{more}"
    )
