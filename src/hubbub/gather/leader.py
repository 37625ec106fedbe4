"""The first server: receives, checks with the second one, adds and forgets."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Self

from hubbub.errors import GatherRefusal, HubbubError, InvalidInput, QueryClosed, QueryMismatch, ReportRejected
from hubbub.gather.kept import Kept
from hubbub.gather.messages import Asked, CheckAnswer, CheckRequest, OpenRequest, Result, SealedReport, Verdicts
from hubbub.gather.opened import Opened
from hubbub.gather.scheme import FIRST, Part, Scheme, Started
from hubbub.gather.sealing import SealKey
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

    def __init__(self, scheme: Scheme, key: SealKey) -> None:
        super().__init__(scheme, key)
        self._waiting: dict[bytes, tuple[Part, bytes]] = {}
        self._checking: dict[bytes, tuple[Part, bytes, Started]] = {}
        self._verdicts: list[Verdicts] = []

    @property
    def waiting(self) -> int:
        """Reports that were received and not asked about."""
        return len(self._waiting)

    def receive(self, report: SealedReport) -> None:
        """Take a report in; whatever is wrong with it raises, and is counted."""
        try:
            self._expect(report.query)
            self._while_open()
            if self.reports + len(self._waiting) + len(self._checking) >= self.query.clients:
                raise QueryClosed(f"{self.query.name!r} was planned for {self.query.clients:,} reports; it has them.")
            # The seal first: a stranger must not use up somebody's nonce.
            body = self.key.open(report.first, FIRST, self._digest, report.nonce)
            self._once(report.nonce)
        except (GatherRefusal, InvalidInput) as error:
            self._refuse(error)
            raise
        self._waiting[report.nonce] = (Part(report.nonce, body), report.second)

    def ask(self, most: int = 256) -> CheckRequest | None:
        """Begin to check up to so many reports; what the second server must hear of them, or None if there are none."""
        self._while_open()
        taken = [self._waiting.pop(nonce) for nonce in list(islice(self._waiting, most))]
        begun = []
        for (part, sealed), one in zip(taken, self.scheme.start(FIRST, [part for part, _ in taken]), strict=True):
            if isinstance(one, HubbubError):
                self._refuse(one)
            else:
                self._checking[one.nonce] = (part, sealed, one)
                begun.append(one.nonce)
        return self._request(begun) if begun else None

    def unanswered(self) -> list[CheckRequest | Verdicts | OpenRequest]:
        """What was sent, or may not have been, and is not answered yet: to be sent again after a crash."""
        again: list[CheckRequest | Verdicts | OpenRequest] = list(self._verdicts)
        if self._checking:
            again.append(self._request(list(self._checking)))
        if self.state == "closed":
            again.append(OpenRequest.decode(self._last))
        return again

    def _request(self, nonces: list[bytes]) -> CheckRequest:
        chosen = [self._checking[nonce] for nonce in nonces]
        return CheckRequest(self._digest, tuple(Asked(one.nonce, sealed, one.told) for _, sealed, one in chosen))

    def conclude(self, answer: CheckAnswer) -> Verdicts:
        """Decide about reports, add those that both accept, and forget them all."""
        self._expect(answer.query)
        nonces = [one.nonce for one in answer.items]
        if len(set(nonces)) != len(nonces) or not set(nonces) <= set(self._checking):
            raise QueryMismatch("The other server answers about reports that it was not asked about.")
        going = []
        for one in answer.items:
            _, _, started = self._checking.pop(one.nonce)
            if one.refusal:
                self.refused[one.refusal] += 1
            else:
                going.append((started, one.told))
        checked = self.scheme.check(FIRST, [one for one, _ in going], [told for _, told in going])
        accepted = []
        for (started, _), found in zip(going, checked, strict=True):
            if isinstance(found, HubbubError):
                self._refuse(found)
            else:
                accepted.append((started.nonce, found))
        self._add([nonce for nonce, _ in accepted], [found for _, found in accepted])
        taken = {nonce for nonce, _ in accepted}
        dropped = tuple(one.nonce for one in answer.items if not one.refusal and one.nonce not in taken)
        verdicts = Verdicts(self._digest, tuple(nonce for nonce, _ in accepted), dropped)
        self._verdicts.append(verdicts)
        return verdicts

    def settled(self, verdicts: Verdicts) -> None:
        """The second server has settled these."""
        self._verdicts = [one for one in self._verdicts if one != verdicts]

    def close(self) -> OpenRequest:
        """Take no more reports, and give this server's noisy share of the sum: once."""
        self._while_open()
        self.scheme.enough(self.reports)  # refused before anything changes: more reports may still come
        for _ in (*self._waiting, *self._checking):
            self._refuse(ReportRejected("Not checked before the query was closed."))
        self._waiting.clear()
        self._checking.clear()
        self.state = "closed"
        share = self.scheme.noisy(FIRST, self.total)
        request = OpenRequest(self._digest, self.reports, self.checksum, share)
        self._last = request.encode()
        return request

    def publish(self, result: Result) -> Opened:
        """The second server's result, if it is about what was added here."""
        self._expect(result.query)
        if self.state != "closed":
            raise QueryClosed("A result is expected once, after the query was closed.")
        if result.opened.reports != self.reports:
            raise QueryMismatch(f"The result is about {result.opened.reports:,} reports; {self.reports:,} were added.")
        self.state = "opened"
        self._last = result.encode()
        return result.opened

    def snapshot(self) -> Kept:
        waiting = tuple((part.nonce, part.body, sealed) for part, sealed in self._waiting.values())
        checking = tuple((part.nonce, part.body, sealed) for part, sealed, _ in self._checking.values())
        verdicts = tuple(one.encode() for one in self._verdicts)
        return replace(super().snapshot(), waiting=waiting, checking=checking, verdicts=verdicts)

    @classmethod
    def restore(cls, scheme: Scheme, key: SealKey, kept: Kept) -> Self:
        leader = super().restore(scheme, key, kept)
        leader._waiting = {nonce: (Part(nonce, body), sealed) for nonce, body, sealed in kept.waiting}
        parts = [Part(nonce, body) for nonce, body, _ in kept.checking]
        # Whatever was begun begins the same way again: it follows from the part and the key.
        for part, (_, _, sealed), started in zip(parts, kept.checking, scheme.start(FIRST, parts), strict=True):
            if not isinstance(started, HubbubError):
                leader._checking[part.nonce] = (part, sealed, started)
        leader._verdicts = [Verdicts.decode(one) for one in kept.verdicts]
        return leader
