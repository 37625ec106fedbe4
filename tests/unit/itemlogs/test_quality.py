"""Coverage and precision of a list, on examples worked by hand."""

import math

import numpy as np
import pytest

from hubbub.itemlogs.quality import coverage, difference, distance, divergence, relative_error, top

TRUE = np.array([8, 4, 3, 1, 0])


def test_the_most_frequent():
    assert top(TRUE, 2).tolist() == [0, 1]
    assert top(TRUE, 99).tolist() == [0, 1, 2, 3]  # nobody has the last


def test_coverage():
    found = np.array([9, 0, 2, 0, 0])
    assert coverage(TRUE, found, 1) == 1
    assert coverage(TRUE, found, 4) == 0.5
    assert coverage(np.zeros(3, dtype=np.int64), found[:3], 2) == 1


def test_precision_is_of_relative_frequencies():
    assert distance(TRUE, 2 * TRUE, 3) == 0
    assert distance(np.array([3, 1]), np.array([0, 4]), 2) == pytest.approx(0.75)
    assert divergence(TRUE, 2 * TRUE, 3) == pytest.approx(0)
    missing = divergence(np.array([3, 1]), np.array([3, 0]), 2)  # 0 is raised to 1
    assert missing == pytest.approx(0)
    assert divergence(np.array([2, 2]), np.array([3, 1]), 2) == pytest.approx(
        0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25)
    )


def test_the_average_difference_is_over_all_items_of_the_log():
    found = np.array([8, 0, 0, 0, 0])  # scaled to a total of 16: 16
    assert difference(TRUE, found) == pytest.approx((8 + 4 + 3 + 1) / 4)
    assert difference(TRUE, np.zeros(5, dtype=np.int64)) == pytest.approx(16 / 4)


def test_relative_error_is_of_what_was_published():
    assert relative_error(TRUE, np.array([6, 0, 3, 0, 0]), 3) == pytest.approx((0.25 + 0) / 2)
    assert math.isnan(relative_error(TRUE, np.zeros(5, dtype=np.int64), 3))
