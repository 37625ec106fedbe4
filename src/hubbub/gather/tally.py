"""What both servers keep of a query: which reports were seen, what was added, and whether it is over."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, Self

from hubbub.errors import HubbubError, QueryClosed, QueryMismatch, ReportReplayed
from hubbub.gather.kept import Kept
from hubbub.gather.scheme import Scheme, Total
from hubbub.gather.sealing import SealKey


class Tally:
    """One server's side of one query, without I/O: messages go in, messages come out.

    A report's nonce is remembered for as long as the query lives, its share only until it is added or refused.

    To survive a crash: after each message write `snapshot()` down, and only then send what came out; at the start
    `restore` it, and send again what `unanswered` and the other server ask for. Whatever is sent twice is taken once.
    """

    server: int

    def __init__(self, scheme: Scheme, key: SealKey) -> None:
        self.scheme = scheme
        self.query = scheme.query
        self.key = key
        self.total: Total = scheme.add(self.server, [])
        self.state: Literal["open", "closed", "opened"] = "open"
        self.refused: Counter[str] = Counter()
        """How many reports were refused, by the code of the reason."""
        self._digest = scheme.query.digest
        self._seen: set[bytes] = set()
        self._added: set[bytes] = set()
        self._last: bytes = b""

    @property
    def reports(self) -> int:
        return self.total.reports

    @property
    def checksum(self) -> bytes:
        """The same for the same added reports. It finds an honest disagreement; it proves nothing about a server that
        lies, and need not: what noise protects does not depend on which reports were added."""
        return hashlib.sha256(self._digest + b"".join(sorted(self._added))).digest()

    def snapshot(self) -> Kept:
        """All that this server knows of the query, for its own disk."""
        return Kept(
            self._digest, self.server, self.state, dict(self.refused), tuple(sorted(self._seen)),
            tuple(sorted(self._added)), self.scheme.encode_total(self.server, self.total), last=self._last,
        )  # fmt: skip

    @classmethod
    def restore(cls, scheme: Scheme, key: SealKey, kept: Kept) -> Self:
        """The server as it was."""
        tally = cls(scheme, key)
        tally._expect(kept.query)
        if kept.server != cls.server:
            raise QueryMismatch("This was kept by the other server.")
        tally.state = kept.state  # type: ignore[assignment]
        tally.refused.update(kept.refused)
        tally._seen.update(kept.seen)
        tally._added.update(kept.added)
        tally.total = scheme.decode_total(cls.server, kept.total)
        tally._last = kept.last
        return tally

    def _add(self, nonces: Sequence[bytes], accepted: Sequence[Any]) -> None:
        self.total = self.scheme.add(self.server, accepted, self.total)
        self._added.update(nonces)

    def _expect(self, query: bytes) -> None:
        if query != self._digest:
            raise QueryMismatch("This message is about another query, or one with other parameters.")

    def _while_open(self) -> None:
        if self.state != "open":
            raise QueryClosed(f"{self.query.name!r} takes no more reports.")

    def _once(self, nonce: bytes) -> None:
        if nonce in self._seen:
            raise ReportReplayed("This report was sent before.")
        self._seen.add(nonce)

    def _refuse(self, error: HubbubError) -> None:
        self.refused[error.code] += 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.query.name!r}, {self.state}, {self.reports:,} reports)"
