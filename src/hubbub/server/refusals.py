"""What is answered before there is a request: whole answers, in the one shape of all refusals, made once."""

from __future__ import annotations

import json
from http import HTTPStatus

from hubbub.server.errors import (
    BadRequest,
    HeadTooLong,
    RequestRefused,
    TooManyConnections,
    TooSlow,
    body_of,
    headers_of,
)


def whole(error: RequestRefused) -> bytes:
    """Head and body of an answer after which the line is closed."""
    body = json.dumps(body_of(error)).encode()
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "connection": "close",
        **headers_of(error),
    }
    lines = [f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}", *(f"{n}: {v}" for n, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


NO_REQUEST = whole(BadRequest("This is no HTTP request that can be read; nothing was taken.", "Send HTTP/1.1."))
TOO_MANY_PIPELINED = whole(
    BadRequest("Too many requests wait behind one that is being answered.", "Wait for an answer before you ask again.")
)
TOO_LONG = whole(HeadTooLong("The head of the request is longer than 32 KiB.", "Send fewer or shorter headers."))
TOO_SLOW = whole(TooSlow("The request came too slowly; nothing of it was taken.", "Send it again, faster."))
TOO_MANY = whole(TooManyConnections("All connections are in use.", "Try again in a few seconds."))
