"""HEAD: what GET would say of itself, without the body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Head:
    """Answers HEAD wherever GET is answered, as link checkers and load balancers expect.

    The application sees a GET whose reader leaves after the headers, so that a live connection ends by itself.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        started = False

        async def receive_until_started() -> Message:
            return {"type": "http.disconnect"} if started else await receive()

        async def send_head(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                await send(message)
                await send({"type": "http.response.body", "body": b""})

        await self._app({**scope, "method": "GET"}, receive_until_started, send_head)
