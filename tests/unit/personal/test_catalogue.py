"""The server's half: answers that are short, the same for all, changed by bids; what is refused."""

import json
import sys

import numpy as np
import pytest

from hubbub.errors import InvalidInput, InvalidParameter, TooFine, UnknownKey
from hubbub.personal import (
    Catalogue,
    Categories,
    ClickRates,
    Client,
    Cut,
    Decimals,
    LearnedTable,
    RateTable,
    Selector,
)
from hubbub.released import Value

TOWN = Categories.of_grid(4, 4)
NAMES = [f"shop {i}" for i in range(12)]
RATES = np.random.default_rng(1).random((12, 16))


def ask(served, node, k=3):
    return json.loads(served.answer(json.dumps({"node": node, "k": k}).encode()))


def test_it_answers_for_any_node():
    served = Catalogue(RateTable(TOWN, NAMES, RATES))
    for name in ("0,0 x4", "0,0 x2", "3,3"):
        node, said = TOWN.named(name), ask(served, name)
        chosen = Selector(NAMES, RATES[:, node.first : node.first + node.leaves]).choose(3)
        assert (said["results"], sum(said["lengths"])) == (list(chosen.results), node.leaves)
        assert said["value"] == chosen.value <= said["bound"]
        assert ask(served, name) == said


def test_bids_and_bans_change_what_is_answered():
    served = Catalogue(RateTable(TOWN, NAMES, RATES), bids={"shop 3": 50})
    assert ask(served, "0,0 x4", 1)["results"] == ["shop 3"]
    served.set_bid("shop 3", 0)
    served.set_bid("shop 5", 90)
    assert ask(served, "0,0 x4", 1)["results"] == ["shop 5"]
    served.ban(["shop 5"])
    assert "shop 5" not in ask(served, "0,0 x4", 12)["results"]
    served.ban([])
    assert ask(served, "0,0 x4", 1)["results"] == ["shop 5"]


BY_NODE = {"0,0 x4": 2, "0,0 x2": 5, "1,1": 0, "3,3": 9}


def bid_at(name, bids):
    """That of the lowest node that has one; by looking at every node above a context."""
    return next((bids[node.name] for node in reversed(TOWN.path(name)) if node.name in bids), 1)


def test_bids_by_context_change_what_is_answered_there_and_nowhere_else():
    served = Catalogue(RateTable(TOWN, NAMES, RATES), bids={"shop 3": BY_NODE, "shop 4": {"2,0 x2": 7}, "shop 5": 3})
    for name in ("0,0 x4", "0,0 x2", "2,0 x2", "1,1", "3,2"):
        node = TOWN.named(name)
        below = [leaf.name for leaf in TOWN.leaves(node)]
        bids = np.ones((12, node.leaves))
        bids[3] = [bid_at(leaf, BY_NODE) for leaf in below]
        bids[4] = [bid_at(leaf, {"2,0 x2": 7}) for leaf in below]
        bids[5] = 3
        chosen = Selector(NAMES, RATES[:, node.first : node.first + node.leaves], bids=bids).choose(3)
        said = ask(served, name)
        assert (said["results"], said["value"]) == (list(chosen.results), pytest.approx(chosen.value))
    served.set_bid("shop 3", 1)
    served.set_bid("shop 4", 1)
    served.set_bid("shop 5", 1)
    assert ask(served, "0,0 x4") == ask(Catalogue(RateTable(TOWN, NAMES, RATES)), "0,0 x4")
    assert served._apart == {}


def test_bids_by_context_divide_contexts_that_nobody_was_seen_in():
    """They share a column as long as their bids are the same."""
    rows = [("0,0", "a", 100, 50), ("0,0", "b", 100, 10), ("1,1", "b", 100, 60), ("3,2", "c", 50, 20)]
    table = LearnedTable(ClickRates.fit(TOWN, rows))
    served = Catalogue(table, bids={"a": {"3,3": 9, "2,2 x2": 3}, "b": {"2,1": 0}, "c": 2})
    client = Client(Cut(TOWN, finest=0).to_bytes())
    columns = table.under(TOWN.root)
    at = [column for length, column in columns.runs for _ in range(length)]
    rates = columns.rates[:, at]
    bids = np.ones((3, 16))
    for leaf in TOWN.leaves():
        bids[0, leaf.first] = bid_at(leaf.name, {"3,3": 9, "2,2 x2": 3})
        bids[1, leaf.first] = bid_at(leaf.name, {"2,1": 0})
    bids[2] = 2
    chances = [weights(columns, TOWN, TOWN.root)[leaf.name] for leaf in TOWN.leaves()]
    for k in (1, 2, 3):
        chosen = Selector(table.results, rates, bids=bids, chances=chances).choose(k)
        answer = served.answer(client.request("0,0", k))
        assert json.loads(answer)["results"] == list(chosen.results)
        assert json.loads(answer)["value"] == pytest.approx(chosen.value)
        for leaf in TOWN.leaves():
            best = chosen.best[leaf.first]
            assert client.pick(leaf.name, answer) == (None if best < 0 else chosen.results[best])


def test_answers_are_never_longer_than_ten_kilobytes():
    wide = Categories.of_grid(64, 64)
    rates = np.random.default_rng(2).random((30, 4096))
    served = Catalogue(RateTable(wide, [f"result number {i}" for i in range(30)], rates), most=30)
    answer = served.answer(json.dumps({"node": wide.root.name, "k": 30}).encode())
    said = json.loads(answer)
    assert len(answer) <= 10_000
    assert 0 < said["left_out"] < 1
    client = Client(Cut(wide, finest=0).to_bytes())
    shown = [client.pick(f"{column},{row}", answer) for column in range(0, 64, 5) for row in range(0, 64, 5)]
    assert 0 < shown.count(None) < len(shown)
    long = Catalogue(RateTable(TOWN, ["x" * 3000 + str(i) for i in range(12)], RATES))
    with pytest.raises(InvalidParameter, match="longer than"):
        ask(long, "0,0 x4", 12)


def test_a_thousand_contexts_fit_whole():
    wide = Categories.of_grid(32, 32)
    served = Catalogue(RateTable(wide, NAMES, np.random.default_rng(3).random((12, 1024))))
    answer = served.answer(json.dumps({"node": wide.root.name, "k": 10}).encode())
    assert len(answer) <= 10_000
    assert json.loads(answer)["left_out"] == 0


def test_learned_rates_back_off_along_the_hierarchy():
    """Contexts of the log have columns of their own; all others below a node share one, with the node's rates."""
    rows = [("0,0", "a", 100, 50), ("0,0", "b", 100, 10), ("1,1", "b", 100, 60), ("3,3", "c", 5, 5)]
    rates = ClickRates.fit(TOWN, rows, min_support=20)
    columns = LearnedTable(rates).under(TOWN.root)
    by_context = {}
    number = 0
    for length, column in columns.runs:
        for _ in range(length):
            by_context[TOWN.way(number)[-1].name] = columns.rates[:, column]
            number += 1
    assert number == 16
    for name, vector in by_context.items():
        for result, found in zip(rates.results, vector, strict=True):
            told = rates.rate(result, name).value
            assert found == (told.value if told.has_number else 0)
    assert by_context["1,0"][1] == 70 / 200  # b in the block of 2 by 2
    assert by_context["3,3"][2] == 0  # c was shown 5 times in all: unknown
    served = Catalogue(LearnedTable(rates))
    assert ask(served, "0,0 x2", 2)["results"] == ["a", "b"]
    assert ask(served, "2,2 x2", 1)["results"] == ["a"]


def weights(columns, hierarchy, node):
    """How much each context below a node weighs, by counting."""
    sizes = {}
    for length, column in columns.runs:
        sizes[column] = sizes.get(column, 0) + length
    at = [column for length, column in columns.runs for _ in range(length)]
    return {leaf.name: columns.chances[at[i]] / sizes[at[i]] for i, leaf in enumerate(hierarchy.leaves(node))}


def test_contexts_that_never_occurred_weigh_one_event_together():
    """Not one at every level: with 200 searches at 200 places most of the value came from where nobody ever was."""
    rows = [("0,0", "a", 100, 50), ("1,1", "b", 40, 30), ("3,3", "c", 5, 5)]
    table = LearnedTable(ClickRates.fit(TOWN, rows, min_support=20))
    for name, seen in (("0,0 x4", {"0,0": 100, "1,1": 40, "3,3": 5}), ("0,0 x2", {"0,0": 100, "1,1": 40}),
                       ("2,0 x2", {}), ("3,3", {"3,3": 5}), ("2,1", {})):  # fmt: skip
        node = TOWN.named(name)
        found = weights(table.under(node), TOWN, node)
        others = [weight for leaf, weight in found.items() if leaf not in seen]
        assert {leaf: weight for leaf, weight in found.items() if leaf in seen} == seen
        assert others == pytest.approx([1 / max(1, len(others))] * len(others))
    world, rng = Decimals(61, -150, 62, -149), np.random.default_rng(4)
    log = [((61 + rng.random(), -150 + rng.random()), "a", 1, 1) for _ in range(200)]
    learned = LearnedTable(ClickRates.fit(world, log, min_support=1)).under(world.root)
    assert learned.chances.sum() == pytest.approx(201)


def test_how_often_contexts_occur_may_be_told_apart_from_the_rates():
    """Counts with noise are often of larger nodes, and how often contexts occur is known from elsewhere."""
    noisy = {("0,0 x4", "a"): Value(400, 5, 390, 410)}, {("0,0 x4", "a"): Value(200, 5, 190, 210)}
    rates = ClickRates.of_released(TOWN, *noisy, events={TOWN.leaf("3,3"): 30, TOWN.leaf("0,1"): 10})
    found = weights(LearnedTable(rates).under(TOWN.root), TOWN, TOWN.root)
    assert (found["3,3"], found["0,1"], found["0,0"]) == (30, 10, pytest.approx(1 / 14))
    for wrong in (-1, float("nan")):
        with pytest.raises(InvalidInput, match="less than 0 times"):
            ClickRates.of_released(TOWN, *noisy, events={0: wrong})


def test_what_was_picked_out_of_everything_backs_off_in_the_same_way():
    rows = [("0,0", "a")] * 3 + [("0,0", "b")] * 2 + [("1,1", "b")] + [("3,3", "c")]
    rates = ClickRates.fit_picks(TOWN, rows, min_support=2)
    columns = LearnedTable(rates).under(TOWN.root)
    at = [column for length, column in columns.runs for _ in range(length)]
    for leaf in TOWN.leaves():
        for place, result in enumerate(rates.results):
            assert columns.rates[place, at[leaf.first]] == rates.rate(result, leaf.name).value.value


def test_noisy_counts_fill_the_same_table():
    shown = {("0,0", "a"): Value(400, 5, 390, 410), ("0,0 x4", "b"): Value(900, 5, 890, 910)}
    clicked = {("0,0", "a"): Value(200, 5, 190, 210), ("0,0 x4", "b"): Value(90, 5, 80, 100)}
    rates = ClickRates.of_released(TOWN, shown, clicked)
    assert rates.events == {0: 400.0}
    client = Client(Cut(TOWN, finest=0).to_bytes())
    served = Catalogue(LearnedTable(rates))
    answer = served.answer(client.request("0,0", 2))
    assert [client.pick(name, answer) for name in ("0,0", "3,3")] == ["a", "b"]


def test_ten_to_the_tenth_contexts_need_a_column_for_each_that_was_seen():
    world = Decimals(61, -150, 62, -149)
    rows = [((61.22913, -149.912044), "cafe", 40, 20), ((61.5, -149.5), "bar", 40, 10)]
    served = Catalogue(LearnedTable(ClickRates.fit(world, rows)))
    said = ask(served, "61,-150", 2)
    assert sum(said["lengths"]) == 10**10
    client = Client(Cut(world, finest=1).to_bytes())
    answer = served.answer(client.request((61.22913, -149.912044), 2))
    assert client.pick((61.22913, -149.912044), answer) == "cafe"
    assert client.pick((61.5, -149.5), answer) == "cafe"  # the rate of the whole box: 20 of 40 against 10 of 40


def calls(act):
    """How many functions are called: work that does not depend on how busy the machine is."""
    found = 0

    def count(frame, event, arg):
        nonlocal found
        found += event == "call"

    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(None)
    return found


def test_who_asks_for_many_nodes_makes_nobody_wait_and_fills_no_memory(monkeypatch):
    """Each node that was asked before made a new one slower, and was remembered for ever."""
    monkeypatch.setattr("hubbub.personal.catalogue._KEPT_SELECTORS", 200)
    monkeypatch.setattr("hubbub.personal.catalogue._KEPT_ANSWERS", 200)
    world = Decimals(61, -150, 62, -149)
    rates = ClickRates.fit(world, [("61.22913,-149.912044", name, 40, 20) for name in "abc"])
    table = LearnedTable(rates)
    served = Catalogue(table)
    taken = [calls(lambda i=i: ask(served, f"61.{i:03d},-150.000")) for i in range(600)]
    assert max(taken[300:]) <= max(taken[100:200]) + 5  # when there is no room left, one is let go for each
    assert len(served._selectors) == len(served._answers) == 200
    assert served._cells == sum(served._held(selector) for selector, _ in served._selectors.values())
    assert set(table._own) <= set(rates.tallies)
    monkeypatch.setattr("hubbub.personal.catalogue._KEPT_CELLS", 20 * 3 * 17)
    ask(served, "61.999,-150.000")
    assert len(served._selectors) == 20
    served.set_bid("a", 3.0)
    assert ask(served, "61.999,-150.000")["results"] == ["a"]


def test_what_nobody_may_ask_is_refused():
    served = Catalogue(RateTable(TOWN, NAMES, RATES), min_leaves=4, most=5)
    with pytest.raises(TooFine, match="at least 4"):
        ask(served, "3,3")
    assert ask(served, "2,2 x2")["results"]
    with pytest.raises(UnknownKey):
        ask(served, "9,9")
    for k in (0, 6):
        with pytest.raises(InvalidParameter, match="between 1 and 5"):
            ask(served, "0,0 x2", k)
    secret = b'{"node": "0,0 x2", "k": 3, "context": "1,1"}'
    for body in (b"", b"[]", b"7", b'{"node": 1, "k": 3}', b'{"node": "a", "k": true}', b'{"k": 3}', secret,
                 b'{"node": "1,1", "node": "0,0 x2", "k": 3}', b'{"node": "0,0 x2", "k": 3, "k": 3}',
                 b"[" * 3000, b" " * 5000, b"\xff"):  # fmt: skip
        with pytest.raises(InvalidInput, match="nothing else") as refused:
            served.answer(body)
        assert "1,1" not in str(refused.value)


REFUSED = [
    (lambda: RateTable(TOWN, NAMES, RATES[:, :3]), InvalidParameter, "columns"),
    (lambda: RateTable(TOWN, NAMES, RATES, [1, 2]), InvalidParameter, "one number"),
    (lambda: RateTable(TOWN, NAMES, RATES, [-1] + [1] * 15), InvalidParameter, "at least 0"),
    (lambda: RateTable(TOWN, NAMES, RATES, [float("nan")] * 16), InvalidParameter, "at least 0"),
    (lambda: RateTable(TOWN, NAMES, RATES, [0] * 16), InvalidParameter, "at least 0"),
    (lambda: Catalogue(RateTable(TOWN, NAMES, RATES), floor=3), InvalidParameter, "floor"),
    (lambda: Catalogue(RateTable(TOWN, NAMES, RATES), cost=-1), InvalidParameter, "cost"),
    (lambda: Catalogue(RateTable(TOWN, NAMES, RATES)).ban("shop 1"), InvalidParameter, "one text"),
    (lambda: Catalogue(RateTable(TOWN, NAMES, RATES), most=63), InvalidParameter, "most"),
    (lambda: Catalogue(RateTable(TOWN, NAMES, RATES), min_leaves=0), InvalidParameter, "min_leaves"),
    (lambda: Catalogue(RateTable(TOWN, NAMES, RATES), bids={"x": 1}), UnknownKey, "no result"),
    (lambda: Catalogue(RateTable(TOWN, NAMES, RATES), bids={"shop 1": -1}), InvalidParameter, "negative"),
    (lambda: Catalogue(RateTable(TOWN, NAMES, RATES), bids={"shop 1": {"9,9": 1}}), UnknownKey, "bid names a node"),
    (lambda: Catalogue(RateTable(TOWN, NAMES, RATES), bids={"shop 1": {"0,0": -1}}), InvalidParameter, "negative"),
    (lambda: Catalogue(RateTable(TOWN, NAMES, RATES)).ban(["x"]), UnknownKey, "no result"),
    (lambda: Catalogue(RateTable(TOWN, [], [])), InvalidParameter, "one row"),
]


@pytest.mark.parametrize(("make", "kind", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_is_refused(make, kind, words):
    with pytest.raises(kind, match=words):
        make()
