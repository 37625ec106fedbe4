"""Roads: read, refused, laid on a grid; what they say of cells is public and fixed."""

import gzip
import json

import numpy as np
import pytest

from hubbub.errors import InvalidInput, InvalidParameter, UnknownKey
from hubbub.released import Grid, domain_from
from hubbub.spatial import RoadCells, RoadGrid, RoadNetwork, made_up, read_lines, read_tables

TRIANGLE = RoadNetwork([0, 3, 0], [0, 0, 4], start=[0, 1, 2], end=[1, 2, 0], kind=[0, 1, 1])


def test_tables_as_the_oldenburg_network_has_them(tmp_path):
    nodes, edges = tmp_path / "nodes.csv.gz", tmp_path / "edges.csv"
    with gzip.open(nodes, "wt") as text:
        text.write("node_id,x,y\n7,0,0\n8,3,0\n9,0,4\n")
    edges.write_text("edge_id,from_node,to_node,edge_class\n1,7,8,0\n2,8,9,1\n3,9,7,1\n")
    assert read_tables(nodes, edges).digest == TRIANGLE.digest
    edges.write_text("edge_id,from_node,to_node\n1,7,8\n")
    assert read_tables(nodes, edges).kind.tolist() == [0]


@pytest.mark.parametrize(
    ("nodes", "edges", "said"),
    [
        ("node_id,x,y\n1,0,0\n2,1,1\n", "from_node,to_node\n1,3\n", "leads to the junction '3'"),
        ("node_id,x,y\n1,0,0\n1,1,1\n", "from_node,to_node\n", "stands twice"),
        ("node_id,x\n1,0\n", "from_node,to_node\n", "no column 'y'"),
        ("node_id,x,y\n1,0\n", "from_node,to_node\n", "Line 2 .* too short"),
        ("node_id,x,y\n1,0,west\n", "from_node,to_node\n", "'west' .* no number"),
        ("node_id,x,y\n1,0,nan\n2,0,1\n", "from_node,to_node\n1,2\n", "no finite number"),
        ("node_id,x,y\n1,0,0\n2,0,1\n", "from_node,to_node,edge_class\n1,2,16\n", "from 0 .* to 15"),
    ],
)
def test_tables_that_cannot_be_right(tmp_path, nodes, edges, said):
    (tmp_path / "n.csv").write_text(nodes)
    (tmp_path / "e.csv").write_text(edges)
    with pytest.raises(InvalidInput, match=said):
        read_tables(tmp_path / "n.csv", tmp_path / "e.csv")


def test_files_that_are_cut_short_or_not_there(tmp_path):
    cut = tmp_path / "n.csv.gz"
    cut.write_bytes(gzip.compress(b"node_id,x,y\n" + b"1,0,0\n" * 1000)[:40])
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_tables(cut, cut)
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        read_lines(tmp_path / "none.geojson")


def test_lines_meet_where_they_share_a_corner(tmp_path):
    path = tmp_path / "roads.geojson"

    def line(kind, *corners):
        return {"properties": {"class": kind}, "geometry": {"type": "LineString", "coordinates": corners}}

    bus = {"type": "MultiLineString", "coordinates": [[[0, 4, 17.5], [0, 9, 17.5]]]}
    stop = {"properties": {}, "geometry": {"type": "Point", "coordinates": [1, 1]}}
    features = [line(0, [0, 0], [3, 0], [0, 4]), line(1, [0, 4], [0, 0]), {"properties": None, "geometry": bus}, stop]
    path.write_text(json.dumps({"features": features}))
    network = read_lines(path)
    assert (len(network.x), network.kind.tolist(), network.parts.max()) == (4, [0, 0, 1, 0], 0)
    path.write_text(json.dumps({"features": [stop]}))
    with pytest.raises(InvalidParameter, match="at least one road"):
        read_lines(path)
    path.write_text(json.dumps({"features": [line("wide", [0, 0], [1, 1])]}))
    with pytest.raises(InvalidInput, match="'wide'"):
        read_lines(path)


def test_roads_that_lead_nowhere_or_stand_twice_are_left_out():
    network = RoadNetwork([0, 1, 1], [0, 0, 0], start=[0, 1, 1, 1, 0], end=[1, 0, 1, 2, 2], kind=[5, 3, 0, 0, 2])
    assert list(zip(network.start.tolist(), network.end.tolist(), network.kind.tolist(), strict=True)) == [
        (1, 0, 3),  # the widest of two
        (0, 2, 2),
    ]


@pytest.mark.parametrize(
    ("roads", "error"),
    [
        ({"start": [], "end": []}, InvalidParameter),
        ({"start": [0], "end": [5]}, InvalidInput),
        ({"start": [-1], "end": [1]}, InvalidInput),
        ({"start": [0, 1], "end": [1]}, InvalidParameter),
    ],
)
def test_networks_that_cannot_be(roads, error):
    with pytest.raises(error):
        RoadNetwork([0, 1], [0, 1], **roads)


def test_several_parts():
    network = RoadNetwork([0, 1, 5, 6, 7, 9], [0] * 6, start=[0, 2, 3], end=[1, 3, 4])
    assert network.parts.tolist() == [1, 1, 0, 0, 0, 2]
    assert network.centrality.argmax() in (1, 2)
    assert network.bounds[:2] == (0.0, 0.0)
    assert network.bounds[2] == 7.0  # the junction at 9 has no road
    assert network.bounds[3] > 0  # never flat


def test_the_most_central_road_is_the_bridge():
    two_towns = RoadNetwork(
        [0, 1, 0, 5, 6, 6], [0, 0, 1, 0, 0, 1], start=[0, 1, 2, 3, 4, 5, 1], end=[1, 2, 0, 4, 5, 3, 3]
    )
    assert two_towns.centrality.argmax() == 6


def test_a_made_up_city_is_in_one_part_and_the_same_again():
    city = made_up(500, seed=3)
    assert city.parts.max() == 0
    assert city.digest == made_up(500, seed=3).digest != made_up(500, seed=4).digest
    assert set(city.kind.tolist()) == {0, 1, 3, 4, 5}
    with pytest.raises(InvalidParameter):
        made_up(1)


CITY = RoadGrid.over(made_up(60), 50, 40)


@pytest.mark.parametrize("domain", [CITY, RoadCells(CITY)], ids=repr)
def test_maps_with_roads_are_domains(domain):
    again = domain_from(json.loads(json.dumps(domain.to_dict())))
    assert again == domain
    assert [domain.position(name) for name in domain] == list(range(len(domain)))
    assert domain.cells(*domain.centres(np.arange(len(domain)))).tolist() == list(range(len(domain)))
    assert domain != Grid(50, 40, bounds=CITY.bounds)
    assert domain.names[:2] == tuple(domain)[:2]


def test_cells_without_a_road_are_no_keys():
    roads = RoadCells(CITY)
    empty = int(np.flatnonzero(~CITY.dense)[0])
    with pytest.raises(UnknownKey):
        roads.position(CITY.names[empty])
    with pytest.raises(UnknownKey):
        roads.position("99,99")
    assert roads.cells(*CITY.centres(empty)) == -1
    assert roads.cells([1e9, np.nan], [0, 0]).tolist() == [-1, -1]
    table = roads.spread(np.arange(1, len(roads) + 1))
    assert ((table > 0).ravel() == CITY.dense).all()
    assert np.array_equal(roads.outline(0), CITY.outline(int(roads.codes[0])))
    shares = np.bincount(roads.touched.line, roads.touched.share)
    assert np.allclose(shares, 1)
