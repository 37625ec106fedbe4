"""The second server: checks with the first, adds and forgets; opens one sum of enough reports."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from hubbub.errors import HubbubError, InvalidInput, Overloaded, QueryClosed, QueryMismatch, ReportReplayed
from hubbub.gather.messages import Asked, CheckAnswer, CheckRequest, OpenRequest, Result, Told, Verdicts
from hubbub.gather.round_file import ADDED, BEGUN, REFUSED
from hubbub.gather.scheme import SECOND, Part
from hubbub.gather.tally import Tally


class Helper(Tally):
    """Helper, or key server. `check` what the first server asks, `settle` by its verdicts, `open` once.

    Guarantee
        As `Leader`; and no sum is opened of fewer than `minimum` reports, of other reports than those that were added
        here, or twice. Its noise is drawn when it opens, and never again.
        Proof: docs/proofs/gather.md, section 3.
    """

    server = SECOND
    _pending: dict[bytes, tuple[bytes, Any]]

    def check(self, request: CheckRequest) -> CheckAnswer:
        """What is found of each report, in the order of the request. Asked again after a crash, it is what it was."""
        self.expect(request.query)
        self._while_open()
        new = [one for one in request.items if one.nonce not in self._pending]
        if len(self._pending) + len(new) > self.backlog:
            raise Overloaded("The other server asks about more reports than it settles.", "Settle some first.")
        told: dict[int, Told] = {}
        with self._changing("check"):
            fresh: dict[bytes, Asked] = {}
            for at, one in enumerate(request.items):
                if one.nonce in self._pending:
                    continue
                if one.nonce in fresh or ((stage := self.file.stage(one.nonce)) is not None and stage[0] != REFUSED):
                    again = ReportReplayed("This report was sent before.")
                    self._refuse(again)
                    told[at] = Told(one.nonce, b"", again.code)
                elif stage is not None:
                    told[at] = Told(one.nonce, b"", stage[1] or "report_replayed")
                else:
                    fresh[one.nonce] = one
            refusals = self._look(list(fresh.values()))
            for nonce, error in refusals.items():
                self._refuse(error)
                self.file.refuse(nonce, error.code)
                self._move(None, REFUSED)
            for nonce, one in fresh.items():
                if nonce not in refusals:
                    self.file.take_in(nonce, BEGUN, one.sealed, one.told)
                    self._move(None, BEGUN)
        items = []
        for at, one in enumerate(request.items):
            if at in told:
                items.append(told[at])
            elif one.nonce in refusals:
                items.append(Told(one.nonce, b"", refusals[one.nonce].code))
            else:
                items.append(Told(one.nonce, self._pending[one.nonce][0]))
        return CheckAnswer(self._digest, tuple(items))

    def _look(self, asked: Sequence[Asked]) -> dict[bytes, HubbubError]:
        """Check reports; what is accepted is pending, what is not is told."""
        refusals: dict[bytes, HubbubError] = {}
        parts: list[tuple[Asked, Part]] = []
        for one in asked:
            try:
                body = self.key.open(one.sealed, SECOND, self._digest, one.nonce)
                parts.append((one, Part(one.nonce, body)))
            except InvalidInput as error:
                refusals[one.nonce] = error
        going = []
        for (one, _), started in zip(parts, self.scheme.start(SECOND, [part for _, part in parts]), strict=True):
            if isinstance(started, HubbubError):
                refusals[one.nonce] = started
            else:
                going.append((one, started))
        checked = self.scheme.check(SECOND, [started for _, started in going], [one.told for one, _ in going])
        for (one, started), found in zip(going, checked, strict=True):
            if isinstance(found, HubbubError):
                refusals[one.nonce] = found
            else:
                self._pending[one.nonce] = (started.told, found)
        return refusals

    def settle(self, verdicts: Verdicts) -> None:
        """Add what both accept, and forget what the first server dropped. Said twice it is done once."""
        self.expect(verdicts.query)
        named = verdicts.accepted + verdicts.dropped
        if len(set(named)) != len(named):
            raise QueryMismatch("The other server decides twice about a report.")
        if self._settled_before(verdicts):
            return
        self._while_open()
        if not set(named) <= set(self._pending):
            raise QueryMismatch("The other server decides about reports that were not accepted here.")
        with self._changing("settle"):
            found = {nonce: self._pending.pop(nonce)[1] for nonce in named}
            self.file.settle(verdicts.dropped, REFUSED)
            self._move(BEGUN, REFUSED, len(verdicts.dropped))
            self._add(verdicts.accepted, [found[nonce] for nonce in verdicts.accepted])

    def open(self, request: OpenRequest) -> Result:
        """The one result of the query. From here on nothing is taken or opened; asked the same again it is told again,
        with the noise that was drawn."""
        self.expect(request.query)
        asked = hashlib.sha256(request.encode()).digest()
        if self.state == "opened" and asked == self.file.facts()["asked"]:
            return Result.decode(self._last)
        if self.state == "opened":
            raise QueryClosed(f"{self.query.name!r} was opened before: another look would be another release.")
        self._while_open()
        if (request.reports, request.checksum) != (self.reports, self.checksum):
            raise QueryMismatch(
                f"The servers added different reports: {request.reports:,} there, {self.reports:,} here.",
                "Nothing was opened. Compare the servers' logs.",
            )
        self.scheme.enough(self.reports)
        # Noise that is drawn in a transaction that fails was never told; noise that was told is on disk.
        with self._giving_up_if_set_back(), self._changing("open"):
            result = Result.decode(self._once(asked, lambda: self._opened(request).encode()))
            self._finish(result)
            self.file.put(asked=asked)
            self._pending.clear()
        self.file.shrink()
        return result

    def _opened(self, request: OpenRequest) -> Result:
        shares = [request.share, self.scheme.noisy(SECOND, self.total)]
        return Result(self._digest, self.scheme.open(shares, self.reports))

    def _resume(self) -> None:
        """What was accepted is found again from the sealed part and from what the first server had told."""
        self._pending = {}
        kept = [Asked(nonce, sealed, told) for nonce, sealed, told in self.file.parts(BEGUN)]
        if kept:
            self._look(kept)

    def _settled_before(self, verdicts: Verdicts) -> bool:
        """Whether this was said before, and done: after a crash the first server says it again."""
        named = verdicts.accepted + verdicts.dropped
        stages = {nonce: (self.file.stage(nonce) or (BEGUN,))[0] for nonce in named}
        known = all(stage in (ADDED, REFUSED) for stage in stages.values())
        return bool(named) and known and {n for n in named if stages[n] == ADDED} == set(verdicts.accepted)
