"""The other server, seen from the first one: messages with marks that nobody else can make."""

from __future__ import annotations

from typing import Protocol

from hubbub.errors import QueryMismatch
from hubbub.gather.line import Line
from hubbub.gather.server_keys import mark, same_mark

MARK = "hubbub-mark"
"""The header that shows who sent a message. The secret itself never travels."""


class Peer(Protocol):
    def tell(self, tick: int, step: str, message: bytes) -> bytes:
        """The answer; `GatherUnavailable` if it may come later."""
        ...


class PeerLine:
    """A `Peer` over HTTP."""

    def __init__(self, line: Line, key: bytes) -> None:
        self._line, self._key = line, key

    def tell(self, tick: int, step: str, message: bytes) -> bytes:
        path = path_of(tick, step)
        answer, headers = self._line.post(path, message, {MARK: mark_of_request(self._key, path, message)})
        expected = mark_of_answer(self._key, path, message, answer)
        if not same_mark(headers.get(MARK, ""), expected):
            raise QueryMismatch(f"What answers at {self._line.address} is not the other server of this plan.")
        return answer


def path_of(tick: int, step: str) -> str:
    return f"/v1/gather/rounds/{tick}/{step}"


def mark_of_request(key: bytes, path: str, message: bytes) -> str:
    return mark(key, b"request", path.encode(), message)


def mark_of_answer(key: bytes, path: str, message: bytes, answer: bytes) -> str:
    """Bound to the request: an answer to another one is none."""
    return mark(key, b"answer", path.encode(), message, answer)
