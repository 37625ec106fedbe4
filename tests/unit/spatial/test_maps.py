"""Positions to places: on the map, off it, on its borders, and no position in any refusal."""

import json
import math
import traceback

import numpy as np
import pytest

from hubbub.errors import InvalidInput, InvalidParameter, UnknownKey
from hubbub.released import Grid, domain_from
from hubbub.spatial import Hexagons, Map, Zones, expect_axes

BOX = (8.1, 53.0, 8.3, 53.2)
SQUARE = {"type": "Polygon", "coordinates": [[[8.1, 53.0], [8.2, 53.0], [8.2, 53.2], [8.1, 53.2], [8.1, 53.0]]]}
BESIDE = {"type": "Polygon", "coordinates": [[[8.2, 53.0], [8.3, 53.0], [8.3, 53.2], [8.2, 53.2], [8.2, 53.0]]]}
MAPS = [
    Grid(40, 30, bounds=BOX),
    Grid(40, 30, bounds=BOX, coordinates="degrees"),
    Hexagons.covering(BOX, 8),
    Zones({"west": SQUARE, "east": BESIDE}),
]
SECRET = 8.23456789


@pytest.fixture(params=MAPS, ids=repr)
def place(request):
    return request.param


def test_every_place_holds_its_own_centre_and_has_an_outline_around_it(place):
    assert isinstance(place, Map)
    x, y = place.centres(np.arange(len(place)))
    assert place.cells(x, y).tolist() == list(range(len(place)))
    for at in (0, len(place) - 1):
        corners = place.outline(at)
        assert (corners.min(axis=0) < (x[at], y[at])).all()
        assert (corners.max(axis=0) > (x[at], y[at])).all()


def test_what_is_off_the_map_or_no_position_is_nowhere(place):
    x = [8.2, 9.5, math.nan, 8.2, math.inf, -math.inf, 1e308, 8.2, 8.15]
    y = [53.1, 53.1, 53.1, math.nan, 53.1, 53.1, -1e308, 91.0, 53.1]
    assert (place.cells(x, y) >= 0).tolist() == [True, *[False] * 7, True]
    assert place.cells([], []).tolist() == []


def test_shapes_are_kept(place):
    x = np.full((3, 2), 8.2)
    assert place.cells(x, 53.1).shape == (3, 2)
    assert place.cells(8.2, 53.1).shape == ()


def test_a_map_comes_back_from_plain_json(place):
    again = domain_from(json.loads(json.dumps(place.to_dict())))
    assert again == place
    assert type(again) is type(place)
    x, y = np.linspace(8.0, 8.4, 97), np.linspace(52.9, 53.3, 97)
    assert np.array_equal(again.cells(x, y), place.cells(x, y))
    assert [again.position(name) for name in place] == list(range(len(place)))
    with pytest.raises(UnknownKey):
        place.position("nowhere")


@pytest.mark.parametrize("wrong", [["8.23456789 E"], [None, SECRET], [[SECRET], [SECRET, SECRET]], [object()]])
def test_nobodys_position_is_in_a_refusal(place, wrong):
    with pytest.raises(InvalidInput) as refusal:
        place.cells(wrong, [SECRET] * 3)
    told = "".join(traceback.format_exception(refusal.value))
    assert "23456" not in told
    assert refusal.value.__context__ is None


def test_swapped_axes_are_said(place):
    generator = np.random.default_rng(1)
    x, y = generator.uniform(8.1, 8.3, 100), generator.uniform(53.0, 53.2, 100)
    expect_axes(place, x, y)
    with pytest.raises(InvalidInput, match="axes") as refusal:
        expect_axes(place, y, x)
    assert not any(character.isdigit() for character in str(refusal.value))
    expect_axes(place, y[:5], x[:5])  # a few may simply be off the map
    expect_axes(place, x + 90, y)  # all off the map, either way


def test_a_grids_borders_belong_to_it():
    grid = Grid(4, 2, bounds=(0, 0, 4, 2))
    assert grid.cells([0, 4, 0, 4, 1, 3.999], [0, 0, 2, 2, 1, 1.999]).tolist() == [0, 3, 4, 7, 5, 7]
    assert grid.cells([-1e-12, 4.0000001], [1, 1]).tolist() == [-1, -1]
    assert grid.cell_size == (1.0, 1.0)
    assert Grid(1, 1, bounds=(0, 0, 4, 2)).cells([2, 5], [1, 1]).tolist() == [0, -1]


def test_sixteen_thousand_a_side():
    grid = Grid(16_384, 16_384, bounds=(0, 0, 1, 1))
    assert grid.cells([1.0, 0.5], [1.0, 0.0]).tolist() == [len(grid) - 1, 8192]
    assert grid.names[len(grid) - 1] == "16383,16383"


def test_a_grid_over_the_180th_meridian():
    grid = Grid(4, 1, bounds=(178, -20, -178, -10), coordinates="degrees")
    assert grid.cells([178.5, 179.5, -179.5, -178.5, 181.5, 0, 177], [-15] * 7).tolist() == [0, 1, 2, 3, 3, -1, -1]
    x, _ = grid.centres(np.arange(4))
    assert x.tolist() == [178.5, 179.5, -179.5, -178.5]
    assert domain_from(grid.to_dict()) == grid


@pytest.mark.parametrize(
    ("bounds", "coordinates"),
    [
        ((2, 0, 1, 1), "plain"),
        ((0, 0, 200, 1), "degrees"),
        ((0, 53, 1, 8), "degrees"),
        ((0, math.nan, 1, 1), "degrees"),
        ((0, 0, 1, 1), "metres"),
        ((0, 0, 1), "plain"),
    ],
)
def test_bounds_that_bound_nothing(bounds, coordinates):
    with pytest.raises(InvalidParameter):
        Grid(2, 2, bounds=bounds, coordinates=coordinates)


def test_a_grid_without_bounds_is_nowhere():
    with pytest.raises(InvalidParameter, match="no `bounds`"):
        Grid(2, 2).cells([0], [0])


def test_hexagons_at_a_coarser_level():
    fine = Hexagons.covering(BOX, 8)
    coarse, above = fine.parents(6)
    assert coarse.resolution == 6
    assert np.bincount(above, minlength=len(coarse)).sum() == len(fine)
    x, y = fine.centres(np.arange(len(fine)))
    assert np.mean(coarse.cells(x, y) == above) > 0.85  # H3's hexagons do not tile larger ones exactly
    with pytest.raises(InvalidParameter, match="from 0 to 8"):
        fine.parents(9)


@pytest.mark.parametrize(
    "names", [[], ["nothing"], ["881f142a69fffff"] * 2, ["881f142a69fffff", "861f142a7ffffff"], [7]]
)
def test_hexagons_that_cannot_be_a_map(names):
    with pytest.raises(InvalidParameter):
        Hexagons(names)


@pytest.mark.parametrize("given", [(BOX, 16), (BOX, True), ((0, 0, 0, 0), 5), ((-180, -80, 180, 80), 15)])
def test_hexagons_that_cannot_be_found(given):
    with pytest.raises(InvalidParameter):
        Hexagons.covering(*given)


def _polygon(*corners):
    return {"type": "Polygon", "coordinates": [[list(corner) for corner in (*corners, corners[0])]]}


def test_zones_must_not_overlap_nor_cross_themselves():
    with pytest.raises(InvalidParameter, match="'west' and 'both' overlap"):
        Zones({"west": SQUARE, "both": _polygon((8.15, 53.0), (8.3, 53.0), (8.3, 53.1))})
    with pytest.raises(InvalidParameter, match="'bow' is not a simple one"):
        Zones({"bow": _polygon((0, 0), (2, 2), (2, 0), (0, 2))})
    # A hair of overlap between neighbours is how maps are; the first one has it.
    hair = Zones({"a": _polygon((0, 0), (1, 0), (1, 1), (0, 1)), "b": _polygon((1 - 1e-9, 0), (2, 0), (2, 1), (1, 1))})
    assert hair.cells([1 - 1e-10, 1], [0.5, 0.5]).tolist() == [0, 0]


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "Point", "coordinates": [0, 0]},
        {"type": "Polygon", "coordinates": []},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]},
        {"type": "House"},
        {},
        None,
    ],
)
def test_zones_that_are_no_polygons(shape):
    with pytest.raises(InvalidParameter, match="'x' is no polygon"):
        Zones({"x": shape})


def test_a_crescents_centre_lies_inside_and_parts_and_holes_count():
    ring = {
        "type": "MultiPolygon",
        "coordinates": [
            [[[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]], [[1, 1], [8, 1], [8, 8], [1, 8], [1, 1]]],
            [[[20, 0], [21, 0], [21, 1], [20, 1], [20, 0]]],
        ],
    }
    zones = Zones({"ring": ring})
    assert zones.cells([0.5, 4, 20.5], [0.5, 4, 0.5]).tolist() == [0, -1, 0]
    assert zones.cells(*zones.centres([0])).tolist() == [0]
    assert zones.outline(0).max() == 9


def test_zones_from_a_file(tmp_path):
    path = tmp_path / "zones.geojson"

    def feature(name, shape):
        return {"type": "Feature", "properties": {"name": name}, "geometry": shape}

    path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature("w", SQUARE), feature(2, BESIDE)]}))
    assert Zones.read(path).names == ("w", "2")
    with pytest.raises(InvalidInput, match="'district'"):
        Zones.read(path, name="district")
    path.write_text(json.dumps({"features": [feature("w", SQUARE), feature("w", BESIDE)]}))
    with pytest.raises(InvalidInput, match="same 'name'"):
        Zones.read(path)
    path.write_text(path.read_text()[:100])
    with pytest.raises(InvalidInput, match="cannot be read as zones"):
        Zones.read(path)
