"""Two servers that crash at every turn, before and after they have written down what they know.

A *step* hands one message to one server. Before it is written down, a crash undoes it; after, it only keeps the answer
from being sent. Whoever waits for an answer sends again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from hubbub.errors import ReportReplayed
from hubbub.gather import Client, Helper, Leader, Query, Scheme, SealKey
from hubbub.gather.kept import Kept
from hubbub.gather.messages import CheckRequest, OpenRequest, Verdicts
from hubbub.gather.opened import Opened


class Crashed(Exception):
    """No answer came."""


class CrashingRound:
    def __init__(self, query: Query, schemes: list[Scheme], chance: float, seed: int) -> None:
        self.query = query
        self.random = Random(seed)
        self.chance = chance
        self.crashes = 0
        self.results: set[bytes] = set()
        self.keys = SealKey.make(), SealKey.make()
        self.schemes = schemes
        self.client = Client(schemes[0], [key.public for key in self.keys])
        self.kinds: list[Any] = [Leader, Helper]
        self.servers: list[Any] = [Leader(schemes[0], self.keys[0]), Helper(schemes[1], self.keys[1])]
        self.disks = [server.snapshot().encode() for server in self.servers]

    def step(self, server: int, what: Callable[[Any], Any]) -> Any:
        """One message, handled by one server, which may crash before or after writing."""
        when = self.random.random()
        answer = what(self.servers[server])
        if when > self.chance / 2:
            self.disks[server] = self.servers[server].snapshot().encode()
        if when > self.chance:
            return answer
        self.crashes += 1
        kept = Kept.decode(self.disks[server])
        self.servers[server] = self.kinds[server].restore(self.schemes[server], self.keys[server], kept)
        raise Crashed

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
