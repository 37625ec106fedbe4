"""Wu et al. 2019: the worked example, and figures of the exact calculation."""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.privacy import Event, Guarantee
from hubbub.ranges import Fenwick, Tree
from hubbub.ranges.calibration import Calibration

EPSILON_ONE = Calibration(Guarantee.pure(Event(), 1))


def squared_error(strategy, a, b):
    """In the paper's units: continuous Laplace noise of scale h/epsilon has variance 2 h^2/epsilon^2."""
    return sum(np.multiply(strategy.uses(a, b), EPSILON_ONE.unit_variance(strategy)))


@pytest.mark.parametrize(("height", "first_eight", "first_four"), [(3, 36, 18), (4, 32, 32)])
def test_the_worked_example(height, first_eight, first_four):
    """Section 3.1: [1,8] costs 36 with height 3 and 32 with height 4; [1,4] costs 18 and 32."""
    tree = Fenwick(height)
    assert squared_error(tree, 0, 8) == first_eight
    assert squared_error(tree, 0, 4) == first_four


def test_a_range_can_need_more_nodes_than_the_height():
    """Section 3.1 says it cannot; the range [4,7] needs five at height 4."""
    assert sum(Fenwick(4).uses(3, 7)) == 5


def test_figures_of_the_exact_calculation():
    """Length 1,024: height 8 gives 1,920, the full height of a window of 32,768 gives 6,045 inside one tree.

    The second to half a percent, since the plan does not say which places were counted: all inside one tree give 6,061,
    all places of a row of trees 6,128.
    """
    inside = [squared_error(Fenwick(16), a, a + 1024) for a in range(0, 32_768 - 1024 + 1, 3)]
    assert np.mean(inside) == pytest.approx(6045, rel=0.005)
    assert Fenwick(8).mean_uses(np.array([1024]))[0] @ EPSILON_ONE.unit_variance(Fenwick(8)) == 1920


@pytest.mark.parametrize(
    ("strategy", "stated"),
    [(Fenwick(1), 684), (Fenwick(11), 2179), (Tree((32,), trust=Fraction(32, 33)), 164)],
    ids=str,
)
def test_all_ranges_of_1024_ticks(strategy, stated):
    """Mean squared error x epsilon^2 of all ranges of 1,024 ticks, against the figures of the plan."""
    rng = np.random.default_rng(1)
    if strategy.kind == "tree":  # all ranges, by the mean over lengths and places
        ends = [(a, b) for a in range(0, 1024, 7) for b in range(a + 1, 1025, 5)]
    else:
        ends = [tuple(sorted(rng.choice(1025, 2, replace=False).tolist())) for _ in range(30_000)]
    assert np.mean([squared_error(strategy, a, b) for a, b in ends]) == pytest.approx(stated, rel=0.02)


def test_prefixes_of_a_13_ary_tree_with_subtraction():
    """Prefixes of 1,024 ticks: 171 where the binary tree has 1,210."""
    tree = Tree((13, 13), subtracts=True)
    assert np.mean([squared_error(tree, 0, b) for b in range(1, 1025)]) == pytest.approx(171, rel=0.01)
    binary = Fenwick(11)
    assert np.mean([squared_error(binary, 0, b) for b in range(1, 1025)]) == pytest.approx(1210, rel=0.01)
