"""Trees of areas and their errors, on grids of any shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.released import Grid
from hubbub.spatial import AreaErrors, AreaTree
from hubbub.spatial.area_belief import AreaBelief

SIDES = st.integers(1, 40)


@given(SIDES, SIDES)
def test_levels_are_partitions_one_inside_the_other(columns, rows):
    tree = AreaTree.of(Grid(columns, rows))
    assert tree.levels[-1].of.tolist() == list(range(columns * rows))
    assert tree.levels[0].many <= max(32, 1)
    for at, level in enumerate(tree.levels):
        assert sorted(set(level.of.tolist())) == list(range(level.many))
        above = np.zeros(columns * rows, dtype=int) if at == 0 else tree.levels[at - 1].of
        assert (tree.parents[at][level.of] == above).all(), "an area lies in one larger area"
        assert tree.added(at, tree.expected[at]) == pytest.approx(np.ones(tree.above(at)))


@given(SIDES, SIDES, st.integers(0, 2**32 - 1))
def test_an_area_and_the_rest_make_up_the_whole(columns, rows, seed):
    draw = np.random.default_rng(seed)
    keys = Grid(columns, rows)
    belief = AreaBelief.begin(AreaTree.of(keys), 1000.0, 400.0).later(1e-3)
    levels = belief.expected()
    errors = AreaErrors.of(levels, 0.01, 1.0)
    values = levels[-1].now
    assert values.sum() == pytest.approx(1000.0)
    chosen = draw.random(len(keys)) < draw.random()
    one, rest = (errors.causes(keys, values, np.flatnonzero(some)) for some in (chosen, ~chosen))
    assert one.value + rest.value == pytest.approx(1000.0)
    assert min(one.variance, rest.variance) >= 0
    # Both have the same causes, so that their errors can be added: what shares do to one they undo in the other.
    whole = float(((one.loads + rest.loads)[:-1] ** 2 * one.variances[:-1]).sum())
    assert whole == pytest.approx(0.01 * 1000.0**2)
