"""What a server writes down so that it can go on after a crash: confidential, for its own disk, gone with the round."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from hubbub.errors import InvalidInput
from hubbub.gather.messages import DIGEST_SIZE, NONCE_SIZE, Message, Reader, number, sized

STATES = ("open", "closed", "opened")


@dataclass(frozen=True)
class Kept(Message):
    """One server's side of a query, whole. Lists hold triples of a nonce and two byte strings."""

    kind = 100
    query: bytes
    server: int
    state: str
    refused: dict[str, int]
    seen: tuple[bytes, ...] = field(repr=False)
    added: tuple[bytes, ...] = field(repr=False)
    total: bytes = field(repr=False)
    waiting: tuple[tuple[bytes, bytes, bytes], ...] = field(repr=False, default=())
    checking: tuple[tuple[bytes, bytes, bytes], ...] = field(repr=False, default=())
    pending: tuple[tuple[bytes, bytes, bytes], ...] = field(repr=False, default=())
    verdicts: tuple[bytes, ...] = field(repr=False, default=())
    asked: bytes = field(repr=False, default=b"")
    """By the first server, for the opening that the second one made."""
    last: bytes = field(repr=False, default=b"")
    """The opening that was asked for, or the result: sent again as it is, never made again."""

    def _body(self) -> bytes:
        counts = json.dumps(self.refused, sort_keys=True).encode()
        parts = [self.query, bytes([self.server, STATES.index(self.state)]), sized(counts)]
        parts += [number(len(nonces)) + b"".join(nonces) for nonces in (self.seen, self.added)]
        parts.append(sized(self.total))
        for items in (self.waiting, self.checking, self.pending):
            parts.append(number(len(items)) + b"".join(nonce + sized(a) + sized(b) for nonce, a, b in items))
        parts.append(number(len(self.verdicts)) + b"".join(sized(one) for one in self.verdicts))
        return b"".join([*parts, sized(self.asked), sized(self.last)])

    @classmethod
    def _read(cls, reader: Reader) -> Kept:
        query = reader.fixed(DIGEST_SIZE)
        server, state = reader.fixed(2)
        if state >= len(STATES):
            raise InvalidInput("What was kept of this query is damaged.", "Take the copy before it.")
        try:
            refused = dict(json.loads(reader.sized()))
        except (TypeError, ValueError):
            raise InvalidInput("What was kept of this query is damaged.", "Take the copy before it.") from None
        seen, added = ([reader.fixed(NONCE_SIZE) for _ in range(reader.number())] for _ in "sa")
        total = reader.sized()
        lists = [
            tuple((reader.fixed(NONCE_SIZE), reader.sized(), reader.sized()) for _ in range(reader.number()))
            for _ in "wcp"
        ]
        verdicts = tuple(reader.sized() for _ in range(reader.number()))
        return cls(
            query, server, STATES[state], refused, tuple(seen), tuple(added), total, waiting=lists[0],
            checking=lists[1], pending=lists[2], verdicts=verdicts, asked=reader.sized(), last=reader.sized(),
        )  # fmt: skip
