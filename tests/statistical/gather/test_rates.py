"""Rates of a walk lie in their intervals as often as is said.

Error rate: 2,000 items with known rates; if each interval holds its rate with 95 %, fewer than 1,846 of them do so with
a probability below 1e-6 (binomial). The control, intervals that forget the noise, holds far fewer.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hubbub.gather import TopDown
from hubbub.lab.gather_crowd import opened_fast
from hubbub.noise import simulation
from hubbub.personal import Categories, ClickRates
from hubbub.personal.rates import Tally

ITEMS = 2000
LEAST = int(stats.binom.ppf(1e-6, ITEMS, 0.95))
TREE = Categories({"town": None, "park": "town", "port": "town"})


@pytest.mark.parametrize("kind", [{"epsilon": "1/8"}, {"rho": "1/500"}], ids=["laplace", "gaussian"])
def test_intervals_hold_the_rates(kind):
    rng = np.random.default_rng(6)
    names = [f"item {at}" for at in range(ITEMS)]
    walk = TopDown(
        TREE, name="w", items=names, max_items=1, clients=10**6, minimum=1, min_support=1, depths=(0,),
        longest_round=2 * ITEMS, **kind,
    )  # fmt: skip
    _, query = walk.ask()
    truth = rng.uniform(0.02, 0.6, ITEMS)
    shown = rng.poisson(rng.choice([400, 1500, 6000], ITEMS))
    clicked = rng.binomial(shown, truth)
    sums = np.stack([shown - clicked, clicked], axis=1).reshape(-1)
    with simulation(6) as source:
        walk.take(opened_fast(query, sums, int(shown.sum()), source, rng))
    found = walk.found
    error = found.clicked["town", names[0]].standard_error
    assert error > 10, "noise must matter, or the control means nothing"
    rates = ClickRates.of_released(TREE, found.shown, found.clicked, min_support=20)
    values = [rates.rate(name, "park").value for name in names]
    held = sum(value.lower <= rate <= value.upper for value, rate in zip(values, truth, strict=True))
    assert held >= LEAST
    pairs = [(found.shown["town", name].value, found.clicked["town", name].value) for name in names]
    naive = [Tally(many, min(many, max(0.0, some))).rate() for many, some in pairs]
    assert sum(value.lower <= rate <= value.upper for value, rate in zip(naive, truth, strict=True)) < LEAST
