"""How often older protocols must begin again when people come and go (Goetz 2012, Figure 5.3), and what ours send.

A phase is the time in which the server sends a message to all users, or all users send one to the server; in each a
user is away with probability p, whatever happened before. The older protocols are not run: what is simulated is who is
there, and what is counted are phases and messages.

| protocol | set-up | a count | who must be there |
|---|---|---|---|
| Count (Goetz 2012) and Prio3 | none | the question, the answers | enough of all, in both |
| SHI (Shi et al. 2011) | a secret to each | the answers | all who have a secret |
| RASTOGI (Rastogi & Nath 2010) | a part of the key to each | answers, the sum, its opening | the same, in all |

Who was away at a set-up is not among those who have a secret. If one of them is missing, there is a new set-up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.gather import Query
from hubbub.gather.prio3 import Circuit, Count, Histogram
from hubbub.lab.experiment_result import Row
from hubbub.lab.gather_transport import PHASES, Traffic, gathered

QUERIES = 1000
MOST_PHASES = 200
"""What takes longer on average than this is reckoned, not simulated."""
MINIMUM = 0.75
"""Our protocol opens sums of at least this share of all."""


@dataclass(frozen=True)
class Older:
    """A protocol whose secrets fit together only if nobody is missing."""

    name: str
    phases: int

    def expected(self, people: int, away: float) -> float:
        """Phases of a count, on average; infinite where no computer number is large enough."""
        # So many have a secret, on average; all are there with probability q in each phase.
        log_q = people * (1 - away) * math.log1p(-away)
        if -log_q * self.phases > 700:
            return math.inf
        q = math.exp(log_q)
        attempts = q**-self.phases
        used = sum(q**step for step in range(self.phases))
        return attempts * used + (attempts - 1)

    def simulated(self, people: int, away: float, rng: np.random.Generator) -> float:
        """The mean of `QUERIES` counts, one after the other."""
        total, holders = 0, int(rng.binomial(people, 1 - away))
        for _ in range(QUERIES):
            step = 0
            while step < self.phases:
                total += 1
                if rng.random() < (1 - away) ** holders:
                    step += 1
                else:
                    total += 1  # a new set-up, for those who are there
                    holders, step = int(rng.binomial(people, 1 - away)), 0
        return total / QUERIES


OLDER = (Older("SHI", 1), Older("RASTOGI", 3))
PEOPLE = (100, 1000, 10_000, 100_000)
AWAY = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


def ours(people: int, away: float, rng: np.random.Generator) -> float:
    """Phases of a count: two, and two more for each time that too few were there."""
    total, minimum = 0, math.ceil(MINIMUM * people)
    for _ in range(QUERIES):
        while True:
            total += 2
            if rng.binomial(people, (1 - away) ** 2) >= minimum:
                break
    return total / QUERIES


def phase_rows(seed: int) -> list[Row]:
    """A row for each protocol, number of people and probability to be away; of a count, its first set-up apart."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for people in PEOPLE:
        for away in AWAY:
            mean = ours(people, away, rng)
            rows.append(_row("Count, Prio3", people, away, mean, mean, people * mean + 1))
            for protocol in OLDER:
                expected = protocol.expected(people, away)
                seen = protocol.simulated(people, away, rng) if expected <= MOST_PHASES else None
                rows.append(_row(protocol.name, people, away, expected, seen, people * expected))
    return rows


def _row(name: str, people: int, away: float, expected: float, seen: float | None, messages: float) -> Row:
    return {
        "protocol": name, "people": people, "away": away, "phases": expected, "simulated": seen, "messages": messages,
    }  # fmt: skip


def traffic_rows(clients: int, length: int) -> list[Row]:
    """Real reports of so many clients through both servers in this process, by scheme, circuit and phase."""
    rows: list[Row] = []
    key = bytes(range(32))
    circuits: Sequence[tuple[str, Circuit[Any, Any]]] = [
        ("one count", Count()), (f"{length:,} buckets", Histogram(length)),
    ]  # fmt: skip
    for what, circuit in circuits:
        answers = [at % 2 if circuit.name == "count" else at % length for at in range(clients)]
        for scheme, verify_key in (("Prio3", key), ("BFV", None)):
            # The paper's scheme has the noise of its clients; Prio3 that of both servers.
            noise: dict[str, Any] = {"epsilon": 1} if verify_key else {"epsilon": 1, "lying": 1}
            query = Query.plan("q", circuit, clients=clients, minimum=clients // 2, verify_key=verify_key, **noise)
            traffic = Traffic()
            gathered(query, answers, verify_key, traffic)
            for phase in PHASES:
                rows.append({
                    "what": what, "scheme": scheme, "phase": phase, "clients": clients,
                    "messages": traffic.messages[phase], "bytes_a_client": traffic.sent[phase] / clients,
                    "ms_a_client": 1000 * traffic.seconds[phase] / clients,
                })  # fmt: skip
    return rows
