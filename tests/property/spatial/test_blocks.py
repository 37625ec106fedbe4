"""Squares are added up and laid out as cell by cell, whatever the grid."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hubbub.released import Grid
from hubbub.spatial.blocks import Blocks
from hubbub.spatial.noisy_sums import Parts


@given(st.integers(1, 6), st.integers(1, 6), st.sampled_from([1, 2, 4, 8]), st.integers(0, 2**32 - 1))
def test_squares_are_as_cell_by_cell(across, upward, side, seed):
    grid = Grid(across * side, upward * side)
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 2**52, len(grid))
    row, column = np.divmod(np.arange(len(grid)), grid.columns)
    square = row // side * across + column // side
    blocks = Blocks(grid, side)
    expected = [sum(values[square == one].tolist()) for one in range(across * upward)]
    assert blocks.sums(values).tolist() == expected
    each = draw.integers(-9, 9, (2, across * upward))
    assert (blocks.laid_out(each[0]) == each[0][square]).all()
    assert (blocks.laid_out(each) == each[:, square]).all()


@given(st.integers(1, 5), st.integers(1, 5), st.sampled_from([1, 2, 4]), st.integers(0, 2**32 - 1))
def test_parts_made_of_squares_are_the_same_as_parts_made_of_cells(across, upward, side, seed):
    """A part of several squares has the sum of its cells, to the last digit."""
    grid = Grid(across * side, upward * side)
    draw = np.random.default_rng(seed)
    of_squares = np.unique(draw.integers(0, 3, across * upward), return_inverse=True)[1]
    row, column = np.divmod(np.arange(len(grid)), grid.columns)
    of = of_squares[row // side * across + column // side].astype(np.int64)
    many = int(of.max()) + 1
    values = draw.integers(0, 2**52, len(grid))
    fast, slow = Parts(of, many, Blocks(grid, side)), Parts(of, many)
    assert (fast.sums(values) == slow.sums(values)).all()
    both = draw.normal(size=(2, many))
    assert (fast.laid_out(both) == slow.laid_out(both)).all()
    assert (fast.laid_out(both[0]) == both[0][of]).all()
