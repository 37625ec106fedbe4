"""One connection: bounded in what it may hold, and in the time it may take."""

from __future__ import annotations

import logging
import socket
from asyncio import AbstractEventLoop, Transport
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from hubbub.server.door import Deadlines, Door
from hubbub.server.faults import place_of
from hubbub.server.live import ABORT
from hubbub.server.refusals import NO_REQUEST, TOO_LONG, TOO_MANY, TOO_MANY_PIPELINED, TOO_SLOW
from hubbub.server.sparing import Sparing

SEND_BUFFER = 128 * 2**10
"""Bytes the kernel keeps for a viewer who does not read; its own default grows to megabytes for each."""

GONE_MILLISECONDS = 30_000
"""A connection whose other end takes nothing for this long is closed by the kernel."""

LONGEST_HEAD = 32 * 2**10
MOST_PIPELINED = 16
"""Requests that may wait behind one that is being answered: each costs memory before anyone has looked at it."""


class OneWrite:
    """A transport that sends the head of an answer together with what follows it.

    Head and body come as two writes, and each is a system call that wakes the other side: for small answers that is
    most of what they cost. A head whose body comes later goes out by itself, as soon as the loop turns.
    """

    def __init__(self, transport: Transport, loop: AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head = b""

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(b"HTTP/1.1 ") and data.endswith(b"\r\n\r\n"):
            self._head = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        self._flush()
        self._transport.abort()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class SpokenSparingly:
    """Stands where uvicorn expects a logger. What anybody can cause by sending rubbish is said once per minute."""

    level = logging.WARNING

    def __init__(self, sparing: Sparing) -> None:
        self._sparing = sparing

    def warning(self, text: str, *given: object) -> None:
        self._sparing.say(text, text % given if given else text)

    def error(self, text: str, *given: object, exc_info: BaseException | None = None) -> None:
        what = f" {type(exc_info).__name__} at {place_of(exc_info)}" if exc_info is not None else ""
        self._sparing.say(text + what, (text % given if given else text).strip() + what, level=logging.ERROR)


class Connection(HttpToolsProtocol):
    """A connection that costs little where the other end never reads, and ends where it never finishes a sentence.

    The parser is in C: what a request costs decides how many single events per second a small machine can take.
    """

    def __init__(self, door: Door, **given: Any) -> None:
        super().__init__(**given)
        self._door = door
        self.logger = SpokenSparingly(door.sparing)  # type: ignore[assignment]
        self._refusal = NO_REQUEST  # what is answered if the parser gives up
        self._since = door.clock()  # when what is waited for began
        self._head = 0  # bytes of a head that is not complete
        self._in_body = False
        self._came = 0  # bytes that came, of anything
        self._mark = (self._since, 0, 0)  # at the last look at the pace: when, bytes that came, bytes still to send

    # ── what happens on the line ─────────────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        if not self._door.enter(self):
            transport.write(TOO_MANY)
            transport.close()
            self.transport = transport
            return
        held = transport.get_extra_info("socket")
        if held is not None and held.family != getattr(socket, "AF_UNIX", None):
            held.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                held.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, GONE_MILLISECONDS)
        super().connection_made(cast(Transport, OneWrite(transport, self.loop)))

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.parser is None or self.transport.is_closing():  # turned away, or cut off: what still comes is nothing
            return
        self._came += len(data)
        if not self._in_body:
            if not self._head:
                self._since = self._door.clock()
            self._head += len(data)
        super().data_received(data)
        if self._head > LONGEST_HEAD and not self.transport.is_closing():
            self._refuse(TOO_LONG)

    # ── what the parser finds ────────────────────────────────────────────────────────────────────────────────────

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[ABORT] = self.transport.abort  # type: ignore[literal-required]

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= MOST_PIPELINED:
            self._refusal = TOO_MANY_PIPELINED
        elif _size(self.url, self.headers) > LONGEST_HEAD:
            self._refusal = TOO_LONG
        if self._refusal is not NO_REQUEST:
            raise ValueError("more than is taken")  # the parser stops, and `send_400_response` is called
        super().on_headers_complete()
        self._head, self._in_body = 0, True
        self._since = self._door.clock()
        self._mark = (self._since, self._came, 0)
        self._door.asks(self)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_body, self._head = False, 0
        self._mark = (self._door.clock(), self._came, 0)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:  # and none is waiting behind it
            self._since = self._door.clock()
            self._door.waits(self)

    # ── whose time is over ───────────────────────────────────────────────────────────────────────────────────────

    def is_overdue(self, now: float, allowed: Deadlines) -> bool:
        """Whether this connection has had its time. What waits for us (a live viewer, a long sum) has no end here."""
        if self._in_body:
            return self._body_is_late(now, allowed)
        # An answer can be complete for us and still wait to be taken.
        if self.cycle is not None and (not self.cycle.response_complete or self.transport.get_write_buffer_size()):
            return self._answer_is_stuck(now, allowed)
        # Idle between two requests is the keep-alive's matter; a head that has begun, or a first one, has a deadline.
        return (self._head > 0 or self.cycle is None) and now - self._since > allowed.head

    def _body_is_late(self, now: float, allowed: Deadlines) -> bool:
        at, came, _ = self._mark
        if self.flow.read_paused:  # it is we who do not read
            self._mark, self._since = (now, self._came, 0), now
            return False
        if now - self._since > allowed.body:
            return True
        if now - at < allowed.pace:
            return False
        self._mark = (now, self._came, 0)
        return self._came - came < allowed.rate * (now - at)

    def _answer_is_stuck(self, now: float, allowed: Deadlines) -> bool:
        at, came, before = self._mark
        left = self.transport.get_write_buffer_size()
        if not left or not before or left > before:
            self._mark = (now, came, left)
            return False
        if now - at < allowed.send:
            return False
        self._mark = (now, came, left)
        return before - left < allowed.rate * (now - at)

    def drop(self) -> None:
        """Cut off, at once: what waits to be sent is thrown away."""
        if self.transport.is_closing():
            return
        asked_and_unanswered = self._head > 0 or (self._in_body and not self.cycle.response_started)
        if asked_and_unanswered:
            self.transport.write(TOO_SLOW)
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """In the one shape of all refusals; uvicorn would send plain text."""
        del msg
        self._refuse(self._refusal)

    def _unsupported_upgrade_warning(self) -> None:
        """Whoever asks for a WebSocket is answered as if they had not."""
        self.logger.warning("Somebody asked for a WebSocket; there is none here.")

    def _refuse(self, answer: bytes) -> None:
        self.transport.write(answer)
        self.transport.close()


def _size(url: bytes, headers: list[tuple[bytes, bytes]]) -> int:
    return len(url) + sum(len(name) + len(value) for name, value in headers)
