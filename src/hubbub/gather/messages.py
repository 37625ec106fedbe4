"""What goes over the wire, byte by byte. Every message begins with `HBG`, the version of this page, and its kind.

Lists and byte strings are preceded by their length, four bytes, big-endian. What is longer than it may be, cut, or
followed by anything is refused. A change of any layout changes `VERSION`; golden files in the tests hold it.

| kind | message | from | to |
|---|---|---|---|
| 0 | `Announcement` | servers | clients |
| 1 | `SealedReport` | client | first server |
| 2 | `CheckRequest` | first | second server |
| 3 | `CheckAnswer` | second | first |
| 4 | `Verdicts` | first | second |
| 5 | `OpenRequest` | first | second |
| 6 | `Result` | second | first, and everybody |
| 7 | `Ended` | first | second server |
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, TypeVar

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.gather.opened import Opened
from hubbub.gather.query import Query
from hubbub.gather.sealing import KEY_SIZE

MAGIC = b"HBG"
VERSION = 1
DIGEST_SIZE = 32
NONCE_SIZE = 16
MOST_ITEMS = 1 << 16
LONGEST_BYTES = 1 << 26
"""64 MiB: a report of four million elements."""
M = TypeVar("M", bound="Message")


class Reader:
    """Takes a message apart, from the front."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def fixed(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if len(part) != size:
            raise InvalidInput("The message ends too early.", "Was it cut on the way?")
        self._at += size
        return part

    def number(self) -> int:
        return int.from_bytes(self.fixed(4), "big")

    def sized(self) -> bytes:
        size = self.number()
        if size > LONGEST_BYTES:
            raise InvalidInput(f"A part of the message claims {size:,} bytes; {LONGEST_BYTES:,} are the most.")
        return self.fixed(size)

    def count(self) -> int:
        found = self.number()
        if found > MOST_ITEMS:
            raise InvalidInput(f"The message claims {found:,} items; {MOST_ITEMS:,} are the most.")
        return found

    def end(self) -> None:
        if self._at != len(self._data):
            raise InvalidInput(f"{len(self._data) - self._at:,} bytes follow the message's end.")


def number(value: int) -> bytes:
    return value.to_bytes(4, "big")


def sized(data: bytes) -> bytes:
    return number(len(data)) + data


class Message(ABC):
    """A value with one encoding."""

    kind: ClassVar[int]

    def encode(self) -> bytes:
        return MAGIC + bytes([VERSION, self.kind]) + self._body()

    @classmethod
    def decode(cls: type[M], data: bytes) -> M:
        reader = Reader(data)
        if reader.fixed(3) != MAGIC:
            raise InvalidInput("This is no message of ours.")
        version, kind = reader.fixed(2)
        if version != VERSION:
            raise InvalidInput(f"The message has version {version}; this program speaks {VERSION}.", "Update one side.")
        if kind != cls.kind:
            raise InvalidInput(f"The message is of kind {kind}; here {cls.kind} is expected.")
        found = cls._read(reader)
        reader.end()
        return found

    @abstractmethod
    def _body(self) -> bytes: ...

    @classmethod
    @abstractmethod
    def _read(cls: type[M], reader: Reader) -> M: ...


@dataclass(frozen=True)
class Announcement(Message):
    """What is asked, by which scheme, and the public keys: all that a client needs."""

    kind = 0
    query: Query
    scheme: str
    servers: tuple[bytes, bytes]
    """Keys to seal to."""
    public: bytes = field(default=b"", repr=False)
    """The key server's, where the scheme encrypts."""

    def _body(self) -> bytes:
        text = sized(_json(self.query.to_dict()))
        return text + sized(self.scheme.encode()) + b"".join(self.servers) + sized(self.public)

    @classmethod
    def _read(cls, reader: Reader) -> Announcement:
        text, scheme = reader.sized(), _text(reader)
        try:
            query = Query.from_dict(_facts(text))
        except InvalidParameter:
            raise InvalidInput("The query of this announcement cannot be.", "Was it changed on the way?") from None
        if _json(query.to_dict()) != text:  # other readers might take it for another query
            raise InvalidInput("The query of this announcement is not written in the one way that all read alike.")
        return cls(query, scheme, (reader.fixed(KEY_SIZE), reader.fixed(KEY_SIZE)), reader.sized())


@dataclass(frozen=True)
class SealedReport(Message):
    """A client's report: a part for each server, which none but that server can read."""

    kind = 1
    query: bytes
    nonce: bytes
    first: bytes = field(repr=False)
    second: bytes = field(repr=False)

    def _body(self) -> bytes:
        return self.query + self.nonce + sized(self.first) + sized(self.second)

    @classmethod
    def _read(cls, reader: Reader) -> SealedReport:
        return cls(reader.fixed(DIGEST_SIZE), reader.fixed(NONCE_SIZE), reader.sized(), reader.sized())


@dataclass(frozen=True)
class Asked:
    """Of one report: the second server's sealed part, and what the first found when it began to check."""

    nonce: bytes
    sealed: bytes = field(repr=False)
    told: bytes = field(repr=False)


@dataclass(frozen=True)
class CheckRequest(Message):
    """Reports that the first server has begun to check."""

    kind = 2
    query: bytes
    items: tuple[Asked, ...]

    def _body(self) -> bytes:
        items = b"".join(one.nonce + sized(one.sealed) + sized(one.told) for one in self.items)
        return self.query + number(len(self.items)) + items

    @classmethod
    def _read(cls, reader: Reader) -> CheckRequest:
        query = reader.fixed(DIGEST_SIZE)
        items = [Asked(reader.fixed(NONCE_SIZE), reader.sized(), reader.sized()) for _ in range(reader.count())]
        return cls(query, tuple(items))


@dataclass(frozen=True)
class Told:
    """Of one report: what the second server found, or the code of its refusal."""

    nonce: bytes
    told: bytes = field(repr=False)
    refusal: str = ""


@dataclass(frozen=True)
class CheckAnswer(Message):
    """The same reports, as the second server sees them; in the same order."""

    kind = 3
    query: bytes
    items: tuple[Told, ...]

    def _body(self) -> bytes:
        items = b"".join(one.nonce + sized(one.told) + sized(one.refusal.encode()) for one in self.items)
        return self.query + number(len(self.items)) + items

    @classmethod
    def _read(cls, reader: Reader) -> CheckAnswer:
        query = reader.fixed(DIGEST_SIZE)
        items = [Told(reader.fixed(NONCE_SIZE), reader.sized(), _text(reader)) for _ in range(reader.count())]
        return cls(query, tuple(items))


@dataclass(frozen=True)
class Verdicts(Message):
    """Of the reports that the second server accepted: which are added, and which are forgotten."""

    kind = 4
    query: bytes
    accepted: tuple[bytes, ...]
    dropped: tuple[bytes, ...] = ()

    def _body(self) -> bytes:
        lists = (number(len(nonces)) + b"".join(nonces) for nonces in (self.accepted, self.dropped))
        return self.query + b"".join(lists)

    @classmethod
    def _read(cls, reader: Reader) -> Verdicts:
        query = reader.fixed(DIGEST_SIZE)
        lists = [tuple(reader.fixed(NONCE_SIZE) for _ in range(reader.count())) for _ in "ad"]
        return cls(query, lists[0], lists[1])


@dataclass(frozen=True)
class OpenRequest(Message):
    """The first server's noisy share of the sum, and which reports are in it."""

    kind = 5
    query: bytes
    reports: int
    checksum: bytes
    share: bytes = field(repr=False)

    def _body(self) -> bytes:
        return self.query + number(self.reports) + self.checksum + sized(self.share)

    @classmethod
    def _read(cls, reader: Reader) -> OpenRequest:
        return cls(reader.fixed(DIGEST_SIZE), reader.number(), reader.fixed(DIGEST_SIZE), reader.sized())


@dataclass(frozen=True)
class Result(Message):
    """What came out, with its promise: for everybody."""

    kind = 6
    query: bytes
    opened: Opened

    def _body(self) -> bytes:
        return self.query + sized(_json(asdict(self.opened)))

    @classmethod
    def _read(cls, reader: Reader) -> Result:
        query, text = reader.fixed(DIGEST_SIZE), reader.sized()
        try:
            opened = Opened(**_facts(text))
        except (TypeError, ValueError):
            raise InvalidInput("The result cannot be read.", "Was it made by another version?") from None
        if _json(asdict(opened)) != text:
            raise InvalidInput("The result is not written in the one way that all read alike.")
        return cls(query, opened)


def _json(facts: dict[str, Any]) -> bytes:
    """Of each value one text: sorted, without spaces, in ASCII."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()


def _facts(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("A part of the message is not JSON.", "Was it changed on the way?") from None


@dataclass(frozen=True)
class Ended(Message):
    """The first server has given the query up, for the reason with this code: nothing will be opened."""

    kind = 7
    query: bytes
    reason: str

    def _body(self) -> bytes:
        return self.query + sized(self.reason.encode())

    @classmethod
    def _read(cls, reader: Reader) -> Ended:
        return cls(reader.fixed(DIGEST_SIZE), _text(reader))


def _text(reader: Reader) -> str:
    data = reader.sized()
    if len(data) > 64 or not data.isascii():
        raise InvalidInput("The code of a refusal has at most 64 plain letters.")
    return data.decode()
