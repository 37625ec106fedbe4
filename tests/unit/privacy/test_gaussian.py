"""Many Gaussian releases: never below the truth, never above zCDP."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

from hubbub.errors import InvalidParameter, MissingExtra
from hubbub.privacy.gaussian import GaussianReleases, variance_for
from hubbub.privacy.zcdp import epsilon_of_rho, rho_of_epsilon


def true_epsilon(variance: float, changes: int, delta: float) -> float:
    """By brute force. The loss of n shifted numbers depends on their sum only: (n/2 + S)/s^2, S a sum of noises, whose
    probabilities are n plain convolutions of positive terms (no Fourier transform, no bins)."""
    reach = math.ceil(14 * math.sqrt(variance)) + 2
    support = np.arange(-reach, reach + 1)
    one = np.exp(-(support**2) / (2 * variance))
    one /= one.sum()
    total = np.array([1.0])
    for _ in range(changes):
        total = np.convolve(total, one)
    loss = (np.arange(len(total)) - (len(total) - 1) // 2 + changes / 2) / variance

    def delta_at(epsilon: float) -> float:
        worse = loss > epsilon
        return float(-(total[worse] * np.expm1(epsilon - loss[worse])).sum())

    if delta_at(0.0) <= delta:
        return 0.0
    return float(optimize.brentq(lambda e: delta_at(e) - delta, 0, loss.max(), xtol=1e-13))


def analytic_epsilon(variance: float, changes: int, delta: float) -> float:
    """The continuous Gaussian mechanism exactly (Balle & Wang 2018, Thm 8)."""
    m = math.sqrt(changes / variance)

    def delta_at(epsilon: float) -> float:
        return float(stats.norm.cdf(m / 2 - epsilon / m) - math.exp(epsilon) * stats.norm.cdf(-m / 2 - epsilon / m))

    return float(optimize.brentq(lambda e: delta_at(e) - delta, 0, 500, xtol=1e-12))


@pytest.mark.parametrize("delta", ["1e-2", "1e-5", "1e-9", "2e-11"])
@pytest.mark.parametrize(
    ("variance", "changes"), [("0.05", 3), ("0.3", 1), ("1", 5), ("4", 20), ("100", 20), ("870", 20), ("10000", 50)]
)
def test_between_truth_and_zcdp(variance: str, changes: int, delta: str) -> None:
    releases = GaussianReleases(Fraction(variance), changes)
    found, truth = float(releases.epsilon(delta)), true_epsilon(float(Fraction(variance)), changes, float(delta))
    assert found >= truth
    assert found <= truth * 1.003 + 1e-9  # bins round upward, but not far
    assert releases.epsilon(delta) <= releases.zcdp_epsilon(delta) == epsilon_of_rho(releases.rho, Fraction(delta))


@pytest.mark.parametrize("delta", [1e-5, 1e-9])
@pytest.mark.parametrize(("variance", "changes"), [(870, 20), (10_000, 50), (10**6, 365)])
def test_close_to_the_continuous_closed_form(variance: int, changes: int, delta: float) -> None:
    # A wide discrete Gaussian is nearly the continuous one.
    found = float(GaussianReleases(Fraction(variance), changes).epsilon(delta))
    assert found == pytest.approx(analytic_epsilon(variance, changes, delta), rel=2e-4)


def test_tighter_than_zcdp_where_it_matters() -> None:
    releases = GaussianReleases(Fraction(870), 20)
    assert releases.epsilon("1e-9") < Fraction(96, 100) * releases.zcdp_epsilon("1e-9")


@pytest.mark.parametrize(("variance", "delta"), [("870", "1e-12"), ("1e11", "1e-9"), ("1e-3", "1e-9")])
def test_zcdp_where_doubles_end(variance: str, delta: str) -> None:
    releases = GaussianReleases(Fraction(variance), 20)
    assert releases.epsilon(delta) == releases.zcdp_epsilon(delta)


def test_of_rho_is_what_a_perturbation_draws() -> None:
    releases = GaussianReleases.of_rho(Fraction(1, 100), releases=20, max_items=3)
    assert releases == GaussianReleases(Fraction(150), 60)
    assert releases.rho == 20 * Fraction(1, 100)


@pytest.mark.parametrize(("epsilon", "delta", "changes"), [("1", "1e-9", 20), ("0.1", "1e-6", 5), ("8", "1e-6", 1)])
def test_the_inverse(epsilon: str, delta: str, changes: int) -> None:
    variance = variance_for(epsilon, delta, changes)
    assert GaussianReleases(variance, changes).epsilon(delta) <= Fraction(epsilon)
    assert GaussianReleases(variance * Fraction(999, 1000), changes).epsilon(delta) > Fraction(epsilon)
    assert variance < Fraction(changes) / (2 * rho_of_epsilon(Fraction(epsilon), Fraction(delta)))


@pytest.mark.parametrize("delta", ["0", "1", "-1", "2"])
def test_wrong_delta(delta: str) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        GaussianReleases(Fraction(1), 1).epsilon(delta)


def test_wrong_parameters() -> None:
    with pytest.raises(InvalidParameter, match="variance"):
        GaussianReleases(Fraction(0), 1)
    with pytest.raises(InvalidParameter, match="changes"):
        GaussianReleases(Fraction(1), 0)
    with pytest.raises(InvalidParameter, match="changes"):
        variance_for(1, "1e-9", 0)
    with pytest.raises(InvalidParameter, match="epsilon"):
        variance_for(0, "1e-9", 1)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "dp_accounting"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(MissingExtra, match="accounting"):
        GaussianReleases(Fraction(870), 20).epsilon("1e-9")
