"""Conversions never claim more than is true."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hubbub.privacy.zcdp import epsilon_of_rho, rho_of_epsilon

RHOS = st.floats(1e-8, 50).map(Fraction)
DELTAS = st.floats(-30, -0.1).map(lambda power: Fraction(10.0**power))
EPSILONS = st.floats(1e-4, 50).map(Fraction)


def gaussian_delta(rho: float, epsilon: float) -> float:
    """The Gaussian mechanism with zCDP rho exactly (Balle & Wang 2018, Thm 8), in logarithms."""
    m = math.sqrt(2 * rho)
    one = stats.norm.logcdf(m / 2 - epsilon / m)
    two = epsilon + stats.norm.logcdf(-m / 2 - epsilon / m)
    return float(math.exp(one) * -math.expm1(min(two - one, 0.0)))


@given(RHOS, DELTAS)
def test_covers_the_gaussian_mechanism(rho: Fraction, delta: Fraction) -> None:
    # It is rho-zCDP, so whatever is said of rho-zCDP must be true of it.
    epsilon = float(epsilon_of_rho(rho, delta))
    assert gaussian_delta(float(rho), epsilon) <= float(delta) * (1 + 1e-6)


@given(RHOS, DELTAS)
def test_not_worse_than_the_simple_formula(rho: Fraction, delta: Fraction) -> None:
    # Bun & Steinke 2016, Prop. 1.3: rho + 2 sqrt(rho ln(1/delta)).
    simple = float(rho) + 2 * math.sqrt(float(rho) * -math.log(float(delta)))
    assert float(epsilon_of_rho(rho, delta)) <= simple * (1 + 1e-6) + 2e-9


@given(EPSILONS, DELTAS)
def test_there_and_back_never_gains(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_of_epsilon(epsilon, delta)
    assert epsilon_of_rho(rho, delta) <= epsilon
    assert 0 < rho <= epsilon


@given(RHOS, DELTAS, st.floats(1.01, 4).map(Fraction))
def test_monotone(rho: Fraction, delta: Fraction, factor: Fraction) -> None:
    assert epsilon_of_rho(rho * factor, delta) >= epsilon_of_rho(rho, delta)
    assert epsilon_of_rho(rho, delta / factor) >= epsilon_of_rho(rho, delta)


def test_extremes_are_numbers() -> None:
    for rho in (Fraction(1, 10**300), Fraction(10**30), Fraction(10**300)):
        for delta in (Fraction(1, 10**300), Fraction(999, 1000)):
            assert epsilon_of_rho(rho, delta) >= 0
    assert epsilon_of_rho(Fraction(10**30), Fraction(1, 10**9)) >= 10**30
