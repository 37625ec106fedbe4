"""A client's way to the first server: fetch the plan, answer when it can, send again what was not thanked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from hubbub.errors import GatherUnavailable, QueryMismatch, ReportReplayed
from hubbub.exact import Exact
from hubbub.gather.client import Client
from hubbub.gather.desk import utc
from hubbub.gather.line import Line
from hubbub.gather.peer import MARK, path_of
from hubbub.gather.plan import Plan
from hubbub.gather.scheme import FIRST, SECOND
from hubbub.gather.tickets import PublicTicketKey, Wish
from hubbub.privacy.guarantee import WEAKEST_EPSILON

FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
TICKET = "hubbub-ticket"
"""The header that holds a ticket."""


class Patience:
    """How long it is tried again, with pauses that grow."""

    def __init__(self, seconds: float, wait: Callable[[float], None] = time.sleep) -> None:
        self._left, self._pause, self._wait = seconds, FIRST_WAIT, wait

    def again(self) -> bool:
        """Wait a little; or say that it was tried for long enough."""
        if self._left <= 0:
            return False
        self._wait(min(self._pause, self._left))
        self._left, self._pause = self._left - self._pause, min(2 * self._pause, LONGEST_WAIT)
        return True


def fetch_plan(lines: tuple[Line, Line], patience: float = 0.0) -> Plan:
    """What both servers say is asked. One alone could name keys of its own for both."""
    told, patient = [], Patience(patience)
    for line in lines:
        while True:
            try:
                told.append(line.get("/v1/gather"))
                break
            except GatherUnavailable:
                if not patient.again():
                    raise
    if told[FIRST] != told[SECOND]:
        raise QueryMismatch("The two servers tell different plans.", "Answer neither.")
    return Plan.decode(told[FIRST])


def fetch_ticket(plan: Plan, line: Line, tick: int, code: str, patience: float = 0.0) -> str:
    """A ticket for one round, from the issuer, for whom it is invited. Get it long before it is spent: at the same
    moment both could be told to belong together."""
    if not plan.issuer:
        raise QueryMismatch("This plan needs no tickets.")
    wish, patient = Wish.make(PublicTicketKey.of(plan.issuer[tick]), plan.query_of(tick).digest), Patience(patience)
    while True:
        try:
            return wish.ticket(line.post(path_of(tick, "tickets"), wish.blinded, {MARK: code})[0])
        except GatherUnavailable:
            if not patient.again():
                raise


class Sender:
    """Sends answers to one plan's rounds. A report is made once, and sent as it is until the server has it.

    `patience` is how many seconds it is tried for. That a person answers a round once is the caller's to see to.
    """

    def __init__(
        self,
        plan: Plan,
        line: Line,
        *,
        epsilon: Exact = WEAKEST_EPSILON,
        patience: float = 60.0,
        clock: Callable[[], datetime] = utc,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.plan, self._line, self._epsilon = plan, line, epsilon
        self._patience, self._clock, self._wait = patience, clock, wait
        self._clients: dict[int, Client] = {}

    def send(self, answer: Any, tickets: Mapping[int, str] | None = None) -> int:
        """Answer the round of now; which one that was. `tickets` by round, where the plan wants them."""
        tick = self.plan.tick_at(self._clock())
        self.send_report(tick, self.client(tick).report(answer).encode(), (tickets or {}).get(tick, ""))
        return tick

    def client(self, tick: int) -> Client:
        if tick not in self._clients:
            self._clients = {tick: Client.of(self.plan.announcement(tick), self._epsilon)}
        return self._clients[tick]

    def send_report(self, tick: int, report: bytes, ticket: str = "") -> None:
        """The same bytes again and again, until the server has them."""
        patient, again = Patience(self._patience, self._wait), False
        while True:
            try:
                self._line.post(path_of(tick, "reports"), report, {TICKET: ticket} if ticket else {})
                return
            except ReportReplayed:
                if again:  # it was taken, and the thanks were lost
                    return
                raise
            except GatherUnavailable:
                if not patient.again():
                    raise
                again = True
