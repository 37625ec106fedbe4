"""Maps and positions that are strange, too small, too large or damaged: right answers, or refused with a reason."""

import json

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.errors import HubbubError, InvalidInput, InvalidParameter
from hubbub.monitor.map_settings import GridSettings
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.released import Grid, Tick
from hubbub.spatial import (
    Areas,
    Quadtree,
    RoadCells,
    RoadGrid,
    RoadNetwork,
    Roads,
    Temporal,
    Zones,
    expect_axes,
    made_up,
    read_lines,
)
from hubbub.spatial.noisy_sums import Parts

TEN = Guarantee.pure(User(horizon=10), 5)
ONE_ROAD = RoadNetwork([0.2, 0.8], [0.5, 0.5], start=[0], end=[1])
TWO_TOWNS = RoadNetwork([0, 1, 0, 50, 51, 51], [0, 0, 1, 40, 40, 41], start=[0, 1, 2, 3, 4, 5], end=[1, 2, 0, 4, 5, 3])


def released(method, keys, values, ticks=3):
    with simulation(1) as source:
        stream = method(keys, TEN, source=source)
        return [stream.release(Counts.of(keys, Tick(tick), values)) for tick in range(ticks)]


@pytest.mark.parametrize("method", [Areas, Quadtree, Temporal, Roads])
def test_a_map_of_one_cell(method):
    one = RoadGrid(1, 1, network=ONE_ROAD)
    keys = RoadCells(one) if method is Roads else one
    last = released(method, keys, [5000])[-1]
    assert last.values.shape == (1,)
    assert last.values[0] == pytest.approx(5000, abs=100)
    assert last.lower[0] <= last.values[0] <= last.upper[0]


@pytest.mark.parametrize("method", [Areas, Quadtree, Roads, Temporal])
def test_what_would_take_many_gigabytes_is_refused_at_once(method):
    with pytest.raises(InvalidParameter, match="many gigabytes"):
        method(Grid(16_384, 16_384), TEN)
    with pytest.raises(InvalidParameter, match="many gigabytes"):
        method(RoadGrid.over(ONE_ROAD, 16_384, 16_384), TEN)


def test_a_live_map_of_sixteen_thousand_a_side_is_refused_unless_it_has_roads(tmp_path):
    told = {"columns": 16_384, "rows": 16_384, "coordinates": "plain"}
    with pytest.raises(InvalidParameter, match=r"monitor.* many gigabytes"):
        GridSettings(**told, bounds=(0, 0, 1, 1)).domain()
    line = {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}
    feature = {"type": "Feature", "properties": {}, "geometry": line}
    (tmp_path / "roads.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    cells = GridSettings(**told, roads=tmp_path / "roads.geojson").domain()
    assert 16_384 <= len(cells) < 4 * 16_384


def test_roads_on_a_grid_of_sixteen_thousand_a_side():
    """Only cells with a road are kept, so that a very fine grid of a small town is a matter of megabytes."""
    city = made_up(20, seed=1)
    cells = RoadCells(RoadGrid.over(city, 16_384, 16_384))
    assert len(cells) < 1_000_000
    assert cells._table is None
    found = cells.cells(city.x[city.start], city.y[city.start])
    assert (found >= 0).all()
    assert cells.cells([city.bounds[0] - 1, np.nan], [0, 0]).tolist() == [-1, -1]
    assert cells.position(cells.names[7]) == 7
    assert np.isfinite(released(Roads, cells, np.full(len(cells), 3), ticks=1)[0].values).all()


def test_both_ways_to_find_a_cell_are_the_same(monkeypatch):
    city = made_up(60, seed=2)
    one = RoadCells(RoadGrid.over(city, 50, 50))
    assert one._table is not None  # made before the limit is lowered
    monkeypatch.setattr("hubbub.spatial.road_map.MOST_LAID_OUT", 10)
    two = RoadCells(RoadGrid.over(city, 50, 50))
    assert two._table is None
    draw = np.random.default_rng(1)
    west, south, east, north = city.bounds
    x, y = draw.uniform(west - 50, east + 50, 2000), draw.uniform(south - 50, north + 50, 2000)
    assert (one.cells(x, y) == two.cells(x, y)).all()
    assert (one.touched.cell == two.touched.cell).all()


def test_a_network_in_several_parts_is_released_whole():
    cells = RoadCells(RoadGrid.over(TWO_TOWNS, 64, 64))
    values = np.full(len(cells), 400)
    last = released(Roads, cells, values)[-1]
    assert np.isfinite(last.values).all()
    assert last.values.sum() == pytest.approx(values.sum(), rel=0.1)
    x, y = cells.centres(np.arange(len(cells)))
    town = (x < 25) & (y < 20)
    assert last.values[town].sum() == pytest.approx(values[town].sum(), rel=0.25)


def test_an_empty_network_is_none():
    with pytest.raises(InvalidParameter, match="at least one road"):
        RoadNetwork([], [], start=[], end=[])


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_a_junction_that_is_nowhere(broken):
    with pytest.raises(InvalidInput, match="no finite number"):
        RoadNetwork([0, broken], [0, 1], start=[0], end=[1])


def test_positions_that_are_none_count_nowhere_on_roads():
    cells = RoadCells(RoadGrid.over(made_up(60, seed=2), 50, 50))
    strange = [np.nan, np.inf, -np.inf, 1e308, -1e308]
    assert cells.cells(strange, [0.0] * 5).tolist() == [-1] * 5
    assert cells.cells([0.0] * 5, strange).tolist() == [-1] * 5


def test_swapped_axes_are_said_on_roads_too():
    there = RoadNetwork([1000, 1900, 1500], [50, 60, 90], start=[0, 1, 2], end=[1, 2, 0])
    cells = RoadCells(RoadGrid.over(there, 40, 40))
    x, y = np.linspace(1000, 1900, 50), np.linspace(50, 60, 50)
    expect_axes(cells, x, y)
    with pytest.raises(InvalidInput, match="swapped"):
        expect_axes(cells, y, x)


BOW = {"type": "Polygon", "coordinates": [[[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]]}
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]]}
BESIDE = {"type": "Polygon", "coordinates": [[[1, 1], [3, 1], [3, 3], [1, 3], [1, 1]]]}


@pytest.mark.parametrize("shapes", [{"a": BOW}, {"a": SQUARE, "b": BESIDE}, {"a": SQUARE, "b": SQUARE}])
def test_zones_that_cross_themselves_or_others(shapes):
    with pytest.raises(HubbubError) as caught:
        Zones(json.loads(json.dumps(shapes)))
    assert caught.value.hint


def test_parts_without_keys_are_refused():
    for of, many in (([0, 2], 3), ([0, 1], 3), ([1, 2], 3)):
        with pytest.raises(InvalidParameter, match="must have a key"):
            Parts(np.array(of), many)


@pytest.mark.parametrize("coordinates", ["plain", "degrees"])
def test_snapping_finds_the_nearest_road_also_from_beside_the_grid(coordinates):
    """Held against a search over all cells with a road. The border of such a grid is the outermost road."""
    network = made_up(30, seed=4)
    if coordinates == "degrees":
        network = RoadNetwork(network.x / 1e5 + 8, network.y / 1e5 + 53, start=network.start, end=network.end)
    grid = RoadGrid(24, 20, network=network, coordinates=coordinates)
    west, south, east, north = grid.bounds
    wide, high = grid.cell_size
    draw = np.random.default_rng(3)
    x, y = draw.uniform(west - 5 * wide, east + 5 * wide, 3000), draw.uniform(south - 5 * high, north + 5 * high, 3000)
    x, y = np.append(x, [west, east, east, np.nan]), np.append(y, [south, north, south, south])
    column, row = np.floor((x - west) / wide), np.floor((y - south) / high)
    column[x == east], row[y == north] = 23, 19
    for snap in (1, 3):
        city = RoadCells(grid, snap=snap)
        roads = np.stack([city.codes % 24, city.codes // 24])
        away = np.hypot(roads[0] - column[:, None], roads[1] - row[:, None])
        found = city.cells(x, y)
        with np.errstate(invalid="ignore"):
            assert ((found >= 0) == (away.min(axis=1) <= snap)).all()
        some = np.flatnonzero(found >= 0)
        assert (away[some, found[some]] == away[some].min(axis=1)).all()
        beside = (x < west) | (x > east) | (y < south) | (y > north)
        assert (found[beside] >= 0).any(), "the rim counts"


def test_a_grid_that_no_road_touches_is_refused_by_name():
    grid = RoadGrid(8, 8, network=made_up(30, seed=4), bounds=(1e7, 1e7, 1.1e7, 1.1e7))
    with pytest.raises(InvalidParameter, match="No road touches this grid") as refused:
        RoadCells(grid)
    assert "axes may be swapped" in refused.value.hint


def test_features_without_a_place_are_passed_over_and_a_missing_file_is_told(tmp_path):
    square = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
    line = {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}
    for shape, read in ((square, Zones.read), (line, read_lines)):
        features = [
            {"type": "Feature", "properties": {"name": str(at)}, "geometry": one}
            for at, one in enumerate((None, shape))
        ]
        path = tmp_path / "map.geojson"
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        assert read(path)
        with pytest.raises(InvalidInput, match="No such file") as refused:
            read(tmp_path / "nothing.geojson")
        assert refused.value.hint == "Check the path."
