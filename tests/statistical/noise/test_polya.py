"""Do shares of noise sum to what they say, and to nothing of the kind where one is missing?

Error rate: as in `test_samplers.py`, 1e-10 a check, fewer than 30 checks: below 1e-8 together. A missing share of ten
shrinks the variance by a tenth; with 400,000 sums a chi-squared statistic in 50 bins moves by more than 1,000, where
150 is enough to reject: the controls pass by chance with a probability below 1e-9.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.statistical.noise.test_samplers import fits, has_the_tails, is_symmetric

from hubbub.noise import DiscreteLaplace, PolyaShare

SUMS = 400_000
CASES = [(Fraction(1), 10), (Fraction(1, 2), 3), (Fraction(20), 10), (Fraction(300), 25), (Fraction(7, 3), 1)]
each_case = pytest.mark.parametrize(("scale", "parts"), CASES)


def sums(scale: Fraction, parts: int, taken: int) -> np.ndarray:
    return PolyaShare(scale, parts).sample(SUMS * taken).reshape(SUMS, taken).sum(axis=1)


@each_case
def test_shares_sum_to_discrete_laplace(scale, parts):
    drawn, noise = sums(scale, parts, parts), DiscreteLaplace(scale)
    assert fits(drawn, noise)
    assert has_the_tails(drawn, noise)
    assert is_symmetric(drawn)


@each_case
def test_control_one_missing_of_ten_is_found(scale, parts):
    drawn = sums(scale, parts + 1, parts) if parts < 10 else sums(scale, parts, parts - parts // 10)
    noise = DiscreteLaplace(scale)
    assert not fits(drawn, noise)


@each_case
def test_control_a_scale_off_by_five_percent_is_found(scale, parts):
    drawn, noise = sums(scale * Fraction(95, 100), parts, parts), DiscreteLaplace(scale)
    assert not fits(drawn, noise) or not has_the_tails(drawn, noise)


def test_more_shares_than_needed_add_noise():
    drawn = sums(Fraction(20), 10, 15)
    noise = DiscreteLaplace(20)
    # The variance is one and a half times as large; its standard error is below 0.5 % of it (kurtosis below 6).
    assert 1.45 < drawn.var() / noise.variance < 1.55
