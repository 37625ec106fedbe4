"""Clients that lie: whatever they prove, nothing of it is added."""

from __future__ import annotations

from random import Random
from typing import Any

from hubbub.errors import HubbubError
from hubbub.gather.prio3 import Field128, Prio3Histogram, Prio3L1BoundSum, ReportShare

KEY, CONTEXT = bytes(range(32)), b"tests"


class Lies:
    """What a client that lies may try: it proves what is not so with all its might."""

    def __init__(self, circuit: Any, values: list[int]) -> None:
        self._circuit = circuit
        self._values = values

    def __getattr__(self, name: str) -> Any:
        return getattr(self._circuit, name)

    def encode(self, _: Any) -> Any:
        return self._circuit.field.of(self._values)


KINDS_OF_LIES = {
    "a bucket twice": [2, 0, 0, 0],
    "two buckets": [1, 1, 0, 0],
    "no bucket": [0, 0, 0, 0],
    "minus one": [-1, 1, 1, 0],
    "a thousand, and back": [1001, -1000, 0, 0],
    "a half twice": [pow(2, -1, Field128.modulus)] * 2 + [0, 0],
}


def test_a_thousand_lying_clients_change_nothing():
    """Each client of these would move a count by what no honest one could; not one is added."""
    honest = Prio3Histogram(length=4, chunk_length=2)
    reports: list[list[ReportShare]] = [[], []]
    random = Random(8)
    for at in range(1020):
        liar = Prio3Histogram(length=4, chunk_length=2)
        if at >= 20:
            liar.circuit = Lies(liar.circuit, list(KINDS_OF_LIES.values())[at % 6])
            liar.proof.circuit = liar.circuit
        nonce = random.randbytes(16)
        public, inputs = liar.shard(CONTEXT, at % 4, nonce, random.randbytes(honest.randomness_size))
        for k in (0, 1):
            reports[k].append(ReportShare(nonce, public, inputs[k]))
    begun = [honest.verify_init_many(KEY, CONTEXT, k, reports[k]) for k in (0, 1)]
    told = [[begun[k][at][1] for k in (0, 1)] for at in range(1020)]
    messages = honest.verifier_shares_to_message_many(CONTEXT, told)
    accepted = [at for at, message in enumerate(messages) if not isinstance(message, HubbubError)]
    assert accepted == list(range(20))
    sums = [honest.aggregate([honest.verify_next(begun[k][at][0], messages[at]) for at in accepted]) for k in (0, 1)]
    assert honest.unshard(sums) == [5, 5, 5, 5]


HALF = pow(2, -1, Field128.modulus)
BOUNDED_LIES = {
    "more than all": [1, 1, 1, 1, 1, 1, 0, 0],
    "more than is told": [1, 1, 1, 1, 0, 0, 1, 0],
    "minus, and back": [1, 1, -1, 0, 0, 0, 0, 1],
    "a number of many bits": [7, 0, 0, 0, 0, 0, 1, 1],
    "halves": [HALF, 0, HALF, 0, 0, 0, 1, 0],
    "less than is told": [0, 0, 0, 0, 0, 0, 1, 1],
}


def test_a_thousand_clients_lie_about_how_much_they_have():
    """Three numbers that may add up to 3: whatever a liar proves, an accepted report adds no more than that."""
    honest = Prio3L1BoundSum(length=3, max_value=3, chunk_length=3)
    reports: list[list[ReportShare]] = [[], []]
    random = Random(9)
    for at in range(1020):
        liar = Prio3L1BoundSum(length=3, max_value=3, chunk_length=3)
        if at >= 20:
            liar.circuit = Lies(liar.circuit, list(BOUNDED_LIES.values())[at % 6])
            liar.proof.circuit = liar.circuit
        nonce = random.randbytes(16)
        public, inputs = liar.shard(CONTEXT, [at % 4, 0, 0], nonce, random.randbytes(honest.randomness_size))
        for k in (0, 1):
            reports[k].append(ReportShare(nonce, public, inputs[k]))
    begun = [honest.verify_init_many(KEY, CONTEXT, k, reports[k]) for k in (0, 1)]
    told = [[begun[k][at][1] for k in (0, 1)] for at in range(1020)]
    messages = honest.verifier_shares_to_message_many(CONTEXT, told)
    accepted = [at for at, message in enumerate(messages) if not isinstance(message, HubbubError)]
    assert accepted == list(range(20))
    sums = [honest.aggregate([honest.verify_next(begun[k][at][0], messages[at]) for at in accepted]) for k in (0, 1)]
    assert honest.unshard(sums) == [30, 0, 0]
