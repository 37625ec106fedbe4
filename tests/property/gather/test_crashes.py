"""However often either server crashes, the sum is right, and noise that was sent is never drawn again."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.support.crashing_servers import CrashingRound

from hubbub.gather import HomomorphicScheme, Leader, Prio3Scheme, Query
from hubbub.gather.homomorphic import keys
from hubbub.gather.kept import Kept
from hubbub.gather.messages import OpenRequest
from hubbub.gather.prio3 import Histogram

KEY = bytes(32)
ANSWERS = [at * at % 5 for at in range(23)]


def round_of(name: str, epsilon: float, chance: float, seed: int) -> CrashingRound:
    query = Query.plan(
        "q", Histogram(5), clients=40, minimum=20, epsilon=epsilon, allow_weak=True, verify_key=KEY
    )  # fmt: skip
    if name == "prio3":
        return CrashingRound(query, [Prio3Scheme(query, KEY)] * 2, chance, seed)
    public, secret = keys(query)
    schemes = [HomomorphicScheme(query, public=public), HomomorphicScheme(query, secret=secret)]
    return CrashingRound(query, schemes, chance, seed)


@pytest.mark.parametrize(("name", "rounds"), [("prio3", 12), ("homomorphic", 4)])
def test_hundreds_of_crashes_do_not_change_a_sum(name, rounds):
    crashes = 0
    for seed in range(rounds):
        tried = round_of(name, 1600, chance=0.4, seed=seed)  # noise is 0 but for a chance of e^-800
        opened = tried.run(ANSWERS, at_once=1 + seed % 5)
        assert opened.sums == [Counter(ANSWERS)[k] for k in range(5)], seed
        assert opened.reports == len(ANSWERS)
        crashes += tried.crashes
    assert crashes > 100


def test_a_result_is_made_once():
    for seed in range(10):
        tried = round_of("prio3", 1, chance=0.5, seed=seed)
        opened = tried.run(ANSWERS, at_once=4)
        assert len(tried.results) == 1
        again = tried.servers[1].open(OpenRequest.decode(tried.servers[1].snapshot().asked))
        assert again.opened == opened


def test_control_a_server_that_wrote_nothing_down_has_lost_its_reports():
    tried = round_of("prio3", 1600, chance=0, seed=1)
    for answer in ANSWERS:
        tried.servers[0].receive(tried.client.report(answer))
    lost = Leader.restore(tried.schemes[0], tried.keys[0], Kept.decode(tried.disks[0]))
    assert (tried.servers[0].waiting, lost.waiting) == (len(ANSWERS), 0)
