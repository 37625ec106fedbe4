"""Two desks of one plan, joined without a network: what travels is bytes, and either may be away or crash."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hubbub.errors import GatherUnavailable
from hubbub.gather.client import Client
from hubbub.gather.helper_desk import HelperDesk
from hubbub.gather.leader_desk import Book, LeaderDesk
from hubbub.gather.peer import mark_of_request, path_of
from hubbub.gather.planning import planned
from hubbub.gather.prio3 import Histogram

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Gathering:
    """`clock` is a list of one time. `away` says which servers do not answer."""

    def __init__(self, folder: Path, *, book: Book | None = None, circuit: Any = None, **asked: Any) -> None:
        plan = {
            "clients": 20, "minimum": 3, "epsilon": 1600, "allow_weak": True, "opens": BEGIN,
            "every": timedelta(minutes=10), "grace": timedelta(minutes=5),
        } | asked  # fmt: skip
        self.plan, self.keys = planned("colours", circuit or Histogram(4), **plan)
        self.folder, self.book = folder, book
        self.clock = [BEGIN]
        self.away = False
        self.said: list[str] = []
        self.over: list[str] = []
        self.helper = self.start_helper()
        self.leader = self.start_leader()

    # ── servers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def start_helper(self) -> HelperDesk:
        return HelperDesk(
            self.plan, self.keys["helper"], self.folder / "helper", clock=lambda: self.clock[0], say=self.said.append,
            on_over=lambda: self.over.append("helper"),
        )  # fmt: skip

    def start_leader(self) -> LeaderDesk:
        return LeaderDesk(
            self.plan, self.keys["leader"], self.folder / "leader", self.peer, book=self.book,
            clock=lambda: self.clock[0], say=self.said.append, on_over=lambda: self.over.append("leader"),
        )  # fmt: skip

    def peer(self, key: bytes) -> Any:
        world = self

        class Direct:
            def tell(self, tick: int, step: str, message: bytes) -> bytes:
                if world.away:
                    raise GatherUnavailable("The other server does not answer.")
                mark = mark_of_request(key, path_of(tick, step), message)
                return world.helper.tell(tick, step, message, mark)[0]

        return Direct()

    def restart(self, *names: str) -> None:
        for name in names or ("leader", "helper"):
            getattr(self, name).stop()
            setattr(self, name, getattr(self, f"start_{name}")())

    def stop(self) -> None:
        self.leader.stop()
        self.helper.stop()

    # ── a round ──────────────────────────────────────────────────────────────────────────────────────────────────

    def later(self, **length: float) -> None:
        self.clock[0] += timedelta(**length)

    def report(self, answer: Any, tick: int = 0) -> bytes:
        return Client.of(self.plan.announcement(tick), epsilon=10**6).report(answer).encode()

    def send(self, *answers: Any, tick: int = 0) -> list[bytes]:
        reports = [self.report(answer, tick) for answer in answers]
        for report in reports:
            self.leader.take(tick, report)
        return reports

    def work(self, until: Callable[[], bool] = lambda: False) -> None:
        for _ in range(100):
            if not self.leader.look() or until():
                return
        raise AssertionError("it never comes to an end")

    def finish(self, tick: int = 0) -> Any:
        """The clock moves to the round's close; what came out."""
        self.clock[0] = max(self.clock[0], self.plan.closes(tick))
        self.work()
        self.work()
        return self.leader.result(tick)

    def __enter__(self) -> Gathering:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
