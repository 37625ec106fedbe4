"""Every kind of area that can be asked for, and those that cannot."""

import numpy as np
import pytest

from hubbub.errors import HubbubError, InvalidParameter, UnknownKey
from hubbub.released import Grid
from hubbub.spatial import Hexagons, RoadCells, RoadGrid, RoadNetwork, Zones, area, in_polygon, in_rectangle

GRID = Grid(10, 8, bounds=(0, 0, 10, 8))
NETWORK = RoadNetwork([0, 9, 9, 0], [0, 0, 9, 9], start=[0, 1, 2], end=[1, 2, 3])
ROADS = RoadCells(RoadGrid(10, 10, network=NETWORK, bounds=(-0.5, -0.5, 9.5, 9.5)))
HEXAGONS = Hexagons.covering((8.15, 53.10, 8.25, 53.16), resolution=8)
BOX = {"type": "Polygon", "coordinates": [[[2, 1], [6, 1], [6, 5], [2, 5], [2, 1]]]}


def square(left):
    return {"type": "Polygon", "coordinates": [[[left, 0], [left + 2, 0], [left + 2, 2], [left, 2], [left, 0]]]}


ZONES = Zones({"harbour": square(0), "market": square(2), "park": square(4)})


def test_boxes_and_shapes():
    assert area(GRID, (2, 1, 6, 5)).tolist() == in_rectangle(GRID, (2, 1, 6, 5)).tolist()
    assert area(GRID, np.array([2.0, 1.0, 6.0, 5.0])).tolist() == area(GRID, BOX).tolist()
    feature = {"type": "Feature", "properties": {}, "geometry": BOX}
    assert area(GRID, feature).tolist() == in_polygon(GRID, BOX).tolist()


def test_roads_by_number_and_as_a_line_are_the_same_cells():
    by_number = area(ROADS, {"roads": [1]})
    assert [ROADS.names[at] for at in by_number] == [f"9,{row}" for row in range(10)]
    line = {"type": "LineString", "coordinates": [[9, 0], [9, 9]]}
    assert area(ROADS, line).tolist() == by_number.tolist()
    both = {"type": "MultiLineString", "coordinates": [[[0, 0], [9, 0]], [[9, 0, 7], [9, 9, 7]]]}
    assert area(ROADS, both).tolist() == area(ROADS, {"roads": np.array([0, 1])}).tolist()
    on_grid = area(ROADS.grid, {"roads": 1})
    assert ROADS.codes[by_number].tolist() == on_grid.tolist()


def test_hexagons_of_every_coarser_level():
    for resolution in (8, 7, 6, 0):
        coarse, of = HEXAGONS.parents(resolution)
        for at, name in enumerate(coarse.names):
            assert area(HEXAGONS, name).tolist() == np.flatnonzero(of == at).tolist()


def test_zones_by_name():
    assert area(ZONES, "market").tolist() == [1]
    assert area(ZONES, ["park", "harbour", "park"]).tolist() == [0, 2]
    assert area(GRID, "3,2").tolist() == [23]


STRANGE = [
    *(None, 7, True, [], (1, 2, 3), (1, 2, 3, "4"), [True] * 4, {}, {"type": "Point", "coordinates": [1, 1]}),
    {"type": "Feature", "geometry": None},
    {"type": "LineString", "coordinates": []},
    {"type": "LineString", "coordinates": [[1, 1]]},
    {"type": "LineString", "coordinates": [[1, 1], [float("nan"), 2]]},
    {"type": "LineString", "coordinates": "here"},
    {"type": "LineString"},
    {"type": "MultiLineString", "coordinates": []},
]


@pytest.mark.parametrize("what", STRANGE)
def test_what_is_no_area(what):
    with pytest.raises(InvalidParameter, match="no area that could be looked up") as refused:
        area(GRID, what)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("place", "what", "error", "words"),
    [
        (GRID, (20, 20, 30, 30), InvalidParameter, "No cell of the map"),
        (GRID, {"type": "LineString", "coordinates": [[20, 20], [30, 30]]}, InvalidParameter, "No cell of the map"),
        (ROADS, {"type": "LineString", "coordinates": [[3, 4], [5, 4]]}, InvalidParameter, "No cell of the map"),
        (ROADS, {"roads": []}, InvalidParameter, "numbers in the network"),
        (ROADS, {"roads": [3]}, InvalidParameter, "from 0 to 2"),
        (ROADS, {"roads": [-1]}, InvalidParameter, "from 0 to 2"),
        (ROADS, {"roads": ["High Street"]}, InvalidParameter, "from 0 to 2"),
        (ROADS, {"roads": [[1], [1, 2]]}, InvalidParameter, "from 0 to 2"),
        (GRID, {"roads": [0]}, InvalidParameter, "has no network"),
        (ZONES, {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}, InvalidParameter, "has no width"),
        (ZONES, "mars", UnknownKey, "mars"),
        (HEXAGONS, "mars", UnknownKey, "mars"),
        (HEXAGONS, "8a1f142a6907fff", UnknownKey, "hexagon"),
        (HEXAGONS, "8001fffffffffff", InvalidParameter, "No hexagon"),
    ],
)
def test_areas_that_are_not_there(place, what, error, words):
    with pytest.raises(error, match=words) as refused:
        area(place, what)
    assert isinstance(refused.value, HubbubError)
    assert refused.value.hint
