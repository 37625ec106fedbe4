"""The simulator's fast way and real reports come to the same, in distribution.

Error rate: both ways are held against each other by a chi-squared test of 4,000 noises each, in bins by their size, at
1e-7; three tests. The control, noise of one server alone, has half the variance: its statistic lies above 500 where the
limit is below 60.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hubbub.gather import Entry, OwnEntries, Query, TopDown
from hubbub.gather.prio3 import Histogram
from hubbub.lab.gather_crowd import Crowd, noise_of_all, opened_fast
from hubbub.lab.gather_transport import gathered
from hubbub.noise import simulation
from hubbub.personal import Categories

LIMIT = 1e-7
LENGTH, ROUNDS = 400, 10
KEY = bytes(32)


def alike(one: np.ndarray, other: np.ndarray) -> bool:
    """A chi-squared test of two samples, in ten bins that hold equally many of both."""
    edges = np.unique(np.quantile(np.concatenate([one, other]), np.linspace(0, 1, 11)[1:-1]))
    table = [np.bincount(np.digitize(some, edges), minlength=len(edges) + 1) for some in (one, other)]
    return bool(stats.chi2_contingency(np.array(table)).pvalue > LIMIT)


@pytest.mark.parametrize("kind", [{"epsilon": "1/2"}, {"rho": "1/50"}], ids=["laplace", "gaussian"])
def test_noise_of_both_servers(kind):
    query = Query.plan("q", Histogram(LENGTH), clients=3, minimum=1, verify_key=KEY, **kind)
    truth = np.bincount([0, 1, 1], minlength=LENGTH)
    real = np.concatenate([np.array(gathered(query, [0, 1, 1], KEY).sums) - truth for _ in range(ROUNDS)])
    rng = np.random.default_rng(1)
    with simulation(1) as source:
        fast = [np.array(opened_fast(query, truth, 3, source, rng).sums) - truth for _ in range(ROUNDS)]
        one_server = np.concatenate([query.noise.draw(LENGTH) for _ in range(ROUNDS)])
    assert alike(real, np.concatenate(fast))
    assert not alike(real, one_server)


def test_noise_of_clients():
    """Ten clients' shares, of which six would do."""
    query = Query.plan("q", Histogram(LENGTH), clients=10, minimum=8, epsilon="1/2", lying=1)
    assert query.noise.parts == 6
    truth = np.bincount([0, 1, 1, 7, 7, 7, 7, 9, 9, 9], minlength=LENGTH)
    answers = np.repeat(np.arange(LENGTH), truth).tolist()
    real = np.concatenate([np.array(gathered(query, answers).sums) - truth for _ in range(ROUNDS)])
    with simulation(2) as source:
        rng = np.random.default_rng(2)
        fast = np.concatenate([noise_of_all(query, LENGTH, 10, source, rng) for _ in range(ROUNDS)])
    assert alike(real, fast)
    assert not alike(real, np.concatenate([sum(query.noise.draw(LENGTH) for _ in range(5)) for _ in range(ROUNDS)]))


def test_a_walk_with_real_reports_and_a_fast_one_have_the_same_clear_sums():
    """At an epsilon where noise is nearly always zero: both must agree about nearly every number."""
    town = Categories(
        {"town": None, "north": "town", "south": "town", "park": "north", "port": "north", "zoo": "south"}
    )
    rng = np.random.default_rng(3)
    names = ["park", "port", "zoo"]
    logs = [
        [Entry(names[int(rng.integers(3))], f"item {int(rng.integers(2))}", bool(rng.random() < 0.3)) for _ in range(2)]
        for _ in range(40)
    ]
    given = {
        "name": "w", "items": ["item 0", "item 1"], "max_items": 2, "clients": 40, "minimum": 1, "min_support": 8,
        "epsilon": 2000, "depths": (0, 1, 2), "verify_key": KEY, "allow_weak": True,
    }  # fmt: skip
    fast, real = TopDown(town, **given), TopDown(town, **given)
    crowd = Crowd(town, logs, 2, 2, seed=3)
    clients = [OwnEntries(town, log, max_items=2, epsilon=2000) for log in crowd.logs]
    with simulation(3) as source:
        while (asked := fast.ask()) is not None:
            again = real.ask()
            assert again is not None
            assert again[1].digest == asked[1].digest
            fast.take(opened_fast(asked[1], crowd.sums(asked[0]), 40, source, rng))
            real.take(gathered(asked[1], [mine.answer(*asked) for mine in clients], KEY))
    assert fast.found.counts == real.found.counts
    assert fast.found.clicked == real.found.clicked
    assert sum(fast.found.counts[name].value for name in ("north", "south")) == crowd.kept == 80
