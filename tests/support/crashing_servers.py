"""Two servers that crash at every turn, before and after they have written down what they know.

A *step* hands one message to one server. A crash before its transaction is committed undoes it; after, it only keeps
the answer from being sent. What is left is the file. Whoever waits for an answer sends again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from hubbub.errors import ReportReplayed
from hubbub.gather import Client, Helper, Leader, Query, Scheme, SealKey, faults
from hubbub.gather.messages import CheckRequest, OpenRequest, Verdicts
from hubbub.gather.opened import Opened
from hubbub.gather.round_file import RoundFile


class Crashed(Exception):
    """No answer came."""


class CrashingRound:
    def __init__(self, query: Query, schemes: list[Scheme], chance: float, seed: int, folder: Path) -> None:
        self.query = query
        self.random = Random(seed)
        self.chance = chance
        self.crashes = 0
        self.results: set[bytes] = set()
        self.keys = SealKey.make(), SealKey.make()
        self.schemes = schemes
        self.client = Client(schemes[0], [key.public for key in self.keys])
        self.kinds: list[Any] = [Leader, Helper]
        self.files = [folder / f"{seed}-{server}.round" for server in (0, 1)]
        self.servers: list[Any] = [self.started(server) for server in (0, 1)]

    def started(self, server: int) -> Any:
        file = RoundFile(self.files[server], self.query.digest, server)
        return self.kinds[server](self.schemes[server], self.keys[server], file)

    def step(self, server: int, what: Callable[[Any], Any]) -> Any:
        """One message, handled by one server, which may crash at any of its fault points."""
        moment = self.random.choice(faults.MOMENTS) if self.random.random() < self.chance else ""

        def crash(point: str) -> None:
            if moment and point.endswith(moment):
                raise Crashed

        faults.install(crash)
        try:
            return what(self.servers[server])
        except Crashed:
            self.crashes += 1
            self.servers[server].file.close()
            self.servers[server] = self.started(server)
            raise
        finally:
            faults.install(None)

    def close(self) -> None:
        for server in self.servers:
            server.file.close()

    def until_answered(self, server: int, what: Callable[[Any], Any]) -> Any:
        while True:
            try:
                return self.step(server, what)
            except Crashed:
                continue

    def run(self, answers: list[Any], at_once: int) -> Opened:
        for at, answer in enumerate(answers):
            report = self.client.report(answer)
            with suppress(ReportReplayed):  # it was taken, and the thanks were lost
                self.until_answered(0, lambda leader, report=report: leader.receive(report))
            if at % at_once == at_once - 1:
                self.exchange()
        while self.servers[0].waiting:
            self.exchange()
        return self.finish()

    def exchange(self) -> None:
        with suppress(Crashed):
            self.step(0, lambda leader: leader.ask(most=self.random.randrange(1, 5)))
        self.send_what_is_unanswered()

    def send_what_is_unanswered(self) -> None:
        while messages := self.servers[0].unanswered():
            message = self.random.choice(messages[: max(1, len(messages) - 1)])
            if isinstance(message, OpenRequest):
                return
            try:
                self.send(type(message).decode(message.encode()))
            except Crashed:
                continue

    def send(self, message: CheckRequest | Verdicts) -> None:
        if isinstance(message, Verdicts):
            self.step(1, lambda helper: helper.settle(message))
            self.step(0, lambda leader: leader.settled(message))
        else:
            answer = self.step(1, lambda helper: helper.check(message))
            self.step(0, lambda leader: leader.conclude(answer))

    def finish(self) -> Opened:
        while True:
            try:
                if self.servers[0].state == "open":
                    self.step(0, lambda leader: leader.close())
                (request,) = [one for one in self.servers[0].unanswered() if isinstance(one, OpenRequest)]
                result = self.step(1, lambda helper, request=request: helper.open(request))
                self.results.add(result.encode())
                return self.until_published(result)
            except Crashed:
                continue

    def until_published(self, result: Any) -> Opened:
        while True:
            try:
                return self.step(0, lambda leader: leader.publish(result))
            except Crashed:
                if self.servers[0].state == "opened":
                    return result.opened
