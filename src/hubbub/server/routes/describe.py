"""What the OpenAPI description says about answers."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel


class ErrorFacts(BaseModel):
    """`code` is for programs and stable; `message` and `hint` are for people."""

    code: str
    message: str
    hint: str


class ErrorAnswer(BaseModel):
    """The one shape of every refusal."""

    error: ErrorFacts

    CODES: ClassVar[dict[int, str]] = {
        400: "A body or a header that cannot be read.",
        401: "A token is missing, unknown or revoked.",
        403: "The token has another role.",
        404: "There is no such stream or key.",
        406: "None of the accepted formats is offered.",
        409: "It would break the promise, or the tick is taken.",
        413: "The body is too large; nothing of it was taken.",
        415: "The body is of another type.",
        422: "A parameter that cannot be right.",
        429: "More arrives than can be kept; `Retry-After` says when to try again.",
        501: "This server only reads.",
        503: "The store does not answer, or too many viewers.",
    }


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: these refusals, each in the one shape."""
    return {status: {"model": ErrorAnswer, "description": ErrorAnswer.CODES[status]} for status in statuses}
