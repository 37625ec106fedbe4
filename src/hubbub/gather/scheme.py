"""Two ways to add up what nobody sees, behind one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hubbub.errors import HubbubError, InvalidParameter, TooFewReports
from hubbub.gather.opened import Opened
from hubbub.gather.query import Query

FIRST, SECOND = 0, 1
"""The servers: leader and helper, or aggregator and key server."""


@dataclass(frozen=True)
class Part:
    """What one server gets of one client's report."""

    nonce: bytes
    body: bytes = field(repr=False)


@dataclass(frozen=True, eq=False)
class Started:
    """A report that a server has begun to check: what it keeps, and what the other server must hear."""

    nonce: bytes
    told: bytes = field(repr=False)
    kept: Any = field(repr=False)


@dataclass(frozen=True, eq=False)
class Total:
    """A server's share of a sum: of how many reports, and what none but its scheme can read."""

    reports: int
    share: Any = field(repr=False)


class Scheme(ABC):
    """How reports of one query are made, checked, added and opened. Nothing here does I/O or remembers anything.

    `encode` is the client's. Each server then *starts* its parts, tells the other what came out, *checks* with what
    the other told, and *adds* what is left. For the opening each makes its sum `noisy`, and whoever has both opens.
    An error in a list stands in the place of its report.
    """

    name: str

    def __init__(self, query: Query) -> None:
        self.query = query

    @abstractmethod
    def encode(self, measurement: Any) -> tuple[Part, Part]:
        """One client's report, a part for each server."""

    @abstractmethod
    def start(self, server: int, parts: Sequence[Part]) -> list[Started | HubbubError]:
        """Look at parts, alone."""

    @abstractmethod
    def check(self, server: int, started: Sequence[Started], told: Sequence[bytes]) -> list[Any | HubbubError]:
        """Decide, with what the other server told of the same reports; what is accepted can be added."""

    @abstractmethod
    def add(self, server: int, accepted: Sequence[Any], before: Total | None = None) -> Total:
        """A sum, and what was accepted since."""

    @abstractmethod
    def noisy(self, server: int, total: Total) -> bytes:
        """A server's share of the sum with its noise, if it adds any: to be made once, and to be opened."""

    @abstractmethod
    def open(self, shares: Sequence[bytes], reports: int) -> Opened:
        """The noisy sums, from both servers' shares."""

    @abstractmethod
    def encode_total(self, server: int, total: Total) -> bytes:
        """For a server's own store: what it has added so far."""

    @abstractmethod
    def decode_total(self, server: int, data: bytes) -> Total:
        """The inverse of `encode_total`."""

    def enough(self, reports: int) -> None:
        """Refuse a sum of fewer reports than were planned, or of more."""
        if reports < self.query.minimum:
            raise TooFewReports(
                f"Of {self.query.name!r} {reports:,} reports were accepted; a sum is opened of {self.query.minimum:,} "
                "or more.",
                "Wait for more clients, or plan another query for fewer.",
            )
        if reports > self.query.clients:
            raise InvalidParameter(
                f"{self.query.name!r} was planned for up to {self.query.clients:,} reports; got {reports:,}.",
                "Larger sums might not fit.",
            )

    def opened(self, sums: list[int], reports: int, attested: str = "") -> Opened:
        query = self.query
        return Opened(query.name, sums, reports, query.clients, query.noise.variance(reports), query.promise, attested)
