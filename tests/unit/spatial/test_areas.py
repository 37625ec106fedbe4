"""Questions in space: which cells, how many, how wrong."""

import numpy as np
import pytest

from hubbub.errors import InvalidParameter
from hubbub.released import Grid, Release, Tick
from hubbub.spatial import Hexagons, RoadCells, RoadGrid, in_polygon, in_rectangle, made_up, total

GRID = Grid(10, 8, bounds=(0, 0, 10, 8))


def test_a_rectangle_and_the_same_as_a_polygon():
    corners = [[2, 1], [6, 1], [6, 5], [2, 5], [2, 1]]
    cells = in_rectangle(GRID, (2, 1, 6, 5))
    assert len(cells) == 16
    assert cells.tolist() == in_polygon(GRID, {"type": "Polygon", "coordinates": [corners]}).tolist()
    assert in_rectangle(GRID, (0, 0, 10, 8)).tolist() == list(range(80))
    assert in_rectangle(GRID, (20, 20, 30, 30)).tolist() == []


def test_every_kind_of_map_can_be_asked():
    hexagons = Hexagons.covering((8.1, 53.0, 8.3, 53.2), 7)
    assert 0 < len(in_rectangle(hexagons, (8.1, 53.0, 8.2, 53.1))) < len(hexagons)
    roads = RoadCells(RoadGrid.over(made_up(50), 40, 40))
    west, south, east, north = roads.grid.bounds
    left, right = (in_rectangle(roads, box) for box in ((west, south, 0, north), (0, south, east, north)))
    assert len(left) + len(right) == len(roads)


@pytest.mark.parametrize("bounds", [(6, 1, 2, 5), (0, 5, 6, 1), (float("nan"), 0, 1, 1)])
def test_an_area_that_is_none(bounds):
    with pytest.raises(InvalidParameter, match="from west to east"):
        in_rectangle(GRID, bounds)


def _release(**changed):
    one = np.ones(80)
    facts = {"measurements": np.full(80, 4), "noise_variance": 1.0, **changed}
    return Release(Tick(0), GRID, 4 * one, one, 2 * one, 6 * one, **facts)


def test_errors_that_go_together_add_up_and_others_by_their_squares():
    alone, together = total(_release(), range(16)), total(_release(correlated=True), range(16))
    assert (alone.value, alone.standard_error) == (64.0, 4.0)
    assert (together.value, together.standard_error) == (64.0, 16.0)
    assert total(_release(measurements=None, noise_variance=None), range(16)).standard_error == 16.0  # predicted
    assert total(_release(), [3, 3]).value == 4.0
    assert total(_release(), []).value == 0.0


@pytest.mark.parametrize("cells", [[-1], [80]])
def test_cells_that_are_not_there(cells):
    with pytest.raises(InvalidParameter, match="80 cells"):
        total(_release(), cells)
