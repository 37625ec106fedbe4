"""What the server refuses, and which HTTP status each refusal has.

    RequestRefused
    ├── BadRequest           400   a body or a header that cannot be read
    ├── TokenMissing         401   this needs a token, or the one given is unknown or revoked
    ├── RoleMissing          403   the token has another role
    ├── NotFound             404
    ├── MethodNotAllowed     405
    ├── NotAcceptable        406   no such format
    ├── TooSlow              408   a head or a body that took too long
    ├── RequestTooFine       409   a context that is told in more detail than the server wants to know
    ├── BodyTooLarge         413
    ├── UnsupportedMedia     415
    ├── InvalidRequest       422   a parameter that cannot be right
    │   ├── KeyReused                an idempotency key that belongs to another body
    │   └── TickNotOver              a tick that lies in the future
    ├── HeadTooLong          431
    ├── TooManyViewers       503
    ├── TooManyConnections   503
    └── NotOffered           501   this server only reads

Every answer of this kind has the one shape `{"error": {"code", "message", "hint"}}`. None echoes what was sent: a body
may hold what must not be seen, and an answer may end up in a log. All other errors of the house are answered in fixed
words (`server/public.py`): what they say is for whoever runs the server.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from fastapi.responses import JSONResponse

from hubbub.errors import (
    GatherRefusal,
    GatherUnavailable,
    HubbubError,
    Overloaded,
    PrivacyRefusal,
    SourceUnavailable,
    StoreError,
    StoreUnavailable,
    TickOutOfOrder,
    TickTaken,
    UnknownStream,
    WrongUse,
)
from hubbub.server.public import fixed_words


class RequestRefused(HubbubError):
    status: ClassVar[int] = 400


class BadRequest(RequestRefused): ...


class TokenMissing(RequestRefused):
    status = 401


class RoleMissing(RequestRefused):
    status = 403


class NotFound(RequestRefused):
    status = 404


class MethodNotAllowed(RequestRefused):
    status = 405


class NotAcceptable(RequestRefused):
    status = 406


class TooSlow(RequestRefused):
    status = 408


class RequestTooFine(RequestRefused):
    status = 409


class BodyTooLarge(RequestRefused):
    status = 413


class UnsupportedMedia(RequestRefused):
    status = 415


class InvalidRequest(RequestRefused):
    status = 422


class KeyReused(InvalidRequest): ...


class TickNotOver(InvalidRequest): ...


class HeadTooLong(RequestRefused):
    status = 431


class NotOffered(RequestRefused):
    status = 501


class TooManyViewers(RequestRefused):
    status = 503


class TooManyConnections(RequestRefused):
    status = 503


_STATUS: tuple[tuple[type[HubbubError], int], ...] = (
    (UnknownStream, 404),
    (TickTaken, 409),
    (TickOutOfOrder, 409),
    (PrivacyRefusal, 409),
    (GatherRefusal, 409),
    (GatherUnavailable, 503),
    (WrongUse, 422),
    (Overloaded, 429),
    (StoreUnavailable, 503),
    (SourceUnavailable, 503),
)

_RETRY_SECONDS = {503: 5}


def status_of(error: HubbubError) -> int:
    """The HTTP status of any refusal in the house; 500 where none fits.

    >>> status_of(Overloaded("The queue is full.")), status_of(NotFound("No such page."))
    (429, 404)
    """
    if isinstance(error, RequestRefused):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def words_of(error: HubbubError, *, of_the_lab: bool = False) -> tuple[str, str]:
    """Message and hint as they may be said.

    The Lab speaks to whoever sits at this machine, in words of its own; what the store says is not among them.
    """
    own = isinstance(error, RequestRefused) or (of_the_lab and not isinstance(error, StoreError))
    return (error.message, error.hint) if own else fixed_words(error)


def body_of(error: HubbubError, *, of_the_lab: bool = False) -> dict[str, Any]:
    message, hint = words_of(error, of_the_lab=of_the_lab)
    return {"error": {"code": error.code, "message": message, "hint": hint}}


def headers_of(error: HubbubError) -> dict[str, str]:
    status = status_of(error)
    if isinstance(error, Overloaded):
        return {"Retry-After": str(max(1, math.ceil(error.retry_after)))}
    if isinstance(error, TokenMissing):
        return {"WWW-Authenticate": 'Bearer realm="hubbub"'}
    if status in _RETRY_SECONDS:
        return {"Retry-After": str(_RETRY_SECONDS[status])}
    return {}


def answer(error: HubbubError, headers: dict[str, str] | None = None, *, of_the_lab: bool = False) -> JSONResponse:
    """The one error shape."""
    body = body_of(error, of_the_lab=of_the_lab)
    return JSONResponse(body, status_of(error), {**headers_of(error), **(headers or {})})
