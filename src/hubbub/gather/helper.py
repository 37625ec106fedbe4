"""The second server: checks with the first, adds and forgets; opens one sum of enough reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from hubbub.errors import GatherRefusal, HubbubError, InvalidInput, QueryClosed, QueryMismatch
from hubbub.gather.kept import Kept
from hubbub.gather.messages import Asked, CheckAnswer, CheckRequest, OpenRequest, Result, Told, Verdicts
from hubbub.gather.scheme import SECOND, Part, Scheme
from hubbub.gather.sealing import SealKey
from hubbub.gather.tally import Tally


class Helper(Tally):
    """Helper, or key server. `check` what the first server asks, `settle` by its verdicts, `open` once.

    Guarantee
        As `Leader`; and no sum is opened of fewer than `minimum` reports, of other reports than those that were added
        here, or twice. Its noise is drawn when it opens, and never again.
        Proof: docs/proofs/gather.md, section 3.
    """

    server = SECOND

    def __init__(self, scheme: Scheme, key: SealKey) -> None:
        super().__init__(scheme, key)
        self._pending: dict[bytes, tuple[bytes, Any]] = {}
        self._asked = b""

    def check(self, request: CheckRequest) -> CheckAnswer:
        """What is found of each report, in the order of the request."""
        self._expect(request.query)
        self._while_open()
        refusals: dict[int, HubbubError] = {}
        parts: dict[int, Part] = {}
        for at, one in enumerate(request.items):
            if one.nonce in self._pending:  # asked again after a crash: the answer is what it was
                continue
            try:
                parts[at] = self._unsealed(one)
            except (GatherRefusal, InvalidInput) as error:
                refusals[at] = error
        going = {}
        for at, started in zip(parts, self.scheme.start(SECOND, list(parts.values())), strict=True):
            if isinstance(started, HubbubError):
                refusals[at] = started
            else:
                going[at] = started
        told = [request.items[at].told for at in going]
        for at, found in zip(going, self.scheme.check(SECOND, list(going.values()), told), strict=True):
            if isinstance(found, HubbubError):
                refusals[at] = found
            else:
                self._pending[request.items[at].nonce] = (going[at].told, found)
        items = []
        for at, one in enumerate(request.items):
            if at in refusals:
                self._refuse(refusals[at])
                items.append(Told(one.nonce, b"", refusals[at].code))
            else:
                items.append(Told(one.nonce, self._pending[one.nonce][0]))
        return CheckAnswer(self._digest, tuple(items))

    def settle(self, verdicts: Verdicts) -> None:
        """Add what both accept, and forget what the first server dropped. Said twice it is done once."""
        self._expect(verdicts.query)
        named = verdicts.accepted + verdicts.dropped
        if len(set(named)) != len(named):
            raise QueryMismatch("The other server decides twice about a report.")
        if self._settled_before(verdicts):
            return
        self._while_open()
        if not set(named) <= set(self._pending):
            raise QueryMismatch("The other server decides about reports that were not accepted here.")
        found = {nonce: self._pending.pop(nonce)[1] for nonce in named}
        self._add(verdicts.accepted, [found[nonce] for nonce in verdicts.accepted])

    def open(self, request: OpenRequest) -> Result:
        """The one result of the query. From here on nothing is taken or opened; asked the same again it is told again,
        with the noise that was drawn."""
        self._expect(request.query)
        if self.state == "opened" and request.encode() == self._asked:
            return Result.decode(self._last)
        if self.state == "opened":
            raise QueryClosed(f"{self.query.name!r} was opened before: another look would be another release.")
        if (request.reports, request.checksum) != (self.reports, self.checksum):
            raise QueryMismatch(
                f"The servers added different reports: {request.reports:,} there, {self.reports:,} here.",
                "Nothing was opened. Compare the servers' logs.",
            )
        self.scheme.enough(self.reports)
        self.state = "opened"  # before noise is drawn: whatever happens now, it is not drawn again
        self._pending.clear()
        opened = self.scheme.open([request.share, self.scheme.noisy(SECOND, self.total)], self.reports)
        result = Result(self._digest, opened)
        self._asked, self._last = request.encode(), result.encode()
        return result

    def snapshot(self) -> Kept:
        encode = self.scheme.encode_accepted
        pending = tuple((nonce, told, encode(found)) for nonce, (told, found) in self._pending.items())
        return replace(super().snapshot(), pending=pending, asked=self._asked)

    @classmethod
    def restore(cls, scheme: Scheme, key: SealKey, kept: Kept) -> Self:
        helper = super().restore(scheme, key, kept)
        helper._pending = {nonce: (told, scheme.decode_accepted(share)) for nonce, told, share in kept.pending}
        helper._asked = kept.asked
        return helper

    def _settled_before(self, verdicts: Verdicts) -> bool:
        """Whether this was said before, and done: after a crash the first server says it again."""
        named = set(verdicts.accepted + verdicts.dropped)
        known = named <= self._seen and not named & set(self._pending)
        return bool(named) and known and named & self._added == set(verdicts.accepted)

    def _unsealed(self, one: Asked) -> Part:
        body = self.key.open(one.sealed, SECOND, self._digest, one.nonce)
        self._once(one.nonce)
        return Part(one.nonce, body)
