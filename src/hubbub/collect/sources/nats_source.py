"""Events from a NATS JetStream stream."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence

from hubbub.collect.batch import Batch
from hubbub.collect.source import Source
from hubbub.collect.sources.documents import Unfold, as_it_is
from hubbub.collect.sources.jetstream import Away, Edges, JetStream, Record, Refused
from hubbub.collect.sources.json_lines import JsonLines
from hubbub.errors import HubbubError, InvalidInput, SourceUnavailable

_MESSAGES = 1000
_BYTES = 16 * 2**20


class NatsSource(Source):
    """Reads messages of NDJSON events in the order of the stream. The stream keeps them (retention by limits).

    A position is a sequence number, with the time at which the server stored that message and the time at which the
    stream was made: so a stream that was made anew, set back to a backup, purged or thinned out is noticed. Each
    number is handed over once. A `Nats-Msg-Id` is JetStream's own business: it stores the same id once within its
    window; what it stored, counts. (To remember ids here would count otherwise after each restart.)

    While the server is away `poll` gives empty batches and `frontier` None; when it is back, reading goes on behind
    the last message. Every question to it has a deadline.
    """

    waits_for_us = True
    shared = True

    def __init__(
        self,
        stream: str,
        *,
        servers: Sequence[str] = ("nats://127.0.0.1:4222",),
        subject: str | None = None,
        lines: JsonLines | None = None,
        unfold: Unfold = as_it_is,
        connect_timeout: float = 5.0,
        deadline: float = 2.0,
    ) -> None:
        self._stream, self._subject, self._lines, self._unfold = stream, subject, lines or JsonLines(), unfold
        self._broker = JetStream(stream, servers, subject, patience=connect_timeout, deadline=deadline)
        self._held: deque[Record] = deque()
        self._created = self._stamp = self._trouble = ""
        self._last = self._highest = self._first = self._nothing_before = 0
        self._replaced, self._lost, self._patience = False, False, connect_timeout

    @property
    def identity(self) -> str:
        """No address: two machines may reach the same server by different names."""
        created = self._created or self._edges().created
        return f"nats:{self._stream}:{created}" + (f":{self._subject}" if self._subject else "")

    @property
    def trouble(self) -> str:
        return self._trouble

    def open(self, positions: Mapping[str, str]) -> bool:
        edges = self._edges()
        self._held.clear()
        self._replaced, self._lost, self._trouble, self._nothing_before = False, False, "", 0
        self._created, self._first = edges.created, edges.first
        mine = positions.get("created") == edges.created and positions.get("nats", "").isdigit()
        wanted, stamp = (int(positions["nats"]), positions.get("stamp", "")) if mine else (0, "")
        proved = mine and edges.first <= wanted + 1 <= edges.last + 1
        self._last = self._highest = min(max(wanted, edges.first - 1), edges.last)
        self._stamp = stamp if self._last == wanted else ""
        try:
            if proved:
                proved = not any(number > wanted for number in edges.removed) and self._is_there(wanted, stamp)
            self._broker.begin(self._last + 1)
        except (Away, Refused) as error:
            raise self._unreadable(error) from None
        return proved

    def frontier(self) -> Mapping[str, str] | None:
        before = self._highest
        try:
            edges = self._broker.edges()
        except (Away, Refused) as error:
            self._trouble = _words(error)
            return None
        if edges.created != self._created or edges.last < before:
            self._replaced, self._trouble = True, "The NATS stream is not the one that was read."
            return None
        self._trouble = ""
        self._first, self._highest = edges.first, edges.last
        return {"nats": str(edges.last), "stamp": edges.stamp, "created": edges.created}

    def poll(self, until: Mapping[str, str]) -> Batch | None:
        end, bodies = int(until["nats"]), []
        try:
            self._fetch(end)
        except (Away, Refused) as error:
            self._trouble = _words(error)
        while self._held and self._held[0].sequence <= end:
            record = self._held.popleft()
            self._lost |= self._subject is None and record.sequence > self._last + 1
            self._last, self._stamp = record.sequence, record.stamp
            bodies.append(record.body)
        if self._last < end and (self._held or self._nothing_before > end):
            self._lost |= self._subject is None  # the numbers follow each other: one that is missing was taken out
            self._last, self._stamp = end, until.get("stamp", "")
        events, malformed = self._lines.parse(b"\n".join(map(self._unfold, bodies)))
        lost, self._lost = self._lost, False
        return Batch.of(
            events,
            layout=self._lines.layout,
            positions=self._positions(),
            malformed=malformed,
            reached=self._last >= end,
            lost=lost,
        )

    def close(self) -> None:
        self._broker.close()

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _positions(self) -> dict[str, str]:
        return {"nats": str(self._last), "stamp": self._stamp, "created": self._created}

    def _fetch(self, end: int) -> None:
        """Bring in what comes next, if it may lie in front of `end`."""
        if not self._broker.reading and not self._replaced:
            self._go_on()
        if self._replaced:
            raise InvalidInput(
                f"The JetStream stream {self._stream!r} is not the one that was read: it was made anew or set back.",
                "Start again: then nobody is counted whose past cannot be known.",
            )
        if self._held or self._last >= end:
            return
        if self._first > self._last + 1:  # limits or a purge took what came next, and nobody had read it
            self._lost = True
            self._last, self._stamp = min(self._first - 1, end), ""
        if self._last < end:
            self._held.extend(self._broker.pull(min(_MESSAGES, end - self._last), _BYTES))
            if not self._held:
                self._look_behind(end)
        self._trouble = ""

    def _look_behind(self, end: int) -> None:
        """Nothing came: with a filter that says nothing, and a replica may lag behind. The stream's leader knows."""
        following = self._broker.next_from(self._last + 1)
        if following is not None and following <= end:
            self._broker.forget()  # what was lost on the way comes again from a new consumer
        else:
            self._nothing_before = end + 1

    def _go_on(self) -> None:
        """After the connection was lost: behind the last message, if the stream is still the same."""
        before = self._highest
        edges = self._broker.edges()
        self._first = edges.first
        same = edges.created == self._created and edges.last >= before and self._is_there(self._last, self._stamp)
        self._replaced |= not same
        self._broker.begin(self._behind() + 1)

    def _behind(self) -> int:
        """The last message that was fetched."""
        return self._held[-1].sequence if self._held else self._last

    def _is_there(self, sequence: int, stamp: str) -> bool:
        """Whether the message of this number is still the same. Nothing can be said of one that lies before all."""
        if not stamp or sequence < max(self._first, 1):  # of a stream that never had one, the first is 0
            return True
        found = self._broker.stamp(sequence)
        return found == stamp

    def _edges(self) -> Edges:
        end = time.monotonic() + self._patience
        while True:
            try:
                edges = self._broker.edges(removed=True)
                break
            except (Away, Refused) as error:
                if isinstance(error, Away) and time.monotonic() < end:  # a server that has just started needs a moment
                    time.sleep(0.1)
                    continue
                raise self._unreadable(error) from None
        if edges.retention != "limits" or edges.subject_limit > 0:
            raise InvalidInput(
                f"The JetStream stream {self._stream!r} throws messages away before they are counted.",
                "Use a stream with retention by limits, and without a limit for each subject.",
            )
        return edges

    def _unreadable(self, error: Exception) -> HubbubError:
        if isinstance(error, Away):
            return SourceUnavailable(
                f"No NATS server answers for the stream {self._stream!r}.",
                "Check the addresses, and that the server runs with JetStream.",
            )
        return InvalidInput(
            f"The JetStream stream {self._stream!r} cannot be read ({error}).",
            "Make it first, with retention by limits.",
        )


def _words(error: Away | Refused) -> str:
    if isinstance(error, Away):
        return str(error)
    return "The NATS stream is not there." if error.no_stream else "The NATS server refuses to be read."
