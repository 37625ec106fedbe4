"""All rounds of a plan at one server: found by their number, kept in files, told to whoever asks."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from hubbub.errors import QueryClosed, QueryMismatch, StoreUnavailable
from hubbub.gather.plan import Plan
from hubbub.gather.plan_hold import PlanHold
from hubbub.gather.round_file import RoundFile
from hubbub.gather.round_mark import RoundMark, set_back
from hubbub.gather.server_keys import ServerKeys
from hubbub.gather.tally import OVER, SET_BACK, Tally

T = TypeVar("T", bound=Tally)


def utc() -> datetime:
    return datetime.now(UTC)


class Desk(ABC, Generic[T]):
    """What a server's program answers, without the network (`GatherPort`). Called from several threads.

    Rounds lie in `folder`, a file each. When the last one is over, `on_over` is called: the keys have done their work.
    """

    server: int

    def __init__(
        self,
        plan: Plan,
        keys: ServerKeys,
        folder: Path,
        *,
        clock: Callable[[], datetime] = utc,
        say: Callable[[str], None] = lambda _: None,
        on_over: Callable[[], None] = lambda: None,
    ) -> None:
        self.plan, self.folder = plan, folder
        self._keys, self._clock, self._say, self._on_over = keys, clock, say, on_over
        self._turn = threading.RLock()
        self._rounds: dict[int, T] = {}
        self._told: dict[int, Mapping[str, Any]] = {}
        self.trouble = ""
        """What keeps a round from going on, in words for the owner."""
        plan.scheme_for(self.server, keys, 0)  # keys that do not fit are refused before anything is begun
        self._key = keys.shared_with(plan.servers[1 - self.server], "peer")
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"Rounds cannot be kept in {folder}: {error.strerror}.", "Give a folder that can be written to."
            ) from None
        self._hold = PlanHold(self._key, self.server)
        try:
            for path in sorted(folder.glob("*.round")):
                with suppress(ValueError):
                    self._at(int(path.stem))
            self._look_after_keys()
        except BaseException:
            self.close()
            raise

    # ── for everybody ────────────────────────────────────────────────────────────────────────────────────────────

    def about(self) -> bytes:
        return self.plan.encode()

    def announcement(self, tick: int) -> bytes:
        return self.plan.announcement(tick).encode()

    def result(self, tick: int) -> Mapping[str, Any]:
        """What a round came to, or how it stands."""
        self.plan.query_of(tick)
        with self._turn:
            if tick in self._told:
                return self._told[tick]
            # How many answered so far is told with the result alone: whoever watched the number could see who does.
            waits = self._clock() >= self.plan.begins(tick)
            return {"round": tick, "state": "open" if waits else "planned", "closes": self._closes(tick)}

    def status(self) -> Mapping[str, Any]:
        now = self._clock()
        over = sorted(self._told)
        state = "over" if len(over) == self.plan.ticks else "planned" if now < self.plan.opens else "running"
        facts = {"query": self.plan.query.name, "state": state, "rounds": self.plan.ticks, "over": len(over)}
        return {**facts, "newest": over[-1] if over else None}

    def take(self, tick: int, body: bytes, ticket: str = "") -> None:  # noqa: ARG002
        """Only the first server takes reports."""
        raise QueryMismatch("Reports go to the first server; this is the second one.")

    def tell(self, tick: int, step: str, message: bytes, shown: str) -> tuple[bytes, str]:  # noqa: ARG002
        """Only the second server answers the first one."""
        raise QueryMismatch("This is the first server; it asks, and answers clients alone.")

    # ── for the owner ────────────────────────────────────────────────────────────────────────────────────────────

    def counts(self, tick: int) -> Mapping[str, Any]:
        """What the owner may know of a round: how many were added, and what was refused why."""
        with self._turn:
            tally = self._at(tick)
            return {
                "round": tick,
                "state": tally.state,
                "ended": tally.ended,
                "reports": tally.reports,
                "unsettled": tally.unsettled,
                "refused": dict(tally.refused),
            }

    @property
    def is_over(self) -> bool:
        """Whether the last round is over, and closed."""
        return len(self._told) == self.plan.ticks and not self._rounds

    def close(self) -> None:
        with self._turn:
            for tally in self._rounds.values():
                tally.file.close()
            self._rounds.clear()
            self._hold.close()

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def _tally(self, tick: int, file: RoundFile, mark: RoundMark) -> T:
        """This server's side of a round."""

    def _at(self, tick: int) -> T:
        """A round, from its file; made if there is none."""
        found = self._rounds.get(tick)
        if found is None:
            path = self.folder / f"{tick}.round"
            digest = self.plan.query_of(tick).digest
            mark = RoundMark(self._key, digest, self.server)
            if not path.exists():
                mark.begin()
            file = RoundFile(path, digest, self.server)
            try:
                found = self._rounds[tick] = self._tally(tick, file, mark)
            except BaseException:
                file.close()
                raise
            self._note(tick)
        return found

    def _note(self, tick: int) -> None:
        """A round that is over needs no memory but for what it came to."""
        tally = self._rounds[tick]
        if tally.state not in OVER or tick in self._told:
            return
        facts: dict[str, Any] = {"round": tick, "state": tally.state, "closes": self._closes(tick)}
        if tally.result is not None:
            one = tally.result
            facts |= {
                "query": one.query, "labels": list(self.plan.labels), "sums": one.sums, "reports": one.reports,
                "asked": one.asked, "variance": one.variance, "promise": one.promise, "attested": one.attested,
            }  # fmt: skip
            self._say(f"round {tick}  opened, {one.reports:,} of {one.asked:,} answered")
        else:
            facts["reason"] = tally.ended
            why = f"{tally.ended}. {set_back()}" if tally.ended == SET_BACK else tally.ended
            self._say(f"round {tick}  given up: {why}")
        self._told[tick] = facts

    def _let_go(self, tick: int) -> None:
        """Close a round that is over, and the keys if it was the last."""
        if tick in self._told:
            tally = self._rounds.pop(tick, None)
            if tally is not None:
                tally.file.close()
            self._look_after_keys()

    def _look_after_keys(self) -> None:
        if len(self._told) == self.plan.ticks:
            self._on_over()

    def _closes(self, tick: int) -> str:
        return self.plan.closes(tick).isoformat()

    def _expect_round(self, tick: int, until: datetime) -> None:
        now = self._clock()
        if tick in self._told or not self.plan.begins(tick) <= now < until:
            raise QueryClosed(f"Round {tick:,} of {self.plan.query.name!r} takes nothing now.")
