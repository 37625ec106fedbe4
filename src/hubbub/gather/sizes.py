"""How large a plan's messages are."""

from __future__ import annotations

from functools import lru_cache

from hubbub.gather.client import Client
from hubbub.gather.plan import Plan

ANY = 10**6
"""An epsilon that every plan keeps: a report is made to be measured, and thrown away."""


def report_size(plan: Plan) -> int:
    """Bytes of a report; ciphertexts differ by a few."""
    return _size(plan.encode())


@lru_cache(maxsize=16)
def _size(encoded: bytes) -> int:
    plan = Plan.decode(encoded)
    circuit = plan.query.circuit
    many = circuit.name in ("sum_vec", "multihot_count_vec")
    report = Client.of(plan.announcement(0), epsilon=ANY).report([0] * circuit.output_length if many else 0)
    return len(report.encode())
