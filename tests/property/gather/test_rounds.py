"""Whatever a round lists, a client's answer keeps its bound, and is what a slow reading of the round says."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hubbub.gather import Entry, OwnEntries, Query, Round
from hubbub.gather.prio3 import L1BoundSum
from hubbub.personal import Categories

TREE = Categories(
    {"t": None, "a": "t", "b": "t", "a1": "a", "a2": "a", "b1": "b", "b2": "b", "deep": "b2", "deeper": "b2", "c": "t"}
)
NAMES = ["t", "a", "b", "a1", "a2", "b1", "b2", "deep", "deeper", "c", "nowhere"]
CONTEXTS = ["a1", "a2", "b1", "deep", "deeper", "c"]
ITEMS = ["x", "y", "z"]
some_items = st.lists(st.sampled_from(ITEMS), unique=True, max_size=3).map(tuple)
entries = st.builds(Entry, st.sampled_from(CONTEXTS), st.sampled_from(ITEMS), st.booleans())


@st.composite
def rounds(draw: Any) -> Round:
    """Also such as no honest server would ask: nodes below each other, nodes that are none."""
    nodes = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=6))
    return Round(
        "w", draw(st.integers(0, 3)), 4, TREE.digest, draw(st.integers(1, 4)), tuple(nodes),
        tuple(draw(some_items) for _ in nodes), tuple(draw(st.lists(st.sampled_from(NAMES), unique=True))),
        draw(st.booleans()),
    )  # fmt: skip


@given(asked=rounds(), log=st.lists(entries, max_size=8), seed=st.integers(0, 2**32))
def test_no_list_draws_more_out_of_a_client(asked, log, seed):
    mine = OwnEntries(TREE, log, max_items=3, random=Random(seed))
    numbers = asked.vector(TREE, mine._chosen)
    assert len(numbers) == asked.length
    assert min(numbers, default=0) >= 0
    assert sum(numbers) <= asked.weight
    items = asked.length - len(asked.below)
    assert max(sum(numbers[:items]), sum(numbers[items:])) <= min(3, asked.max_items)
    if asked.length:
        query = Query.plan(asked.query_name, L1BoundSum(asked.length, asked.weight), clients=9, minimum=1, epsilon=1)
        assert query.circuit.encode(mine.answer(asked, query)).shape[-1] == query.circuit.encoded_length


@given(asked=rounds(), one=entries)
def test_an_entry_counts_at_the_highest_node_that_is_listed(asked, one):
    path = [node.name for node in TREE.path(one.context)]
    here = [name for name in path if name in asked.nodes][:1]
    lower = [name for name in path if name in asked.below][:1]
    expected = []
    for node, items in zip(asked.nodes, asked.items, strict=True):
        for item in items:
            hit = [node] == here and item == one.item
            expected += [int(hit)] if asked.picks else [int(hit and not one.clicked), int(hit and one.clicked)]
    expected += [int([name] == lower) for name in asked.below]
    assert asked.vector(TREE, [one]) == expected


@given(asked=rounds())
def test_rounds_come_back_from_the_wire(asked):
    assert Round.from_dict(json.loads(json.dumps(asked.to_dict()))) == asked
