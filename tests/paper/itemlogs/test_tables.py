"""Goetz 2012, Tables 6.1 and 6.2 to the printed digits, and where the chapter's formulas fail."""

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

import pytest

from hubbub.itemlogs.thresholds import probabilistic, tail
from hubbub.itemlogs.zealous import Zealous
from hubbub.lab.zealous_tables import TABLE_61, TABLE_62, delta_indistinguishable, delta_probabilistic, publish_above


def printed_up(value):
    """Two digits, rounded up, of the first three: how the table's eight numbers are printed (1.4007e-8 is 1.4e-8)."""
    three = Decimal(f"{value:.2e}")
    return f"{Context(prec=2, rounding=ROUND_CEILING).plus(three):.1e}".replace("e+", "e")


@pytest.mark.parametrize("row", TABLE_61, ids=str)
def test_table_61(row):
    scale, publish, probabilistic_delta, indistinguishable_delta = row
    assert Decimal(printed_up(delta_probabilistic(500_000, 5, 1, publish, scale))) == Decimal(probabilistic_delta)
    assert Decimal(printed_up(delta_indistinguishable(5, publish, scale))) == Decimal(indistinguishable_delta)


@pytest.mark.parametrize(("keep", "printed"), TABLE_62)
def test_table_62_is_for_delta_0_001_not_0_01_as_its_caption_says(keep, printed):
    assert f"{publish_above(500_000, 2, keep, 0.001, scale=4):.1f}" == printed
    assert f"{publish_above(500_000, 2, keep, 0.01, scale=4):.1f}" != printed


def test_printed_63_is_unsafe_with_its_own_noise():
    """tau' = m (1 - ln(2 delta'/m)/epsilon') with lambda = 2m/epsilon': half of the margin that the noise needs."""
    m, epsilon, delta = 5, Fraction(1), 1e-6
    scale = 2 * m / epsilon
    printed = m * (1 - math.log(2 * delta / m) / float(epsilon))
    slips = m * tail(scale, math.ceil(printed) - 1)  # a user's m items, at a count of 1, pass it
    assert slips > 100 * delta
    safe = m + float(scale) * math.log(m / (2 * delta))
    assert m * tail(scale, math.ceil(safe) - 1) <= delta


def test_proposition_12_is_not_always_best():
    """m = 7, epsilon = 10: the ceiling of 2m/epsilon is 2, and 1 is better (as printed, with lambda = 2m/epsilon)."""
    assert publish_above(500_000, 7, 1, 0.001, scale=1.4) < publish_above(500_000, 7, 2, 0.001, scale=1.4)


@pytest.mark.parametrize(("epsilon", "m"), [(1, 2), (10, 7), (5, 1), (Fraction(1, 2), 10), (20, 3)])
def test_the_search_finds_the_smallest_of_all_whole_numbers(epsilon, m):
    numbers = Fraction(epsilon), Fraction(1, 1000), m, 500_000
    best = probabilistic(*numbers)
    assert best.publish == min(probabilistic(*numbers, keep=keep).publish for keep in range(1, best.publish + 1))


def test_theorem_15_does_not_fit_its_own_thresholds():
    """An item of tau' users (very frequent by Def. 10) is missed half of the time, not exp(-2 xi/lambda)/2 of it."""
    method = Zealous(1, "0.001", max_items=5, users=500_000)
    publish, scale = method.thresholds.publish, float(method.thresholds.scale)
    xi = method.thresholds.margin / 2
    assert method.miss_probability(publish) > 0.5 > 100 * math.exp(-2 * xi / scale) / 2
    # What holds: from tau' + xi on, below exp(-xi/lambda)/2 but for the discrete steps.
    assert method.miss_probability(math.ceil(publish + xi)) <= math.exp(-(xi - 1) / scale) / 2
    assert method.miss_probability(method.thresholds.keep - 1) == 1
