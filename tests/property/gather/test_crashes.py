"""However often either server crashes, the sum is right, and noise that was sent is never drawn again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.support.crashing_servers import CrashingRound

from hubbub.gather import HomomorphicScheme, Prio3Scheme, Query
from hubbub.gather.homomorphic import keys
from hubbub.gather.prio3 import Histogram

KEY = bytes(32)
ANSWERS = [at * at % 5 for at in range(23)]


def round_of(name: str, epsilon: float, chance: float, seed: int, folder: Path) -> CrashingRound:
    query = Query.plan(
        "q", Histogram(5), clients=40, minimum=20, epsilon=epsilon, allow_weak=True, verify_key=KEY
    )  # fmt: skip
    if name == "prio3":
        return CrashingRound(query, [Prio3Scheme(query, KEY)] * 2, chance, seed, folder)
    public, secret = keys(query)
    schemes = [HomomorphicScheme(query, public=public), HomomorphicScheme(query, secret=secret)]
    return CrashingRound(query, schemes, chance, seed, folder)


@pytest.mark.parametrize(("name", "rounds"), [("prio3", 6), ("homomorphic", 2)])
def test_hundreds_of_crashes_do_not_change_a_sum(name, rounds, tmp_path):
    crashes = 0
    for seed in range(rounds):
        tried = round_of(name, 1600, chance=0.4, seed=seed, folder=tmp_path)  # noise is 0 but for a chance of e^-800
        opened = tried.run(ANSWERS, at_once=1 + seed % 5)
        assert opened.sums == [Counter(ANSWERS)[k] for k in range(5)], seed
        assert opened.reports == len(ANSWERS)
        crashes += tried.crashes
        tried.close()
    assert crashes > 40


def test_a_result_is_made_once(tmp_path):
    for seed in range(10):
        tried = round_of("prio3", 1, chance=0.5, seed=seed, folder=tmp_path)
        opened = tried.run(ANSWERS, at_once=4)
        assert len(tried.results) == 1
        assert tried.servers[0].result == tried.servers[1].result == opened
        tried.close()


def test_control_a_server_whose_file_was_lost_has_lost_its_reports(tmp_path):
    tried = round_of("prio3", 1600, chance=0, seed=1, folder=tmp_path)
    for answer in ANSWERS:
        tried.servers[0].receive(tried.client.report(answer))
    tried.close()
    kept = tried.started(0)
    assert kept.waiting == len(ANSWERS)
    kept.file.close()
    tried.files[0].unlink()
    assert tried.started(0).waiting == 0
