"""Counts chosen by someone who sees the releases: the exact divergence of the worst strategy, by brute force.

The proof (docs/proofs/ranges.md, "zCDP: streams that answer back") says: at most rho times the order, for whole orders;
between them trees, which look ahead, may need a little more. Here every noise of a small tree is listed.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hubbub.privacy import Event, Guarantee
from hubbub.privacy.zcdp import epsilon_of_rho, rho_of_epsilon
from hubbub.ranges import Fenwick, Toeplitz, Tree
from hubbub.ranges.calibration import Calibration

REACH = 14

# Tree((2,)): noises E of the top, z1 and z2 of two ticks. The first published prefix has the error (z1 - z2 + E)/2. In
# the end all three noisy sums are shown, more than is ever published. An event moves the top and its tick by one.
FIRST, SECOND, NEVER = (1, 1, 0), (1, 0, 1), (0, 0, 0)


def divergence(order, variance, now, later, seen=lambda top, one, two: one - two + top):
    """Of the given order, for the worst strategy: `now` at the first tick, or else one of `later` after it was seen."""
    noises = np.array(list(product(range(-REACH, REACH + 1), repeat=3)))
    weights = np.arange(-60, 61)
    total = np.log(np.exp(-(weights**2) / (2 * variance)).sum())

    def log_chance(drawn):
        return -(drawn**2).sum(axis=1) / (2 * variance) - 3 * total

    def terms(change):
        return np.exp(order * log_chance(noises) + (1 - order) * log_chance(noises - np.array(change)))

    _, group = np.unique(seen(*noises.T), return_inverse=True)
    sums = [max(terms(change).sum() for change in now)] if now else []
    sums.append(np.max([np.bincount(group, terms(change)) for change in later], axis=0).sum())
    return np.log(max(sums)) / (order - 1)


@pytest.mark.parametrize("variance", [0.2, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("order", [2, 3])
def test_a_tree_that_looks_ahead_keeps_whole_orders(variance, order):
    rho = 2 / (2 * variance)  # two sums, each changed by one
    found = divergence(order, variance, [FIRST], [SECOND, NEVER])
    assert found == pytest.approx(order * rho, rel=1e-9)  # and no less: who waits gains nothing, and loses nothing


@pytest.mark.parametrize("order", [1.1, 1.5, 2.5])
def test_between_whole_orders_the_chord_is_kept(order):
    """With very little noise, where whole numbers show most; the unit may also take the place of another."""
    variance, below = 0.2, int(order)
    rho = 1 / variance
    found = divergence(order, variance, [FIRST], [SECOND, NEVER, (-1, 0, -1)])
    chord = order * (order - 1) + (order - below) * (below + 1 - order)
    assert (order - 1) * found <= chord * rho + 1e-9


def test_control_who_sees_the_noise_itself_gains_at_whole_orders():
    """Published before the sum it hides, as no strategy does: then choosing the direction pays."""
    variance = 1.0
    later = [SECOND, (-1, 0, -1)]
    honest = divergence(2, variance, [], later)
    assert honest == pytest.approx(2 / variance, rel=1e-9)
    assert divergence(2, variance, [], later, seen=lambda top, _, two: 100 * top + two) > honest + 0.1


def test_a_delta_is_kept_with_whole_orders_at_next_to_no_price():
    delta = Fraction(1, 10**6)
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(2)):
        whole, all_orders = (rho_of_epsilon(epsilon, delta, whole_orders=w) for w in (True, False))
        assert 0.999 * all_orders <= whole <= all_orders * (1 + Fraction(1, 10**4))
        assert epsilon_of_rho(whole, delta, whole_orders=True) <= epsilon
        guarantee = Guarantee.approximate(Event(), epsilon, delta)
        for strategy in (Tree((4,)), Fenwick(2), Toeplitz(16)):
            calibration = Calibration(guarantee)
            wanted = strategy.square_weights(1)[0] / (2 * strategy.shares[0] * min(whole, guarantee.budget))
            assert calibration.unit_variance(strategy)[0] == pytest.approx(float(wanted), rel=1e-9)
