"""What both servers keep of a query: which reports were seen, what was added, and whether it is over."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hubbub.errors import HubbubError, QueryClosed, QueryMismatch, StoreSetBack
from hubbub.gather.messages import Result
from hubbub.gather.opened import Opened
from hubbub.gather.round_file import ADDED, BEGUN, WAITING, RoundFile
from hubbub.gather.round_mark import RoundMark, set_back, without_a_mark
from hubbub.gather.scheme import Scheme, Total
from hubbub.gather.sealing import SealKey

BACKLOG = 1024
"""Reports that a server holds at a time, not yet settled: more are asked to come again."""

OVER = ("opened", "ended")
SET_BACK = set_back().code

UNSURE = "unsure"
"""Something went wrong, and the file was not read since."""


class Tally:
    """One server's side of one query, without a network: messages go in, messages come out.

    What it knows stands in its `file` before anything that follows from it comes out: a server that crashed is made
    again with the same file, and goes on. Whatever is sent twice is taken once. A report's nonce is remembered for as
    long as the query lives, its share only until it is added or refused. With a `mark`, a file that was set back to an
    older copy is given up.
    """

    server: int

    def __init__(
        self, scheme: Scheme, key: SealKey, file: RoundFile | None = None, *, mark: RoundMark | None = None,
        backlog: int = BACKLOG,
    ) -> None:  # fmt: skip
        self.scheme = scheme
        self.query = scheme.query
        self.key = key
        self.backlog = backlog
        self._digest = scheme.query.digest
        self.file = RoundFile(None, self._digest, self.server) if file is None else file
        self.refused: Counter[str] = Counter(json.loads(self.file.facts().get("refused", b"{}")))
        """How many reports were refused, by the code of the reason."""
        self.total: Total
        self._mark = mark
        self._drawn: tuple[object, bytes] | None = None
        self._stale = True
        self._refresh()
        self._compare_with_mark()
        if self.state in OVER:
            self.file.shrink()  # perhaps the last process had no time

    # ── what is known ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def reports(self) -> int:
        return self._reports

    @property
    def unsettled(self) -> int:
        """Reports that were taken in, and neither added nor refused."""
        return self._stages[WAITING] + self._stages[BEGUN]

    @property
    def checksum(self) -> bytes:
        """The same for the same added reports. It finds an honest disagreement; it proves nothing about a server that
        lies, and need not: what noise protects does not depend on which reports were added."""
        added = hashlib.sha256(self._digest)
        for nonce in self.file.added():
            added.update(nonce)
        return added.digest()

    @property
    def result(self) -> Opened | None:
        """What was opened, for everybody."""
        return Result.decode(self._last).opened if self.state == "opened" else None

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def expect(self, query: bytes) -> None:
        """Refuse what is about another query."""
        self._refresh()
        if query != self._digest:
            raise QueryMismatch("This message is about another query, or one with other parameters.")

    def end(self, code: str) -> None:
        """Give the query up, for the reason with this code: all shares are forgotten, and nothing is ever opened."""
        self._refresh()
        if self.state in OVER:
            return
        with self._changing("end"):
            self.file.forget()
            self.file.put(state=b"ended", ended=code.encode(), last=b"")
        self._stale = True
        self._refresh()
        self.file.shrink()

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _compare_with_mark(self) -> None:
        """Give up a file that does not know what this machine told; refuse one that this machine never began."""
        if self._mark is None or self.state in OVER:
            return
        told, is_open = self._mark.told, self.state == "open"
        if told is not None and (is_open or told != _hash(self.key.unlocked(self._last, self._digest))):
            self.end(SET_BACK)
        elif is_open and not self._mark.begun:
            raise without_a_mark()

    def _once(self, asked: object, draw: Callable[[], bytes]) -> bytes:
        """The one message with noise that ever leaves this server, marked outside of the file before it can.

        Tried again about the same, as after a full disk, it is the same message.
        """
        if self._drawn is None or self._drawn[0] != asked:
            self._drawn = asked, draw()
        if self._mark is not None:
            self._mark.tell(_hash(self._drawn[1]))
        return self._drawn[1]

    @contextmanager
    def _giving_up_if_set_back(self) -> Iterator[None]:
        try:
            yield
        except StoreSetBack:
            self.end(SET_BACK)
            raise

    def _refresh(self) -> None:
        """Know what the file knows: at the start, and after anything went wrong."""
        if not self._stale:
            return
        facts = self.file.facts()
        self.state = facts["state"].decode()
        self.ended = facts.get("ended", b"").decode()
        self._last = facts.get("last", b"")
        self._stages = self.file.stages()
        sealed = facts.get("total")
        self.total = self.scheme.add(self.server, [])
        if sealed is not None:
            self.total = self.scheme.decode_total(self.server, self.key.unlocked(sealed, self._digest))
        self._reports = int(facts.get("reports", b"0"))
        self._resume()
        self._stale = False

    def _resume(self) -> None:
        """What is needed to go on with reports that are being checked."""

    @contextmanager
    def _changing(self, step: str) -> Iterator[None]:
        """One transaction. Whatever goes wrong inside, the file counts: it is read anew before the next step."""
        try:
            with self.file.change(step, self.refused):
                yield
        except BaseException:
            self._stale, self.state = True, UNSURE  # what is only in memory is told to nobody
            raise

    def _move(self, source: int | None, to: int, reports: int = 1) -> None:
        if source is not None:
            self._stages[source] -= reports
        self._stages[to] += reports

    def _add(self, nonces: Sequence[bytes], accepted: Sequence[Any]) -> None:
        if not nonces:
            return
        self.total = self.scheme.add(self.server, accepted, self.total)
        self._reports = self.total.reports
        self.file.settle(nonces, ADDED)
        self._move(BEGUN, ADDED, len(nonces))
        kept = self.key.locked(self.scheme.encode_total(self.server, self.total), self._digest)
        self.file.put(total=kept, reports=str(self._reports).encode())

    def _finish(self, result: Result) -> None:
        """In a transaction: nothing is left but what everybody may know."""
        self.file.forget()
        self._last = result.encode()
        self.file.put(state=b"opened", last=self._last)
        self.state = "opened"
        self.total = self.scheme.add(self.server, [])
        self._stages.clear()

    def _while_open(self) -> None:
        if self.state != "open":
            raise QueryClosed(f"{self.query.name!r} takes no more reports.")

    def _refuse(self, error: HubbubError) -> None:
        self.refused[error.code] += 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.query.name!r}, {self.state}, {self.reports:,} reports)"


def _hash(message: bytes) -> bytes:
    return hashlib.sha256(message).digest()
