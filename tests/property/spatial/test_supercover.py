"""Nothing that moves on a road can stand off the raster, however the road runs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hubbub.released import Grid
from hubbub.spatial.supercover import supercover

# Whole and half cells too: borders and corners are where rasters go wrong.
_PLACE = st.one_of(st.integers(-2, 14).map(float), st.integers(-4, 28).map(lambda n: n / 2), st.floats(-2, 14))
_SHARE = st.one_of(st.just(0.0), st.just(1.0), st.floats(0, 1), st.integers(0, 24).map(lambda n: n / 24))


@st.composite
def _grids(draw):
    columns, rows = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    west, south = draw(st.sampled_from([0.0, 0.1, -7.3, 281.0, 4.5e6])), draw(st.sampled_from([0.0, 3935.0, -1 / 3]))
    size = draw(st.sampled_from([1.0, 0.1, 23.02, 1 / 3]))
    return Grid(columns, rows, bounds=(west, south, west + columns * size, south + rows * size)), west, south, size


@given(_grids(), st.lists(st.tuples(_PLACE, _PLACE, _PLACE, _PLACE), min_size=1, max_size=6), st.lists(_SHARE))
def test_every_point_of_a_line_lies_in_a_cell_that_the_line_touches(made, lines, shares):
    grid, west, south, size = made
    x0, y0, x1, y1 = (np.array(column) for column in zip(*lines, strict=True))
    x0, x1, y0, y1 = west + size * x0, west + size * x1, south + size * y0, south + size * y1
    touched = supercover(grid, (x0, y0), (x1, y1))
    for line in range(len(lines)):
        cells = set(touched.cell[touched.line == line].tolist())
        for share in [*shares, 0.0, 0.5, 1.0]:
            # The two ways in which a position on a road is usually computed; they round differently.
            for x, y in (
                (x0 + share * (x1 - x0), y0 + share * (y1 - y0)),
                ((1 - share) * x0 + share * x1, (1 - share) * y0 + share * y1),
            ):
                cell = int(grid.cells(x, y)[line])
                assert cell == -1 or cell in cells


@given(_grids(), st.lists(st.tuples(_PLACE, _PLACE, _PLACE, _PLACE), min_size=1, max_size=6))
def test_cells_that_are_touched_lie_within_a_hair_of_the_line(made, lines):
    grid, west, south, size = made
    x0, y0, x1, y1 = (np.array(column) for column in zip(*lines, strict=True))
    x0, x1, y0, y1 = west + size * x0, west + size * x1, south + size * y0, south + size * y1
    touched = supercover(grid, (x0, y0), (x1, y1))
    pairs = list(zip(touched.line.tolist(), touched.cell.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    shares = np.bincount(touched.line, touched.share, minlength=len(lines))
    assert (touched.share >= 0).all()
    assert (shares <= 1 + 1e-6).all()
    ux, uy = grid.scaled(x0, y0)
    vx, vy = grid.scaled(x1, y1)
    for line, cell in pairs:
        row, column = divmod(cell, grid.columns)
        corners = [(column + dx, row + dy) for dx in (0, 1) for dy in (0, 1)]
        ax, ay, bx, by = ux[line], uy[line], vx[line], vy[line]
        sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in corners]
        near = 1e-4 * (1 + abs(bx - ax) + abs(by - ay))
        assert min(sides) <= near, "the whole cell lies on one side of the line"
        assert max(sides) >= -near, "the whole cell lies on the other side of the line"
        assert min(ax, bx) - 1e-4 <= column + 1
        assert max(ax, bx) + 1e-4 >= column
        assert min(ay, by) - 1e-4 <= row + 1
        assert max(ay, by) + 1e-4 >= row
