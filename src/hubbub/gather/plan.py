"""What is asked, by whom it is added up, and when: the public file that clients and both servers have."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hubbub.errors import InvalidInput, InvalidParameter, QueryClosed
from hubbub.gather.homomorphic import HomomorphicScheme
from hubbub.gather.messages import Announcement
from hubbub.gather.prio3_scheme import Prio3Scheme
from hubbub.gather.query import Query
from hubbub.gather.scheme import FIRST, SECOND, Scheme
from hubbub.gather.server_keys import PublicKeys, ServerKeys
from hubbub.gather.tickets import PublicTicketKey

KIND = "hubbub gather plan 1"
MOST_TICKS = 1_000_000
LONGEST_FILE = 1 << 23
SCHEMES = (Prio3Scheme.name, HomomorphicScheme.name)


@dataclass(frozen=True)
class Plan:
    """One query, or one for each of several ticks that follow one another, each a round of its own.

    Round k takes answers from `opens` + k·`every` on, for `every`; if it is not done `grace` after that, it is given
    up. `labels` name the numbers of the result. `issuer` are keys of whoever gives tickets to clients, one for each
    round, if they need one to answer.
    """

    query: Query
    scheme: str
    servers: tuple[PublicKeys, PublicKeys]
    opens: datetime
    every: timedelta
    ticks: int = 1
    grace: timedelta = timedelta(days=1)
    labels: tuple[str, ...] = ()
    public: bytes = field(default=b"", repr=False)
    issuer: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise InvalidInput(f"This program knows no scheme {self.scheme!r}.", f"There are {' and '.join(SCHEMES)}.")
        if not 1 <= self.ticks <= MOST_TICKS or (self.ticks > 1 and self.scheme != Prio3Scheme.name):
            raise InvalidParameter(
                f"A plan has 1 to {MOST_TICKS:,} rounds; got {self.ticks:,} under the scheme {self.scheme}.",
                "Keys of the homomorphic scheme are made for one query, so its plans have one round.",
            )
        if self.every <= timedelta(0) or self.grace < timedelta(0):
            raise InvalidParameter("A round lasts longer than nothing.", "Give the time in which clients may answer.")
        if self.opens.tzinfo is None:
            raise InvalidParameter("`opens` needs a time zone.", "Clients live in several.")
        try:
            self.ends(self.ticks - 1)
        except OverflowError:
            raise InvalidParameter("The last round of this plan ends after the year 9999.") from None
        if len(self.labels) != self.query.circuit.output_length or len(set(self.labels)) != len(self.labels):
            raise InvalidParameter(
                f"{self.query.circuit.output_length:,} numbers need so many different labels; got {len(self.labels):,}."
            )
        if self.issuer and (len(self.issuer) != self.ticks or len(set(self.issuer)) != self.ticks):
            raise InvalidParameter(
                f"{self.ticks:,} rounds need so many different keys for tickets; got {len(self.issuer):,}.",
                "With one key for several, a client could spend the tickets of all in one.",
            )
        for key in self.issuer:
            PublicTicketKey.of(key)
        if self.servers[FIRST] == self.servers[SECOND]:
            raise InvalidParameter("Both servers have the same keys.", "One alone would see the answers.")

    # ── rounds ───────────────────────────────────────────────────────────────────────────────────────────────────

    def query_of(self, tick: int) -> Query:
        if not 0 <= tick < self.ticks:
            raise QueryClosed(f"This plan has {self.ticks:,} rounds; there is no round {tick:,}.")
        return self.query if self.ticks == 1 else replace(self.query, name=f"{self.query.name} · {tick}")

    def round_of(self, tick: int) -> str:
        """The round's name in addresses and files: it differs for every other query."""
        return self.query_of(tick).digest.hex()[:32]

    def begins(self, tick: int) -> datetime:
        return self.opens + tick * self.every

    def closes(self, tick: int) -> datetime:
        return self.opens + (tick + 1) * self.every

    def ends(self, tick: int) -> datetime:
        return self.closes(tick) + self.grace

    def tick_at(self, now: datetime) -> int:
        """The round that takes answers now."""
        tick = (now - self.opens) // self.every
        if tick < 0:
            raise QueryClosed(f"{self.query.name!r} takes answers from {self.opens.isoformat()} on.", "Come later.")
        if tick >= self.ticks:
            raise QueryClosed(f"{self.query.name!r} took answers until {self.closes(self.ticks - 1).isoformat()}.")
        return tick

    def spent(self, tick: int, ticket: str) -> bytes:
        """The number of a ticket for this round, which is taken once; empty where none is needed."""
        query = self.query_of(tick)
        return PublicTicketKey.of(self.issuer[tick]).spent(query.digest, ticket) if self.issuer else b""

    def announcement(self, tick: int) -> Announcement:
        """What a client needs for one round."""
        return Announcement(self.query_of(tick), self.scheme, (self.servers[0].seal, self.servers[1].seal), self.public)

    def scheme_for(self, server: int, keys: ServerKeys, tick: int) -> Scheme:
        """What a server counts with, if these are its keys."""
        mine, theirs = keys.public, self.servers[server]
        if mine.peer != theirs.peer or (mine != theirs and not keys.erased):
            other = mine.peer == self.servers[1 - server].peer
            raise InvalidInput(
                "These keys are the other server's." if other else "These keys were made for another plan.",
                "Give each server the keys that the plan names.",
            )
        query = self.query_of(tick)
        if self.scheme == Prio3Scheme.name:
            return Prio3Scheme(query, keys.shared_with(self.servers[1 - server], "verify"))
        if server == SECOND and not keys.erased:
            return HomomorphicScheme(query, secret=keys.secret)
        return HomomorphicScheme(query, public=self.public)

    # ── the file ─────────────────────────────────────────────────────────────────────────────────────────────────

    def encode(self) -> bytes:
        facts = {
            "kind": KIND,
            "query": self.query.to_dict(),
            "scheme": self.scheme,
            "servers": [str(one) for one in self.servers],
            "opens": self.opens.astimezone(UTC).isoformat(),
            "every": self.every.total_seconds(),
            "ticks": self.ticks,
            "grace": self.grace.total_seconds(),
            "labels": list(self.labels),
            "public": base64.b64encode(self.public).decode(),
            "issuer": list(self.issuer),
            "promise": self.query.promise,
        }
        return (json.dumps(facts, ensure_ascii=False, indent=1) + "\n").encode()

    @classmethod
    def decode(cls, data: bytes) -> Plan:
        try:
            facts: dict[str, Any] = json.loads(data)
            if facts["kind"] != KIND:
                raise InvalidInput("This is a plan of another version.", "Update one side.")
            servers = [PublicKeys.of(text) for text in facts["servers"]]
            plan = cls(
                Query.from_dict(facts["query"]),
                facts["scheme"],
                (servers[0], servers[1]),
                datetime.fromisoformat(facts["opens"]),
                timedelta(seconds=facts["every"]),
                facts["ticks"],
                timedelta(seconds=facts["grace"]),
                tuple(facts["labels"]),
                base64.b64decode(facts["public"], validate=True),
                tuple(facts["issuer"]),
            )
            if plan.encode() != data:
                raise InvalidInput("This plan does not say what it means.", "Was it changed on the way?")
        except (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("This is no plan of a query.", "`hubbub gather plan` writes one.") from None
        return plan

    @classmethod
    def load(cls, path: Path) -> Plan:
        try:
            with path.open("rb") as file:
                data = file.read(LONGEST_FILE + 1)
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Give the file of a plan.") from None
        if len(data) > LONGEST_FILE:
            raise InvalidInput(f"{path} is longer than any plan.")
        return cls.decode(data)
