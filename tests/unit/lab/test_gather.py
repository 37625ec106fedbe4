"""The experiments about rates that no server saw: what is counted, and what is said of older protocols."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hubbub.errors import InvalidParameter
from hubbub.gather import Entry, OwnEntries, Query, TopDown
from hubbub.gather.prio3 import Count
from hubbub.lab import gather, gather_phases, gather_rates
from hubbub.lab.gather_crowd import Crowd, noise_of_all, walked
from hubbub.lab.gather_phases import OLDER, ours, phase_rows, traffic_rows
from hubbub.lab.gather_rates import World, bidders
from hubbub.lab.gather_transport import Traffic, gathered
from hubbub.lab.local_search import CATEGORIES, directory, hierarchy, searches
from hubbub.noise import simulation
from hubbub.personal import Categories

TOWN = Categories({"town": None, "north": "town", "south": "town", "park": "north", "port": "north", "zoo": "south"})
LOGS = [
    [Entry("park", "ice", clicked=True), Entry("zoo", "tea"), Entry("port", "ice")],
    [Entry("zoo", "tea", clicked=True)],
]


def town_walk(**given):
    usual = {"items": ["ice", "tea"], "max_items": 2, "clients": 9, "minimum": 1, "min_support": 1, "depths": (0, 1, 2)}
    return TopDown(TOWN, name="w", **(usual | {"epsilon": 1} | given))


@pytest.mark.parametrize("picks", [False, True])
def test_a_crowds_sums_are_those_of_its_clients(picks):
    crowd = Crowd(TOWN, LOGS, 2, 2, seed=1)
    assert (crowd.kept, crowd.had) == (3, 4)
    walk = town_walk(picks=picks)
    clients = [OwnEntries(TOWN, log, max_items=2) for log in crowd.logs]
    while (asked := walk.ask()) is not None:
        vectors = [mine.answer(*asked) for mine in clients]
        assert crowd.sums(asked[0]) == np.sum(vectors, axis=0).tolist()
        assert crowd.sums(asked[0], np.array([False, True])) == vectors[1]
        walk.take(gathered(asked[1], vectors))
    assert crowd.totals()["town"] == 3


def test_a_crowd_of_which_a_part_stays_away():
    logs = [[Entry("park", "ice", clicked=True)]] * 400
    walk = town_walk(clients=400, minimum=100)
    with simulation(1) as source:
        found = walked(walk, Crowd(TOWN, logs, 2, 2, seed=1), source, np.random.default_rng(1), away=0.5).found
    # Six standard errors of a binomial of 400.
    assert all(abs(reports - 200) < 60 for reports in found.answered)
    assert len(set(found.answered)) > 1


def test_there_is_no_fast_way_for_gaussian_shares():
    query = Query.plan("q", Count(), clients=9, minimum=5, share_variance=1, lying=1)
    with simulation(1) as source, pytest.raises(InvalidParameter, match="no fast way"):
        noise_of_all(query, 1, 9, source, np.random.default_rng(1))


def test_messages_of_the_papers_scheme():
    """2N + 1: N questions, N reports, one sum; and between servers that check, three for each batch, and the result."""
    query = Query.plan("q", Count(), clients=20, minimum=10, epsilon=1, lying=1)
    traffic = Traffic()
    gathered(query, [1] * 20, None, traffic)
    assert traffic.messages == {"set-up": 20, "collecting": 20, "adding": 3, "opening": 2}


def test_older_protocols_need_what_is_reckoned():
    """The simulation beside the closed form, within six standard errors of 1,000 geometric numbers."""
    rng = np.random.default_rng(4)
    for protocol in OLDER:
        for people, away in ((50, 0.01), (200, 0.002), (30, 0.0)):
            expected = protocol.expected(people, away)
            seen = protocol.simulated(people, away, rng)
            assert abs(seen - expected) <= 6 * expected / math.sqrt(gather_phases.QUERIES) + 1e-9
    assert [protocol.expected(100, 0.0) for protocol in OLDER] == [1, 3]
    assert OLDER[0].expected(10**6, 0.01) == math.inf
    assert ours(1000, 0.0, rng) == 2
    assert ours(10, 0.2, rng) > 4


def test_rows_of_phases_grow_with_people_and_absence():
    rows = {(row["protocol"], row["people"], row["away"]): row for row in phase_rows(1)}
    assert rows["SHI", 1000, 0.01]["phases"] > rows["SHI", 100, 0.01]["phases"] > rows["SHI", 100, 1e-6]["phases"]
    assert rows["Count, Prio3", 100_000, 0.01]["messages"] == 200_001
    assert rows["SHI", 100_000, 0.01]["simulated"] is None


def test_rows_of_traffic():
    rows = traffic_rows(6, 8)
    assert {row["phase"] for row in rows} == {"set-up", "collecting", "adding", "opening"}
    assert {(row["what"], row["scheme"]) for row in rows} == {
        (what, scheme) for what in ("one count", "8 buckets") for scheme in ("Prio3", "BFV")
    }
    assert all(row["bytes_a_client"] > 0 for row in rows)


def test_who_bids_is_public_and_near():
    book = directory(3)
    items = bidders(book)
    tree = hierarchy(("location", "location", "query", "query"))
    assert len(items(tree.root.name)) == len(book)
    for name, one in list(book.items())[:50]:
        place = (61 + one.place[0], -150 + one.place[1])
        path = tree.path({"location": place, "interest": "category 0", "query": f"category {one.category}: query 0"})
        assert name in items(path[3].name)
        assert name in items(path[4].name)
        assert all(book[other].category // CATEGORIES == one.category // CATEGORIES for other in items(path[3].name))


def test_the_directory_is_that_of_the_log():
    log, book = searches(5, 60, 6), directory(5)
    for search in log:
        assert search.context["query"].startswith(f"category {book[search.picked].category}:")


def test_rows_tables_and_words_go_together(monkeypatch, tmp_path):
    small = World.of(60, 1)
    assert small.crowd.kept <= 4 * len(small.crowd)
    monkeypatch.setattr(gather.World, "of", lambda *_: small)
    monkeypatch.setattr(gather, "traffic_rows", lambda *_: traffic_rows(6, 8))
    monkeypatch.setattr(gather_rates, "EPSILONS", (1,))
    monkeypatch.setattr(gather_rates, "MISSING", (0.5,))
    for name in list(gather_rates.WAYS)[1:-1]:
        monkeypatch.delitem(gather_rates.WAYS, name)
    steps: list[int] = []
    result = gather.gather_result(True, 1, steps.append, lambda: steps.append(1))
    assert sum(steps[1:]) == steps[0]
    assert {row["line"] for row in result.rows} == {"exact", "servers", "shares"}
    exact = [row for row in result.rows if row["line"] == "exact"]
    assert exact[0]["coverage"] == 1
    assert all("added_up_error_4" in row for row in result.more["ways"] if "three" in row["way"])
    assert {path.suffix for path in result.write(tmp_path, "gather")} == {".csv", ".html"}
