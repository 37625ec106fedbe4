"""The first server's program without the network: takes reports, and drives every round to its end."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from hubbub.errors import GatherUnavailable, HubbubError, Overloaded, StoreUnavailable, TicketRefused, TooFewReports
from hubbub.gather.desk import Desk
from hubbub.gather.leader import Leader
from hubbub.gather.messages import CheckAnswer, CheckRequest, Ended, OpenRequest, Result, SealedReport, Verdicts
from hubbub.gather.opened import Opened
from hubbub.gather.peer import Peer
from hubbub.gather.plan import Plan
from hubbub.gather.round_file import RoundFile
from hubbub.gather.round_mark import RoundMark
from hubbub.gather.scheme import FIRST
from hubbub.gather.server_keys import ServerKeys
from hubbub.gather.sizes import report_size
from hubbub.gather.tally import OVER

MOST_AT_ONCE = 64
"""Reports that are checked together: so many shares are in memory, however many clients there are."""

LOOK_SECONDS = 1.0

MOST_WAITING = 256
"""Requests that wait to be written down: more are asked to come again."""


Incoming: TypeAlias = "tuple[int, SealedReport, bytes, Future[None]]"
"""Round, report, the number of its ticket, and who waits for an answer."""


class Book(Protocol):
    """Where a round is paid for before anybody is asked, and where its result is published."""

    def open(self, tick: int) -> None:
        """Debit the round, durably; raises if it may not be. Asked again for the same round it is done once."""
        ...

    def publish(self, tick: int, opened: Opened) -> bool:
        """What came out; False if it has to wait for rounds before it. Told twice it is done once."""
        ...

    def lose(self, tick: int) -> bool:
        """The round came to nothing; what it was charged stays charged. As `publish`."""
        ...


class NoBook:
    """For whoever keeps no ledger: nothing adds up what several queries about the same people cost."""

    def open(self, tick: int) -> None: ...

    def publish(self, tick: int, opened: Opened) -> bool:  # noqa: ARG002
        return True

    def lose(self, tick: int) -> bool:  # noqa: ARG002
        return True


class LeaderDesk(Desk[Leader]):
    """Leader, or aggregator. `take` reports; `look` now and then, from one thread."""

    server = FIRST
    offers = ("reports",)

    def __init__(
        self, plan: Plan, keys: ServerKeys, folder: Path, peer: Callable[[bytes], Peer], *, book: Book | None = None,
        **given: Any,
    ) -> None:  # fmt: skip
        self._book: Book = NoBook() if book is None else book
        self._paid: set[int] = set()
        super().__init__(plan, keys, folder, **given)
        self._peer = peer(self._key)
        self._incoming: queue.Queue[Incoming] = queue.Queue(MOST_WAITING)
        self._stopped = threading.Event()
        self._writer = threading.Thread(target=self._write, name="hubbub-gather-writer", daemon=True)
        self._writer.start()

    @property
    def largest(self) -> int:
        """Bytes of the largest report that can be one."""
        return 1024 + report_size(self.plan) * 5 // 4

    # ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────

    def take(self, tick: int, body: bytes, ticket: str = "") -> None:
        """Take a report in; it is on disk when this returns. The same one again is `ReportReplayed`: it counts once."""
        report = SealedReport.decode(body)
        self._expect_round(tick, self.plan.closes(tick))
        try:
            number = self.plan.spent(tick, ticket)
        except TicketRefused as error:
            with self._turn:
                self._at(tick).refused[error.code] += 1
            raise
        done: Future[None] = Future()
        try:
            self._incoming.put_nowait((tick, report, number, done))
        except queue.Full:
            raise Overloaded("More reports come than can be written down.", "Send it again later, as it is.") from None
        while not done.done():
            wait([done], timeout=LOOK_SECONDS)
            if not self._writer.is_alive() and not done.done():
                raise GatherUnavailable(
                    "This server stops; whether the report was taken is not known.", "Send it again."
                )
        done.result()

    def _write(self) -> None:
        """Reports that come together are written together: a thousand clients do not cost a thousand flushes."""
        while not self._stopped.is_set():
            try:
                group = [self._incoming.get(timeout=0.2)]
            except queue.Empty:
                continue
            while len(group) < MOST_AT_ONCE and not self._incoming.empty():
                group.append(self._incoming.get_nowait())
            for tick in {one[0] for one in group}:
                self._take_in(tick, [one for one in group if one[0] == tick])

    def _take_in(self, tick: int, group: list[Incoming]) -> None:
        try:
            with self._turn:
                self._expect_round(tick, self.plan.closes(tick))
                self._pay(tick)
                answers = self._at(tick).receive_many([one[1] for one in group], [one[2] for one in group])
        except BaseException as error:
            for *_, done in group:
                done.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        for (*_, done), refusal in zip(group, answers, strict=True):
            if refusal is None:
                done.set_result(None)
            else:
                done.set_exception(refusal)

    # ── rounds ───────────────────────────────────────────────────────────────────────────────────────────────────

    def look(self) -> bool:
        """Take every round a step further; whether there is more to do at once."""
        now = self._clock()
        self.trouble = ""
        with self._turn:
            tick = (now - self.plan.opens) // self.plan.every
            if 0 <= tick < self.plan.ticks and tick not in self._told:
                self._open(tick)
            live = sorted(self._rounds)
        more = [self._step(tick, now) for tick in live]  # each of them, whatever the first says
        return any(more)

    def stop(self) -> None:
        self._stopped.set()
        self._writer.join(timeout=10)
        self.close()

    def _open(self, tick: int) -> None:
        try:
            self._pay(tick)
        except StoreUnavailable:
            raise  # it may come back while the round lasts
        except HubbubError as error:
            self._at(tick).end(error.code)
            self._finish(tick)
            return
        self._at(tick)

    def _pay(self, tick: int) -> None:
        """Before the first share is asked for: whether or not anybody answers."""
        if tick not in self._paid:
            self._book.open(tick)
            self._paid.add(tick)

    def _step(self, tick: int, now: datetime) -> bool:
        leader = self._at(tick)
        try:
            with self._turn:
                again = leader.unanswered()
            for message in again:
                self._send(tick, leader, message)
            more = self._advance(tick, leader, now)
        except HubbubError as error:
            # Whoever answers in the other's place could end a round, so nothing that is told ends one but time.
            self._trouble(error)
            more = False
        if now >= self.plan.ends(tick) and leader.state not in OVER:
            with self._turn:
                leader.end("not_finished")
        if leader.state in OVER:
            self._finish(tick)
        return more

    def _advance(self, tick: int, leader: Leader, now: datetime) -> bool:
        if leader.state != "open":
            return False
        with self._turn:
            request = leader.ask(MOST_AT_ONCE)
        if request is not None:
            self._send(tick, leader, request)
            return True
        with self._turn:
            full = leader.reports >= leader.query.clients
            if leader.unsettled or not (full or now >= self.plan.closes(tick)):
                return bool(leader.waiting)
            try:
                opening = leader.close()
            except TooFewReports as error:
                leader.end(error.code)
                return False
        self._send(tick, leader, opening)
        return False

    def _send(self, tick: int, leader: Leader, message: CheckRequest | Verdicts | OpenRequest) -> None:
        """One message to the other server, and what follows from its answer."""
        if isinstance(message, CheckRequest):
            answer = CheckAnswer.decode(self._peer.tell(tick, "check", message.encode()))
            with self._turn:
                verdicts = leader.conclude(answer)
            if verdicts.accepted or verdicts.dropped:
                self._send(tick, leader, verdicts)
        elif isinstance(message, Verdicts):
            self._peer.tell(tick, "settle", message.encode())
            with self._turn:
                leader.settled(message)
        else:
            result = Result.decode(self._peer.tell(tick, "open", message.encode()))
            with self._turn:
                leader.publish(result)

    def _finish(self, tick: int) -> None:
        """A round that is over: the other server hears of it, and the book."""
        with self._turn:
            leader = self._at(tick)
            result = leader.result
            booked = self._book.lose(tick) if result is None else self._book.publish(tick, result)
        if not booked:
            return
        if leader.state == "ended":
            try:
                self._peer.tell(tick, "end", Ended(leader.query.digest, leader.ended).encode())
            except HubbubError as error:  # it forgets by itself when its time is over
                self._trouble(error)
        with self._turn:
            self._note(tick)
            self._let_go(tick)

    def _trouble(self, error: HubbubError) -> None:
        self.trouble = f"{error.message} {error.hint}".strip()

    def _tally(self, tick: int, file: RoundFile, mark: RoundMark) -> Leader:
        return Leader(self.plan.scheme_for(FIRST, self._keys, tick), self._keys.seal, file, mark=mark)
