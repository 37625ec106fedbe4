"""The bound that nearly everybody keeps: against the definition, and what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.privacy.risk import MOST_PERIODS, risk, risk_of_rate, risk_of_sample, share


def exact_above(bound: int, n: int, p: Fraction) -> Fraction:
    return sum((math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(bound + 1, n + 1)), Fraction(0))


@pytest.mark.parametrize(("rate", "periods"), [(0.0137, 10), (0.3, 12), (0.9, 7), (1e-6, 50), (1.0, 3)])
@pytest.mark.parametrize("confidence", [0.5, 0.99, 0.999, 0.999999])
def test_rate_against_rational_arithmetic(rate: float, periods: int, confidence: float) -> None:
    p = Fraction(rate)
    risk = risk_of_rate(rate, periods, confidence)
    bound = risk.chosen.bound
    assert exact_above(bound, periods, p) <= 1 - Fraction(confidence)
    assert bound == 1 or exact_above(bound - 1, periods, p) > 1 - Fraction(confidence)
    for row in risk.candidates:
        assert row.kept == pytest.approx(float(1 - exact_above(row.bound, periods, p)), rel=1e-12)
        lost = sum((exact_above(k, periods, p) for k in range(row.bound, periods)), Fraction(0))
        assert row.dropped == pytest.approx(float(lost / (periods * p)), rel=1e-9)  # relative, even at 1e-40
        assert row.laplace_noise == row.bound / periods
        assert row.gaussian_noise == pytest.approx(math.sqrt(row.bound / periods))


def test_a_tiny_share_keeps_its_digits() -> None:
    # 1 - cdf would be exactly 0 here; the survival function is not.
    last = risk_of_rate(1e-8, 50, 0.999).candidates[-1]
    assert last.bound == 3
    assert last.kept == 1
    assert 0 < last.dropped < 1e-19


def test_noise_is_compared_with_the_ticks_of_the_stream() -> None:
    assert risk_of_rate(0.0137, 10, ticks=3650).chosen.laplace_noise == 2 / 3650


def test_sample_against_the_definition_of_clopper_pearson() -> None:
    sample = [0] * 9000 + [1] * 900 + [2] * 98 + [7] * 2
    risk = risk_of_sample(sample, 0.999, certainty=0.95)
    assert risk.people == 10_000
    n, above = 10_000, 2
    p = 1 - risk.chosen.kept_at_least
    likely = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(above + 1))
    assert likely == pytest.approx(0.05, rel=1e-6)
    assert risk.chosen.kept == pytest.approx(0.9998)
    assert risk.chosen.dropped == pytest.approx((2 * 5) / (900 + 196 + 14))


def test_a_sample_is_not_taken_for_the_truth() -> None:
    # Nobody among 100 came twice; that says little about one in a thousand.
    with pytest.raises(InvalidParameter, match="too few"):
        risk_of_sample([1] * 100, 0.999)
    # The number it asks for is the smallest that suffices.
    with pytest.raises(InvalidParameter) as refused:
        risk_of_sample([1] * 100, 0.99)
    needed = int(refused.value.hint.split(" people")[0].rsplit(" ", 1)[1])
    assert risk_of_sample([1] * needed, 0.99).chosen.bound == 1
    with pytest.raises(InvalidParameter):
        risk_of_sample([1] * (needed - 1), 0.99)


def test_ticks_are_a_bound_that_needs_no_sample() -> None:
    risk = risk_of_sample([1] * 10, 0.999, ticks=30)
    assert risk.chosen.bound == 30
    assert risk.chosen.kept_at_least == 1


def test_all_zero_and_all_alike() -> None:
    assert risk_of_sample([0] * 10_000).chosen.bound == 1
    assert risk_of_sample([0] * 10_000).chosen.dropped == 0
    assert risk_of_sample([4] * 10_000).chosen.bound == 4


def test_large_bounds_show_their_neighbours() -> None:
    risk = risk_of_rate(0.5, 1000)
    assert risk.chosen in risk.candidates
    assert [b.bound for b in risk.candidates] == sorted({b.bound for b in risk.candidates})
    assert risk.to_dict()["chosen"]["bound"] == risk.chosen.bound
    assert "at most" in risk.sentence
    assert "people tell" in risk_of_sample([1] * 5000).sentence


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, float("nan"), float("inf"), True, "0.1"])
def test_wrong_rates(rate: float) -> None:
    with pytest.raises(InvalidParameter, match="rate"):
        risk_of_rate(rate, 10)


@pytest.mark.parametrize("confidence", [0, 1, -1, float("nan"), True, "x"])
def test_wrong_confidence(confidence: float) -> None:
    with pytest.raises(InvalidParameter, match="confidence"):
        risk_of_rate(0.1, 10, confidence)
    with pytest.raises(InvalidParameter, match="confidence"):
        risk_of_sample([1], confidence)
    with pytest.raises(InvalidParameter, match="certainty"):
        risk_of_sample([1], certainty=confidence)


@pytest.mark.parametrize("periods", [0, -1, 1.5, True, MOST_PERIODS + 1])
def test_wrong_periods(periods: int) -> None:
    with pytest.raises(InvalidParameter, match="periods"):
        risk_of_rate(0.1, periods)


def test_wrong_ticks() -> None:
    with pytest.raises(InvalidParameter, match="ticks"):
        risk_of_rate(0.1, 10, ticks=9)
    with pytest.raises(InvalidParameter, match="ticks"):
        risk_of_rate(0.1, 10, ticks=0)
    with pytest.raises(InvalidParameter, match="more than `ticks`"):
        risk_of_sample([1, 12], ticks=10)


@pytest.mark.parametrize("sample", [[], [-1], [1.5], [True], ["2"], [None], [MOST_PERIODS + 1]])
def test_wrong_samples(sample: list[int]) -> None:
    with pytest.raises(InvalidInput):
        risk_of_sample(sample)


def test_shares_near_one_round_down() -> None:
    assert share(0.99969) == "99.969 %"
    assert share(0.999699) == "99.969 %"
    assert share(1.0) == "100 %"
    assert share(0.0) == "0 %"


def test_one_function_for_rates_and_samples() -> None:
    assert risk(0.0137, 10) == risk_of_rate(0.0137, 10)
    sample = [0] * 9000 + [1] * 900 + [2] * 100
    assert risk(sample=sample) == risk_of_sample(sample)
    assert str(risk(0.0137, 10)) == risk(0.0137, 10).sentence
    for given in ({}, {"rate": 0.5}, {"rate": 0.5, "periods": 2, "sample": sample}):
        with pytest.raises(InvalidParameter, match="not both"):
            risk(**given)
