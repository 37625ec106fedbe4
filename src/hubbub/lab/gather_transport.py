"""A round of `hubbub.gather` in one process: every message as bytes, timed and counted by phase."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hubbub.gather import Client, Helper, HomomorphicScheme, Leader, Prio3Scheme, Query, Scheme, SealKey
from hubbub.gather.homomorphic import keys
from hubbub.gather.messages import Announcement, Message
from hubbub.gather.opened import Opened

PHASES = ("set-up", "collecting", "adding", "opening")
PER_ASKED = 256
Kind = TypeVar("Kind", bound=Message)


@dataclass
class Traffic:
    """What was sent, and how long the processor took, by phase."""

    messages: Counter[str] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def told(self, phase: str, message: Kind, times: int = 1) -> Kind:
        """The message as whoever gets it reads it."""
        data = message.encode()
        self.messages[phase] += times
        self.sent[phase] += len(data) * times
        return type(message).decode(data)

    def timed(self, phase: str, what: Callable[..., Any], *given: Any) -> Any:
        begin = time.process_time()
        try:
            return what(*given)
        finally:
            self.seconds[phase] += time.process_time() - begin


def gathered(
    query: Query,
    answers: Iterable[Any],
    verify_key: bytes | None = None,
    traffic: Traffic | None = None,
    waiting: int = PER_ASKED,
) -> Opened:
    """Real reports of these answers, through both servers' machines: Prio3 with a `verify_key`, otherwise BFV.

    Set-up: keys, and telling each client. Collecting: clients' reports and their receipt. Adding: checking and adding.
    Opening: noise of both, and the sum.
    """
    told = Traffic() if traffic is None else traffic
    seals = SealKey.make(), SealKey.make()

    def set_up() -> tuple[Scheme, Scheme, bytes]:
        if verify_key is not None:
            return Prio3Scheme(query, verify_key), Prio3Scheme(query, verify_key), b""
        public, secret = keys(query)
        return HomomorphicScheme(query, public=public), HomomorphicScheme(query, secret=secret), public

    first, second, public = told.timed("set-up", set_up)
    leader, helper = Leader(first, seals[0]), Helper(second, seals[1])
    announcement = Announcement(query, first.name, (seals[0].public, seals[1].public), public)
    client: Client | None = None

    def check() -> None:
        while (request := leader.ask(PER_ASKED)) is not None:
            answer = helper.check(told.told("adding", request))
            helper.settle(told.told("adding", leader.conclude(told.told("adding", answer))))

    for answer in answers:
        heard = told.told("set-up", announcement)
        # Clients of one process share what they read; these answer whatever is promised.
        client = Client.of(heard, query.noise.strength) if client is None else client
        made = told.timed("collecting", client.report, answer)
        leader_hears = told.told("collecting", made)
        told.timed("collecting", leader.receive, leader_hears)
        if leader.waiting >= waiting:
            told.timed("adding", check)
    told.timed("adding", check)

    def opening() -> Opened:
        request = told.told("opening", leader.close())
        return leader.publish(told.told("opening", helper.open(request)))

    return told.timed("opening", opening)  # type: ignore[no-any-return]
