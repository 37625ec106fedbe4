"""What a stream may count: names, cells, nodes, and keys that a release found."""

import json
import tracemalloc

import numpy as np
import pytest

from hubbub.errors import InvalidParameter, SchemaMismatch, UnknownKey
from hubbub.released import Discovered, Grid, Hierarchy, Keys, domain_from

TREE = {"harbour": "north", "country": None, "north": "country", "south": "country", "island": None}
DOMAINS = [
    Keys(["front", "news"]),
    Grid(7, 3),
    Grid(1, 1, bounds=(8.0, 53.0, 8.5, 53.25)),
    Hierarchy(TREE),
    Hierarchy(TREE, nested=False),
    Discovered(),
    Discovered(["/", "/news"], decision="site.keys tick 24", other="rest"),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_every_key_stands_where_its_name_says(domain):
    assert [domain.position(name) for name in domain] == list(range(len(domain)))
    assert list(domain.names) == [domain.names[i] for i in range(len(domain))]
    assert all(name in domain for name in domain)
    assert np.prod(domain.shape) == len(domain)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("name", ["nobody", "", "-1,0", "7,0", "0,3", "00,0", "0,0 ", "0,٣", None, 3, ["front"]])
def test_what_is_no_key_is_refused_in_words(domain, name):
    assert name not in domain
    with pytest.raises(UnknownKey, match=f"of the stream's {len(domain)}"):
        domain.position(name)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_domain_comes_back_from_plain_json(domain):
    again = domain_from(json.loads(json.dumps(domain.to_dict())))
    assert again == domain
    assert hash(again) == hash(domain)
    assert again.digest == domain.digest
    assert type(again) is type(domain)


def test_domains_that_count_otherwise_are_not_equal():
    others = [
        *DOMAINS,
        Keys(["news", "front"]),
        Grid(3, 7),
        Grid(7, 3, bounds=(0, 0, 1, 1)),
        Hierarchy({**TREE, "island": "south"}),
        Discovered(["/", "/news"], decision="site.keys tick 25", other="rest"),
        Keys(["/", "/news", "rest"]),
        Keys(["other"]),
    ]
    for i, one in enumerate(others):
        assert [j for j, other in enumerate(others) if one == other] == [i]
    assert len({domain.digest for domain in others}) == len(others)


def test_a_bare_list_is_a_list_of_names_as_stores_have_kept_it():
    assert domain_from(["a", "b"]) == Keys(["a", "b"])


def test_a_kind_from_a_later_version_is_refused():
    with pytest.raises(SchemaMismatch, match="'octagons'"):
        domain_from({"kind": "octagons", "level": 8})


def test_a_million_cells_keep_no_million_names():
    tracemalloc.start()
    grid = Grid(1024, 1024)
    assert grid.names[-1] == "1023,1023"
    assert grid.names[1022:1026] == ("1022,0", "1023,0", "0,1", "1,1")
    assert grid.position("1023,1023") == 2**20 - 1
    assert grid.digest
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


@pytest.mark.parametrize(
    ("columns", "rows", "match"),
    [(0, 3, "columns"), (3, -1, "rows"), (2.0, 3, "columns"), (True, 3, "columns"), (2**14, 2**14 + 1, "2\\^28")],
)
def test_grids_that_cannot_be(columns, rows, match):
    with pytest.raises(InvalidParameter, match=match):
        Grid(columns, rows)


@pytest.mark.parametrize(
    "bounds",
    [(1, 0, 0, 1), (0, 1, 1, 0), (0, 0, 0, 1), (0, 0, float("nan"), 1), (0, 0, float("inf"), 1), (0, 1), "abcd"],
)
def test_bounds_that_cannot_be(bounds):
    with pytest.raises(InvalidParameter, match="bounds"):
        Grid(2, 2, bounds=bounds)


def test_a_hierarchy_knows_ways_leaves_and_sums():
    tree = Hierarchy(TREE)
    assert tree.path("harbour") == ("country", "north", "harbour")
    assert [tree.names[i] for i in tree.leaves] == ["harbour", "south", "island"]
    assert tree.depth == 3
    assert dict(zip(tree.names, tree.totals([1, 10, 100, 1000, 5]).tolist(), strict=True)) == {
        "harbour": 1,
        "country": 1111,
        "north": 101,
        "south": 1000,
        "island": 5,
    }


def test_a_hierarchy_in_a_circle_is_refused():
    with pytest.raises(InvalidParameter, match="circle"):
        Hierarchy({"top": None, "a": "b", "b": "a"})


def test_a_parent_that_is_not_there_is_refused():
    with pytest.raises(InvalidParameter, match="'town' of 'street'"):
        Hierarchy({"street": "town"})


def test_discovered_keys_name_the_release_that_found_them():
    with pytest.raises(InvalidParameter, match="the release that found them"):
        Discovered(["/secret"])


def test_other_is_no_discovered_key():
    with pytest.raises(InvalidParameter, match="twice"):
        Discovered(["other"], decision="site.keys tick 1")
