"""Who is asking, and what they may do."""

from __future__ import annotations

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from hubbub.server.desk import Desk
from hubbub.server.errors import RoleMissing, TokenMissing
from hubbub.server.senders import Sender

ROLES = ("reader", "curator", "ingest")
COOKIE = "hubbub_token"
LONGEST_TOKEN = 200

_INCLUDED = {"reader": {"reader", "curator"}, "curator": {"curator"}, "ingest": {"ingest"}}
"""Who may do what: a curator may read. Nobody sends data but those whose token says so."""


async def require(request: Request, desk: Desk, role: str) -> None:
    """Raise where the request does not come from someone of that role."""
    if role == "reader" and desk.settings.public:
        return
    token = bearer(request) or request.cookies.get(COOKIE)
    await _token_of(desk, token, role)


async def require_sender(request: Request, desk: Desk) -> Sender:
    """Who sends; raise where it is nobody who may."""
    # A cookie travels by itself with requests that other sites cause: good enough for looking, never for sending.
    token = bearer(request)
    known = desk.senders.known(token) if token else None
    return known or desk.senders.remember(await _token_of(desk, token, "ingest"))


async def may_send(desk: Desk, token: str) -> bool:
    """Whether the store says that this token may send."""
    return await role_of(desk, token) in _INCLUDED["ingest"]


async def _token_of(desk: Desk, token: str | None, role: str) -> str:
    if not token:
        raise TokenMissing(
            f"This needs a token of the role {role!r}.", "Send it as `Authorization: Bearer TOKEN`; see `hubbub token`."
        )
    granted = await role_of(desk, token)
    if granted is None:
        raise TokenMissing("This token is unknown or was revoked.", "Ask the curator for a new one.")
    if granted not in _INCLUDED[role]:
        raise RoleMissing(f"This needs a token of the role {role!r}; this one has another.", "See `hubbub token list`.")
    return token


async def may(request: Request, desk: Desk, role: str) -> bool:
    """Like `require`, for pages that show something else instead."""
    try:
        await require(request, desk, role)
    except (TokenMissing, RoleMissing):
        return False
    return True


async def role_of(desk: Desk, token: str) -> str | None:
    """The role of a token; None if it is unknown or revoked. Asked anew each time, so that revoking works at once.

    The store looks for the SHA-256 of the token. How long that takes depends on the hash alone, which nobody can steer
    towards a stored one, so there is no timing to learn from.
    """
    if len(token) > LONGEST_TOKEN or not token.isascii():
        return None
    known = await run_in_threadpool(desk.store.tokens.lookup, token)
    return None if known is None else known.role


def bearer(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def same_site(request: Request) -> None:
    """A page of another site may not send anything in the name of whoever looks at it."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site not in (None, "same-origin", "none") or (
        origin is not None and origin.partition("://")[2] != request.headers.get("host", "")
    ):
        raise RoleMissing("This was sent by a page of another site.", "Open the page here and try again.")
