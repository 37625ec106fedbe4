"""FAST as in Fan 2014, chapter 3: what the text states in words, on its linear series."""

import numpy as np
import pytest

from hubbub.lab.fast12 import relative_error, run_method
from hubbub.lab.public_series import linear
from hubbub.noise import simulation

SERIES = linear(300)


def error(method, epsilon, runs=4, **settings):
    with simulation(21) as source:
        values = np.stack([run_method(SERIES, method, epsilon, source, **settings).values for _ in range(runs)])
    return relative_error(values, SERIES.counts).mean()


@pytest.mark.parametrize("epsilon", ["0.01", "0.1"])
def test_fast_is_closer_than_lpa_under_small_budgets(epsilon):
    """Section 3.3.3: "FAST methods greatly outperform the LPA algorithm, especially under small privacy budget"."""
    assert error("fast", epsilon) < error("uniform", epsilon) / 2


def test_the_best_noise_variance_grows_as_the_budget_shrinks():
    """Figure 3.4(b): at epsilon 0.1 the best R is a hundred times that at 1 (Theorem 3.6: proportional to 1/epsilon^2).

    The grid here has steps of a hundred, so the best may lie one step to either side of the true one.
    """
    everything = {"sampling": "fixed", "samples": 300}

    def best(epsilon):
        grid = [1e3, 1e5, 1e7, 1e9]
        return grid[int(np.argmin([error("fast", epsilon, noise_variance=r, **everything) for r in grid]))]

    assert best("0.1") >= 100 * best("1")


def test_more_particles_than_a_thousand_gain_little():
    """Figure 3.5(a): "no significant boost in accuracy when N is greater than 10^3" (10 % is our reading)."""
    everything = {"sampling": "fixed", "samples": 300, "filter": "particle"}
    few, usual, many = (error("fast", "1", 2, particles=n, **everything) for n in (10, 1000, 3000))
    assert usual < few
    assert many > 0.9 * usual
