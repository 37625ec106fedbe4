"""Hierarchies: contexts in order, names, paths, and what is refused."""

from itertools import pairwise

import pytest

from hubbub.errors import InvalidInput, InvalidParameter, UnknownKey
from hubbub.personal import Categories, Combined, Decimals, hierarchy_from

FOOD = Categories({"food": None, "cafe": "food", "bar": "food", "espresso": "cafe", "tea": "cafe", "wine": "bar"})
TOWN = Categories.of_grid(3, 2)
BOTH = Combined({"place": TOWN, "query": FOOD}, order=("query", "place", "place"))
BOX = Decimals(61, -150, 63, -147, digits=1)
ALL = [FOOD, TOWN, BOTH, BOX, Combined({"where": Decimals(0, 0, 1, 1, 1), "what": FOOD})]


@pytest.mark.parametrize("hierarchy", ALL, ids=repr)
def test_contexts_below_a_node_follow_one_another(hierarchy):
    waiting, contexts = [hierarchy.root], 0
    while waiting:
        node = waiting.pop()
        children = hierarchy.children(node)
        assert hierarchy.named(node.name) == node
        assert hierarchy.is_context(node) == (not children)
        contexts += not children
        at = node.first
        for child in children:
            assert (child.first, child.depth) == (at, node.depth + 1)
            at += child.leaves
        assert at == node.first + (node.leaves if children else 0)
        waiting.extend(children)
    assert contexts == hierarchy.contexts


@pytest.mark.parametrize("hierarchy", ALL, ids=repr)
def test_every_context_has_its_way(hierarchy):
    for number, leaf in enumerate(hierarchy.leaves()):
        way = hierarchy.way(number)
        assert way[0] == hierarchy.root
        assert way[-1] == leaf
        assert all(node.covers(number) for node in way)
        assert all(child in hierarchy.children(node) for node, child in pairwise(way))
    with pytest.raises(IndexError):
        hierarchy.way(hierarchy.contexts)


@pytest.mark.parametrize("hierarchy", ALL, ids=repr)
def test_it_comes_back_from_its_description(hierarchy):
    again = hierarchy_from(hierarchy.to_dict())
    assert again == hierarchy
    assert hash(again) == hash(hierarchy)
    assert again.to_dict() == hierarchy.to_dict()
    assert again != Categories({"a": None})


def test_decimals_are_cut_downwards():
    box = Decimals(-1, -1, 1, 1, digits=1)
    names = {tuple(node.name for node in box.path((lat, 0.55))[1:]) for lat in (-0.05, 0.05)}
    assert names == {("-1,0", "-0.1,0.5"), ("0,0", "0.0,0.5")}
    assert box.path("0.3,0.2")[-1].name == "0.3,0.2"  # 0.3 is stored below three tenths
    assert box.path((1, 1))[-1].name == "0.9,0.9"


def test_grids_hexagons_and_zones():
    h3 = pytest.importorskip("h3")
    from hubbub.released import Grid
    from hubbub.spatial import Hexagons

    town = Hexagons.covering((8.15, 53.10, 8.25, 53.16), resolution=8)
    tree = Categories.over(town, lambda cell: h3.cell_to_parent(cell, 7), lambda cell: h3.cell_to_parent(cell, 6))
    assert tree.contexts == len(town)
    assert [node.depth for node in tree.path(town.names[0])][-1] >= 2
    grid = Grid(3, 2)
    assert {leaf.name for leaf in Categories.of_grid(3, 2).leaves()} == set(grid.names)


def deep():
    facts = FOOD.to_dict()
    for _ in range(5000):
        facts = {"kind": "combined", "attributes": [["a", facts]], "order": []}
    return facts


REFUSED = [
    (lambda: Categories({}), InvalidParameter, "at least one context"),
    (lambda: Categories(["a"]), InvalidParameter, "mapping"),
    (lambda: Categories({"a": "b", "b": "a"}), InvalidParameter, "circle"),
    (lambda: Categories({"top": None, "a": "b", "b": "a"}), InvalidParameter, "circle"),
    (lambda: Categories({"a": "b"}), InvalidParameter, "no node"),
    (lambda: Categories({"*": "a", "a": None, "b": None}), InvalidParameter, "top"),
    (lambda: Categories.over(["a"], {"b": "c"}), InvalidParameter, "belongs to"),
    (lambda: Categories.over(["a"], {"a": "b"}, {"b": "a"}), InvalidParameter, "two levels"),
    (lambda: Categories.of_grid(0, 2), InvalidParameter, "columns"),
    (lambda: Decimals(1, 0, 0, 1), InvalidParameter, "south below north"),
    (lambda: Decimals(0.5, 0, 1, 1), InvalidParameter, "whole degrees"),
    (lambda: Decimals(-90, -180, 90, 180, 7), InvalidParameter, "2\\^53"),
    (lambda: Combined({}), InvalidParameter, "at least one"),
    (lambda: Combined({"a": BOTH}), InvalidParameter, "none of them combined"),
    (lambda: Combined({"a": FOOD}, ["b"]), InvalidParameter, "no attribute"),
    (lambda: Combined({str(i): Categories.of_grid(64, 64) for i in range(5)}), InvalidParameter, "2\\^53"),
    (lambda: hierarchy_from({"kind": "moon"}), InvalidInput, "description"),
    (lambda: hierarchy_from(7), InvalidInput, "description"),
    (lambda: hierarchy_from({"kind": "decimals", "up": 1}), InvalidInput, "description"),
    (lambda: hierarchy_from({"kind": "categories", "names": ["a"], "parents": [5]}), InvalidInput, "description"),
    (
        lambda: hierarchy_from({"kind": "categories", "names": ["a", "b", "b"], "parents": [-1, 0, 0]}),
        InvalidInput,
        "description",
    ),
    (lambda: hierarchy_from(deep()), InvalidInput, "description"),
    (lambda: Categories({"a": None, "\ud800": "a"}), InvalidParameter, "half a character"),
    (lambda: Combined({"\ud800": FOOD}), InvalidParameter, "half a character"),
    (lambda: Combined({3: FOOD}), InvalidParameter, "no text"),
    (lambda: hierarchy_from({"kind": "combined", "attributes": [1], "order": []}), InvalidInput, "description"),
]


@pytest.mark.parametrize(
    ("make", "kind", "words"), REFUSED, ids=[words + str(i) for i, (*_, words) in enumerate(REFUSED)]
)
def test_what_cannot_be_a_hierarchy_is_refused(make, kind, words):
    with pytest.raises(kind, match=words) as refused:
        make()
    assert refused.value.hint or "got" in refused.value.message


UNKNOWN = [
    lambda: FOOD.path("cafe"), lambda: FOOD.path("tea room"), lambda: FOOD.path(7), lambda: FOOD.named("tea room"),
    lambda: FOOD.named(["x"]), lambda: BOX.path((0, 0)), lambda: BOX.path("here"), lambda: BOX.path((float("nan"), 1)),
    lambda: BOX.path(None), lambda: BOX.path((None, None)), lambda: BOX.path((True, -149.5)),
    lambda: BOX.path("6_1,-149.5"), lambda: BOX.path((1e308, 0)), lambda: BOX.path((10**400, 0)),
    lambda: BOX.path((61.5,)), lambda: BOX.path({1: 1, 2: 2}),
    lambda: BOX.named("61"), lambda: BOX.named(3), lambda: BOX.named("61.234,-149.123"),
    lambda: BOX.named("61.2,-149"), lambda: BOX.named("1,1"), lambda: BOX.named("061,-149"),
    lambda: BOTH.path({"place": "0,0"}), lambda: BOTH.path("0,0"), lambda: BOTH.path({"place": "0,0", "query": "?"}),
    lambda: BOTH.named('["0,0","food"]'), lambda: BOTH.named("{"), lambda: BOTH.named('["0,0"]'), lambda: BOTH.named(1),
]  # fmt: skip


@pytest.mark.parametrize("ask", UNKNOWN, ids=range(len(UNKNOWN)))
def test_a_context_that_no_hierarchy_knows_is_refused_and_not_repeated(ask):
    with pytest.raises(UnknownKey) as refused:
        ask()
    assert refused.value.hint
    assert "tea room" not in str(refused.value)


def test_a_place_within_a_hair_of_the_border_belongs_to_the_last_cell():
    """A millionth of a cell: the border itself was taken, and what lay just inside of it refused."""
    for digits in (0, 2, 5):
        box = Decimals(0, 0, 1, 1, digits)
        assert box.path((0.99999999999, 0.5)) == box.path((1, 0.5))
        assert box.path((0.5, 0.99999999999)) == box.path((0.5, 1))
    with pytest.raises(UnknownKey):
        Decimals(0, 0, 1, 1).path((1.0000000001, 0.5))
