"""Who sends data: tokens that were looked up a moment ago need no look into the store."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

SECONDS = 1.0
"""How long a token is taken at its word after a look into the store: a revoked one sends no longer than this."""

_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Sender:
    """A token that may send, without the token: `id` tells senders apart and opens nothing.

    `seal` is a secret that follows from the token alone. The store knows the token's hash, so it cannot know the seal.
    """

    id: str
    seal: bytes = field(repr=False)


class Senders:
    """Remembers for a second that a token may send. Lives on the event loop.

    >>> now = [0.0]
    >>> senders = Senders(lambda: now[0])
    >>> senders.known("secret") is None, senders.remember("secret") == senders.known("secret")
    (True, True)
    >>> now[0] += SECONDS
    >>> senders.known("secret") is None
    True
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[bytes, tuple[float, Sender]] = {}  # by hash: a dump of the memory shows no token here
        self._asking: dict[bytes, asyncio.Future[Sender | None]] = {}

    def known(self, token: str) -> Sender | None:
        """Who this is, if a look into the store said so within the last second."""
        entry = self._known.get(_hash(token))
        return entry[1] if entry is not None and self._clock() < entry[0] else None

    async def renewed(self, token: str, may_send: Callable[[str], Awaitable[bool]]) -> Sender | None:
        """Who this is, if the store still says so: asked once, for all that come with this token meanwhile.

        None for a token that was never known: whoever has none is not worth a look on the short way.
        """
        name = _hash(token)
        if name not in self._known:
            return None
        asking = self._asking.get(name)
        if asking is None:
            asking = self._asking[name] = asyncio.ensure_future(self._ask(name, token, may_send))
        return await asyncio.shield(asking)  # whoever asked first may hang up: the others wait all the same

    async def _ask(self, name: bytes, token: str, may_send: Callable[[str], Awaitable[bool]]) -> Sender | None:
        try:
            if await may_send(token):
                return self.remember(token)
            self._known.pop(name, None)
            return None
        finally:
            del self._asking[name]

    def remember(self, token: str) -> Sender:
        """The store has just said that this token may send."""
        name = _hash(token)
        entry = self._known.get(name)
        seal = hmac.new(token.encode(), b"hubbub: codes over counts", hashlib.sha256).digest
        sender = entry[1] if entry is not None else Sender(name.hex()[:16], seal())
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[name] = (self._clock() + SECONDS, sender)
        return sender


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
