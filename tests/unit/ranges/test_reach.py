"""The half width of a combined answer's interval: enough for any weights, by the exact tail of a sum of Laplaces."""

import itertools
import math

import numpy as np
import pytest

from hubbub.ranges.window import LAPLACE_REACH


def tail(scales, deviations):
    """P[|sum of independent Laplaces| > deviations standard errors]; the scales must all differ."""
    squares = np.array(scales) ** 2
    t = deviations * math.sqrt(2 * squares.sum())
    total = 0.0
    for i, square in enumerate(squares):
        others = np.delete(squares, i)
        total += float(np.prod(square / (square - others))) * math.exp(-t / scales[i])
    return total


def test_the_formula_is_right():
    assert tail([3.0], LAPLACE_REACH) == pytest.approx(0.05)
    # Two equal scales have the density of a gamma mixture: P[|X + Y| > t] = (1 + t/2) e^-t.
    assert tail([1.0, 1.0000001], 2.0) == pytest.approx((1 + 4 / 2) * math.exp(-4), rel=1e-4)


@pytest.mark.parametrize("many", [2, 3, 4, 5, 6])
def test_any_weights_are_covered(many):
    grid = np.geomspace(0.01, 1, 12 if many > 3 else 40)
    worst = 0.0
    for scales in itertools.combinations(grid, many):
        worst = max(worst, tail(scales, LAPLACE_REACH))
    assert worst <= 0.05
    # The control: a Gaussian's half width is too narrow for sums that one noise dominates.
    assert max(tail(scales, 1.96) for scales in itertools.combinations(grid, many)) > 0.05
