"""The selector: lazy is plain, near the best, within its bound; variants; changes; what is refused."""

import numpy as np
import pytest
from tests.support.plain_greedy import best_of_all, plain_greedy, value

from hubbub.errors import InvalidParameter, UnknownKey
from hubbub.personal import Selector


def instance(rng, results, contexts):
    """Of several kinds: much alike, sparse, coarse (many ties), with one huge bid, all or nothing."""
    kind = rng.integers(5)
    rates = rng.random((results, contexts))
    if kind == 1:
        rates *= rng.random((results, contexts)) < 0.15
    if kind == 2:
        rates = np.round(rates * 3) / 3
    bids = rng.integers(1, 4, results).astype(float)
    if kind == 3:
        bids[rng.integers(results)] = 1e6
    if kind == 4:  # maximum coverage
        return (rates < 0.4).astype(float), np.ones(results), np.ones(contexts)
    return rates, bids, rng.integers(0, 4, contexts) + 0.5


def made(rng, results, contexts, **more):
    rates, bids, chances = instance(rng, results, contexts)
    names = [f"r{i}" for i in range(results)]
    return Selector(names, rates, bids=bids, chances=chances, **more)


def places(selector, names):
    return [selector.results.index(name) for name in names]


def test_lazy_is_plain_on_a_thousand_instances():
    rng = np.random.default_rng(1)
    for _ in range(1000):
        selector = made(rng, int(rng.integers(1, 400)), int(rng.integers(1, 40)))
        k = int(rng.integers(1, 12))
        chosen = selector.choose(k)
        assert places(selector, chosen.results) == plain_greedy(selector._gains.worth, k)
        assert chosen.quality >= 1 - 1 / np.e


def test_lazy_is_plain_where_all_rows_are_alike():
    """Here every bound is old at every step, and the screen of bytes decides what is reckoned."""
    rng = np.random.default_rng(2)
    for contexts in (7, 64, 300):
        selector = Selector([str(i) for i in range(3000)], rng.random((3000, contexts)))
        assert places(selector, selector.choose(10).results) == plain_greedy(selector._gains.worth, 10)


def test_it_is_within_its_part_of_the_best_and_the_bound_holds():
    rng = np.random.default_rng(3)
    worst = 1.0
    for _ in range(300):
        selector = made(rng, int(rng.integers(1, 9)), int(rng.integers(1, 9)))
        k = int(rng.integers(1, 5))
        chosen = selector.choose(k)
        best = best_of_all(selector._gains.worth, min(k, len(selector.results)))
        assert chosen.value >= (1 - 1 / np.e) * best
        assert best <= chosen.bound * (1 + 1e-12)
        assert chosen.value == pytest.approx(value(selector._gains.worth, places(selector, chosen.results)))
        assert chosen.quality >= 1 - 1 / np.e
        worst = min(worst, chosen.value / best if best else 1)
    assert worst < 1, "greedy is not always the best: instances that show it were drawn"


def test_cost_stops_early_and_its_bound_holds():
    rng = np.random.default_rng(4)
    fewer = 0
    for _ in range(200):
        selector = made(rng, 8, 6)
        cost = float(rng.random() * selector._gains.everything() / 4)
        chosen = selector.choose(5, cost=cost)
        worth = selector._gains.worth
        assert places(selector, chosen.results) == plain_greedy(worth, 5, cost)
        best = best_of_all(worth, 5, cost)
        assert best <= chosen.bound * (1 + 1e-9) + 1e-12
        prefixes = [value(worth, plain_greedy(worth, i)) - cost * i for i in range(6)]
        assert chosen.value == pytest.approx(max(prefixes))  # Goetz 2012, Theorem 8: stopping is as good as going on
        fewer += len(chosen.results) < 5
    assert fewer


def test_a_floor_shows_nothing_below_it():
    rates = np.array([[0.9, 0.1, 0.2], [0.2, 0.8, 0.2]])
    chosen = Selector(["a", "b"], rates, floor=0.5).choose(2)
    assert chosen.best.tolist() == [0, 1, -1]
    assert Selector(["a", "b"], rates, floor=1).choose(2).results == ()
    assert Selector(["a", "b"], rates, floor=1).choose(2).best.tolist() == [-1, -1, -1]


def test_bids_by_context_and_a_ban_list():
    rates = np.full((3, 2), 0.5)
    selector = Selector(["a", "b", "c"], rates, bids=[[4, 0], [1, 1], [0, 3]])
    assert selector.choose(2).results == ("a", "c")
    assert selector.choose(2, ban=["a"]).results == ("c", "b")
    assert selector.choose(2, ban=["a", "b", "c"]).results == ()
    assert Selector(["a"], [[0.0]]).choose(3).results == ()


def test_everything_is_without_what_is_banned_and_before_cost():
    assert Selector(["a", "b"], [[0.9], [0.1]]).choose(2, ban=["a"]).everything == pytest.approx(0.1)
    chosen = Selector(["a", "b"], [[0.9, 0], [0, 0.9]]).choose(2, cost=0.3)
    assert (chosen.value, chosen.everything) == (pytest.approx(0.3), pytest.approx(0.9))
    assert Selector(["a"], [[0.9]]).choose(1, ban=["a"]).everything == 0
    rng = np.random.default_rng(8)
    for _ in range(100):
        selector = made(rng, 9, 5)
        banned = [name for name in selector.results if rng.random() < 0.4]
        kept = [place for place, name in enumerate(selector.results) if name not in banned]
        chosen = selector.choose(9, ban=banned)
        most = selector._gains.worth[kept].max(axis=0, initial=0).sum()
        assert chosen.everything == pytest.approx(most) == pytest.approx(chosen.value)
        assert chosen.value <= chosen.bound


def test_chances_may_be_as_large_as_numbers_are():
    even = Selector(["a"], [[0.2, 0.6]], chances=[1e308, 1e308]).choose(1)
    assert even.value == pytest.approx(0.4)


def test_who_is_where_nobody_was_expected_is_served_too():
    selector = Selector(["a", "b"], [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]], chances=[1, 0, 1])
    assert selector.choose(2).results == ("a",)  # b adds nothing to what is expected
    assert selector.choose(2).best.tolist() == [0, 0, -1]


def test_client_only_and_server_only_are_its_ends():
    rng = np.random.default_rng(5)
    selector = made(rng, 20, 10)
    assert selector.choose(20).value == pytest.approx(selector.choose(1).everything)
    assert selector.choose(1).value == pytest.approx(selector._gains.worth.sum(axis=1).max())
    assert selector.choose(1).bound == pytest.approx(selector.choose(1).value)


def test_after_changes_it_chooses_as_one_made_anew():
    rng = np.random.default_rng(6)
    for _ in range(40):
        rates, bids, chances = instance(rng, 200, 12)
        names = [f"r{i}" for i in range(200)]
        selector = Selector(names, rates, bids=bids, chances=chances, floor=0.1)
        for _ in range(5):
            row, column = int(rng.integers(200)), int(rng.integers(12))
            bids[row] = rng.choice([0.0, 1.0, 50.0])
            selector.set_bid(names[row], bids[row])
            rates[row, column] = rng.random()
            selector.set_rate(names[row], column, rates[row, column])
            new = Selector(names, rates, bids=bids, chances=chances, floor=0.1).choose(6)
            old = selector.choose(6)
            assert (old.results, old.value, old.everything) == (new.results, new.value, new.everything)


def test_one_bid_may_become_one_by_context():
    selector = Selector(["a", "b"], [[0.5, 0.5], [0.4, 0.4]])
    selector.set_bid("a", [1, 0])
    assert selector.choose(2).best.tolist() == [0, 1] or selector.choose(2).results == ("b", "a")
    assert selector.choose(2).value == pytest.approx(0.45)


RATES = [[0.5, 0.5], [0.4, 0.4]]
REFUSED = [
    (lambda: Selector([], []), InvalidParameter, "no results"),
    (lambda: Selector(["a", "a"], RATES), InvalidParameter, "same name"),
    (lambda: Selector(["a", 3], RATES), InvalidParameter, "words"),
    (lambda: Selector(["a", "b"], [[], []]), InvalidParameter, "no context"),
    (lambda: Selector(["a"], RATES), InvalidParameter, "one row"),
    (lambda: Selector(["a"], [["x"]]), InvalidParameter, "numbers"),
    (lambda: Selector(["a"], [[1.5]]), InvalidParameter, "between 0 and 1"),
    (lambda: Selector(["a"], [[-0.1]]), InvalidParameter, "between 0 and 1"),
    (lambda: Selector(["a"], [[float("nan")]]), InvalidParameter, "between 0 and 1"),
    (lambda: Selector(["a", "b"], RATES, bids=-1), InvalidParameter, "negative"),
    (lambda: Selector(["a", "b"], RATES, bids=[1, float("nan")]), InvalidParameter, "negative"),
    (lambda: Selector(["a", "b"], RATES, bids=[1, float("inf")]), InvalidParameter, "negative"),
    (lambda: Selector(["a", "b"], RATES, bids=[1, 2, 3]), InvalidParameter, "Bids are"),
    (lambda: Selector(["a", "b"], RATES, bids="dear"), InvalidParameter, "Bids are"),
    (lambda: Selector(["a", "b"], RATES, chances=[1]), InvalidParameter, "one number"),
    (lambda: Selector(["a", "b"], RATES, chances=[0, 0]), InvalidParameter, "at least 0"),
    (lambda: Selector(["a", "b"], RATES, floor=2), InvalidParameter, "floor"),
    (lambda: Selector(["a", "b"], RATES).choose(0), InvalidParameter, "from 1 on"),
    (lambda: Selector(["a", "b"], RATES).choose(1, cost=-1), InvalidParameter, "cost"),
    (lambda: Selector(["a", "b"], RATES).choose(1, cost="dear"), InvalidParameter, "cost"),
    (lambda: Selector(["a", "b"], RATES, floor="low"), InvalidParameter, "floor"),
    (lambda: Selector(["a", "b"], RATES).choose(1, ban="ab"), InvalidParameter, "one text"),
    (lambda: Selector(["a", "b"], RATES, chances=[1, float("nan")]), InvalidParameter, "at least 0"),
    (lambda: Selector(["a", "b"], RATES, chances=["often", 1]), InvalidParameter, "one number"),
    (lambda: Selector(["a", "b"], RATES).choose(1, ban=["z"]), UnknownKey, "no result"),
    (lambda: Selector(["a", "b"], RATES).set_bid("z", 1), UnknownKey, "no result"),
    (lambda: Selector(["a", "b"], RATES).set_bid("a", -1), InvalidParameter, "negative"),
    (lambda: Selector(["a", "b"], RATES).set_bid("a", [1, 2, 3]), InvalidParameter, "Bids are"),
    (lambda: Selector(["a", "b"], RATES).set_rate("a", 5, 0.5), UnknownKey, "number"),
    (lambda: Selector(["a", "b"], RATES).set_rate("a", 0, 5), InvalidParameter, "between 0 and 1"),
]


@pytest.mark.parametrize(("ask", "kind", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_is_refused(ask, kind, words):
    with pytest.raises(kind, match=words) as refused:
        ask()
    assert refused.value.hint


def test_a_refused_change_changes_nothing():
    selector = Selector(["a", "b"], RATES)
    before = selector.choose(2)
    for change in (lambda: selector.set_bid("a", -5), lambda: selector.set_rate("a", 0, float("nan"))):
        with pytest.raises(InvalidParameter):
            change()
    assert selector.choose(2).value == before.value
