"""The first server: receives, checks with the second one, adds and forgets."""

from __future__ import annotations

from collections.abc import Sequence

from hubbub.errors import (
    GatherRefusal,
    HubbubError,
    InvalidInput,
    Overloaded,
    QueryClosed,
    QueryMismatch,
    ReportRejected,
    ReportReplayed,
    TicketRefused,
)
from hubbub.gather.messages import Asked, CheckAnswer, CheckRequest, OpenRequest, Result, SealedReport, Verdicts
from hubbub.gather.opened import Opened
from hubbub.gather.round_file import BEGUN, REFUSED, WAITING
from hubbub.gather.scheme import FIRST, Part, Started
from hubbub.gather.tally import Tally


class Leader(Tally):
    """Leader, or aggregator. `receive` reports, `ask` the second server about some, `conclude` from its answer; then
    `close`, and hand on what comes back.

    Guarantee
        A report is added once, and only if both servers accept it; nothing is given out but what the scheme tells the
        other server, and one noisy sum of at least `minimum` reports, once.
        Proof: docs/proofs/gather.md, section 3.
    """

    server = FIRST
    _checking: dict[bytes, tuple[bytes, Started]]

    @property
    def waiting(self) -> int:
        """Reports that were received and not asked about."""
        return self._stages[WAITING]

    def receive(self, report: SealedReport) -> None:
        """Take a report in; whatever is wrong with it raises, and is counted."""
        (error,) = self.receive_many([report])
        if error is not None:
            raise error

    def receive_many(self, reports: Sequence[SealedReport], tickets: Sequence[bytes] = ()) -> list[HubbubError | None]:
        """`receive` for several, on disk together; what is wrong with one stands in its place.

        `tickets` are numbers that each may be spent once, one for each report.
        """
        self._refresh()
        answers: list[HubbubError | None] = []
        with self._changing("receive"):
            for at, report in enumerate(reports):
                try:
                    self._receive(report, tickets[at] if tickets else b"")
                    answers.append(None)
                except (GatherRefusal, InvalidInput, Overloaded) as error:
                    self._refuse(error)
                    answers.append(error)
        return answers

    def _receive(self, report: SealedReport, ticket: bytes) -> None:
        self.expect(report.query)
        self._while_open()
        if self.file.stage(report.nonce) is not None:
            raise ReportReplayed("This report was sent before.")
        if self.reports + self.unsettled >= self.query.clients:
            raise QueryClosed(f"{self.query.name!r} was planned for {self.query.clients:,} reports; it has them.")
        if self.unsettled >= self.backlog:
            raise Overloaded("More reports came than could be checked by now.", "Send it again later, as it is.")
        if ticket and self.file.is_spent(ticket):
            raise TicketRefused("This ticket was spent.", "One client answers once.")
        # The seal first: a stranger must not use up somebody's nonce.
        self.key.open(report.first, FIRST, self._digest, report.nonce)
        self.file.take_in(report.nonce, WAITING, report.first, report.second)
        if ticket:
            self.file.spend(ticket)
        self._move(None, WAITING)

    def ask(self, most: int = 256) -> CheckRequest | None:
        """Begin to check up to so many reports; what the second server must hear of them, or None if there are none."""
        self._refresh()
        self._while_open()
        begun = []
        with self._changing("ask"):
            taken = self.file.parts(WAITING, most)
            parts = [self._part(nonce, sealed) for nonce, sealed, _ in taken]
            for (nonce, _, other), one in zip(taken, self.scheme.start(FIRST, parts), strict=True):
                if isinstance(one, HubbubError):
                    self._refuse(one)
                    self.file.refuse(nonce, one.code)
                    self._move(WAITING, REFUSED)
                else:
                    self.file.begin(nonce)
                    self._move(WAITING, BEGUN)
                    self._checking[nonce] = (other, one)
                    begun.append(nonce)
        return self._request(begun) if begun else None

    def unanswered(self) -> list[CheckRequest | Verdicts | OpenRequest]:
        """What was sent, or may not have been, and is not answered yet: to be sent again after a crash."""
        self._refresh()
        again: list[CheckRequest | Verdicts | OpenRequest] = [Verdicts.decode(one) for one in self.file.verdicts()]
        if self._checking:
            again.append(self._request(list(self._checking)))
        if self.state == "closed":
            again.append(OpenRequest.decode(self.key.unlocked(self._last, self._digest)))
        return again

    def _request(self, nonces: list[bytes]) -> CheckRequest:
        chosen = [self._checking[nonce] for nonce in nonces]
        return CheckRequest(self._digest, tuple(Asked(one.nonce, sealed, one.told) for sealed, one in chosen))

    def conclude(self, answer: CheckAnswer) -> Verdicts:
        """Decide about reports, add those that both accept, and forget them all."""
        self.expect(answer.query)
        self._while_open()
        nonces = [one.nonce for one in answer.items]
        if len(set(nonces)) != len(nonces) or not set(nonces) <= set(self._checking):
            raise QueryMismatch("The other server answers about reports that it was not asked about.")
        with self._changing("conclude"):
            started = {nonce: self._checking.pop(nonce)[1] for nonce in nonces}
            going = [one for one in answer.items if not one.refusal]
            refusals = {one.nonce: one.refusal for one in answer.items if one.refusal}
            self.refused.update(refusals.values())
            checked = self.scheme.check(FIRST, [started[one.nonce] for one in going], [one.told for one in going])
            accepted, found = [], []
            for one, made in zip(going, checked, strict=True):
                if isinstance(made, HubbubError):
                    self._refuse(made)
                    refusals[one.nonce] = made.code
                else:
                    accepted.append(one.nonce)
                    found.append(made)
            for nonce, code in refusals.items():
                self.file.refuse(nonce, code)
                self._move(BEGUN, REFUSED)
            self._add(accepted, found)
            dropped = tuple(one.nonce for one in going if one.nonce in refusals)
            verdicts = Verdicts(self._digest, tuple(accepted), dropped)
            if going:
                self.file.keep_verdicts(verdicts.encode())
        return verdicts

    def settled(self, verdicts: Verdicts) -> None:
        """The second server has settled these."""
        self._refresh()
        with self._changing("settled"):
            self.file.drop_verdicts(verdicts.encode())

    def close(self) -> OpenRequest:
        """Take no more reports, and give this server's noisy share of the sum: once."""
        self._refresh()
        self._while_open()
        self.scheme.enough(self.reports)  # refused before anything changes: more reports may still come
        with self._giving_up_if_set_back(), self._changing("close"):
            for nonce, _, _ in (*self.file.parts(WAITING), *self.file.parts(BEGUN)):
                late = ReportRejected("Not checked before the query was closed.")
                self._refuse(late)
                self.file.refuse(nonce, late.code)
            self._checking.clear()
            checksum = self.checksum
            told = self._once(checksum, lambda: self._opening(checksum).encode())
            self._last = self.key.locked(told, self._digest)
            self.file.put(state=b"closed", last=self._last)
            self.state = "closed"
            self._stages = self.file.stages()
        return OpenRequest.decode(told)

    def _opening(self, checksum: bytes) -> OpenRequest:
        return OpenRequest(self._digest, self.reports, checksum, self.scheme.noisy(FIRST, self.total))

    def publish(self, result: Result) -> Opened:
        """The second server's result, if it is about what was added here."""
        self.expect(result.query)
        if self.state != "closed":
            raise QueryClosed("A result is expected once, after the query was closed.")
        if result.opened.reports != self.reports:
            raise QueryMismatch(f"The result is about {result.opened.reports:,} reports; {self.reports:,} were added.")
        with self._changing("publish"):
            self._finish(result)
        self.file.shrink()
        return result.opened

    def _resume(self) -> None:
        """Whatever was begun begins the same way again: it follows from the part and the key."""
        self._checking = {}
        begun = self.file.parts(BEGUN)
        parts = [self._part(nonce, sealed) for nonce, sealed, _ in begun]
        for (nonce, _, other), one in zip(begun, self.scheme.start(FIRST, parts) if parts else [], strict=True):
            assert isinstance(one, Started)  # it was one before
            self._checking[nonce] = (other, one)

    def _part(self, nonce: bytes, sealed: bytes) -> Part:
        return Part(nonce, self.key.open(sealed, FIRST, self._digest, nonce))
