"""A walk down a hierarchy: what is asked, what a client gives, what comes out, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from hubbub.errors import BudgetExceeded, InvalidInput, InvalidParameter, QueryMismatch, ReportReplayed, UnknownKey
from hubbub.gather import Client, Entry, Helper, Leader, OwnEntries, Prio3Scheme, Query, Round, SealKey, TopDown
from hubbub.gather.opened import Opened
from hubbub.gather.prio3 import Count
from hubbub.personal import Categories, ClickRates, Combined
from hubbub.privacy import Account, Guarantee, User

TOWN = Categories(
    {"town": None, "north": "town", "south": "town", "park": "north", "port": "north", "quay": "south", "zoo": "south"}
)
KEY = bytes(32)


def walk(**given: Any) -> TopDown:
    usual = {
        "name": "ice", "items": ["vanilla", "lemon"], "max_items": 2, "clients": 1000, "minimum": 1,
        "min_support": 10, "epsilon": 1, "depths": (0, 1, 2),
    }  # fmt: skip
    return TopDown(TOWN, **(usual | given))


def clear(query: Query, vectors: list[list[int]], noise: float = 2.0) -> Opened:
    """What a round would come to without noise; it is said to have some."""
    sums = [sum(numbers) for numbers in zip(*vectors, strict=True)] if vectors else [0] * query.circuit.output_length
    return Opened(query.name, sums, len(vectors), query.clients, noise, query.promise)


def people(*many: tuple[int, str, str, bool]) -> list[list[Entry]]:
    return [[Entry(context, item, clicked)] for times, context, item, clicked in many for _ in range(times)]


def walked(top_down: TopDown, logs: list[list[Entry]], tree: Any = TOWN) -> list[Round]:
    clients = [OwnEntries(tree, log, max_items=top_down.max_items) for log in logs]
    rounds = []
    while (asked := top_down.ask()) is not None:
        rounds.append(asked[0])
        top_down.take(clear(asked[1], [client.answer(*asked) for client in clients]))
    return rounds


CROWD = people(
    (30, "park", "vanilla", True), (10, "park", "vanilla", False), (12, "port", "lemon", False),
    (3, "quay", "lemon", True), (2, "zoo", "pear", True),
)  # fmt: skip


def test_a_walk_goes_where_there_is_enough():
    ice = walk()
    rounds = walked(ice, CROWD)
    assert [one.nodes for one in rounds] == [("town",), ("north",), ("park", "port")]
    assert [one.below for one in rounds] == [("north", "south"), ("park", "port"), ()]
    found = ice.found
    assert {name: value.value for name, value in found.counts.items()} == {
        "north": 52, "south": 5, "park": 40, "port": 12,
    }  # fmt: skip
    assert found.pruned == {"south"}
    assert found.answered == (57, 57, 57)
    assert (found.shown["town", "vanilla"].value, found.clicked["town", "vanilla"].value) == (40, 30)
    assert (found.shown["port", "lemon"].value, found.clicked["port", "lemon"].value) == (12, 0)
    assert ("quay", "lemon") not in found.shown
    # Both numbers of an item have noise of their own: what was shown has that of two.
    assert found.shown["town", "lemon"].standard_error == pytest.approx(2.0)
    assert found.clicked["town", "lemon"].standard_error == pytest.approx(2.0**0.5)


def test_released_rates_with_intervals_and_back_off():
    ice = walk()
    walked(ice, CROWD)
    rates = ClickRates.of_released(TOWN, ice.found.shown, ice.found.clicked, min_support=8)
    park = rates.rate("vanilla", "park")
    assert (park.node.name, park.value.value) == ("park", 0.75)
    assert 0.3 < park.value.lower < 0.75 < park.value.upper <= 1
    assert rates.rate("vanilla", "zoo").node.name == "town"


def test_picks_take_a_nodes_count_for_what_was_shown():
    ice = walk(picks=True)
    rounds = walked(ice, [[Entry(one.context, one.item)] for (one,) in CROWD])
    assert rounds[0].length == 2 + 2
    found = ice.found
    assert found.shown["town", "vanilla"].value == 57
    assert found.clicked["town", "vanilla"].value == 40
    assert found.shown["park", "lemon"].value == 40


def test_picks_of_rounds_that_fewer_answered_are_scaled():
    ice = walk(picks=True, depths=(0, 1))
    logs = [[Entry(one.context, one.item)] for (one,) in people((40, "park", "vanilla", True))]
    for answering in (40, 20):
        asked = ice.ask()
        ice.take(clear(asked[1], [OwnEntries(TOWN, log, max_items=2).answer(*asked) for log in logs[:answering]]))
    assert ice.found.shown["north", "vanilla"].value == 20
    assert ice.found.shown["north", "vanilla"].standard_error == pytest.approx(2.0**0.5 / 2)


def test_counts_alone_need_no_last_round():
    ice = walk(items=())
    rounds = walked(ice, CROWD)
    assert ice.rounds == len(rounds) == 2
    assert ice.parts == (Fraction(1, 2), Fraction(1, 2))
    assert ice.found.counts["park"].value == 40
    assert not ice.found.shown


def test_where_all_have_too_little_the_walk_ends():
    ice = walk()
    assert len(walked(ice, people((5, "park", "vanilla", True)))) == 1
    assert ice.ask() is None
    assert ice.found.pruned == {"north", "south"}


def test_contexts_that_lie_higher_than_others_are_asked_once():
    tree = Categories({"town": None, "north": "town", "isle": "town", "park": "north", "port": "north"})
    ice = TopDown(
        tree, name="ice", items=["vanilla"], max_items=1, clients=100, minimum=1, min_support=5, epsilon=1,
        depths=(0, 2),
    )  # fmt: skip
    rounds = walked(ice, people((9, "isle", "vanilla", True), (8, "park", "vanilla", False)), tree)
    assert rounds[0].below == ("park", "port", "isle")
    assert rounds[1].nodes == ("isle", "park")
    assert ice.found.clicked["isle", "vanilla"].value == 9


def test_a_round_takes_the_largest_nodes_and_says_which_it_left_out():
    ice = walk(depths=(0, 2), longest_round=8)
    walked(ice, [*CROWD, *people((11, "zoo", "lemon", True))])
    assert ice.found.left_out == {"port"}
    assert {node for node, _ in ice.found.shown} == {"town", "park", "zoo"}


def test_items_of_a_node():
    ice = walk(items=lambda node: ["vanilla"] if node == "park" else [])
    rounds = walked(ice, CROWD)
    assert [one.items for one in rounds] == [((),), ((),), (("vanilla",),)]
    assert [one.weight for one in rounds] == [2, 2, 2]
    assert set(ice.found.shown) == {("park", "vanilla")}


def test_budgets():
    ice = walk(weights=(1, "1/2", "1/2"))
    assert ice.parts == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    assert sum(ice.parts) == ice.cost.epsilon == 1
    asked, query = ice.ask()
    # Two entries, each in two numbers; another answer moves all of them.
    assert (asked.weight, query.circuit.change, query.noise.sensitivity, query.noise.epsilon) == (
        4,
        8,
        8,
        Fraction(1, 2),
    )
    # Without weights noise is the same in all rounds: in the last one a client moves half as much.
    assert walk().parts == (Fraction(2, 5), Fraction(2, 5), Fraction(1, 5))
    assert walk(depths=(0,)).parts == (1,)
    gaussian = walk(epsilon=None, rho="1/10")
    assert gaussian.cost.rho == Fraction(1, 10)
    assert gaussian.parts == (Fraction(4, 90), Fraction(4, 90), Fraction(1, 90))
    assert gaussian.ask()[1].noise.rho == Fraction(4, 90)
    assert "rho 0.1" in gaussian.promise
    shares = walk(lying=3, minimum=100)
    assert "at most 3 lie" in shares.promise
    assert "Whether and what" in walk(protects="presence").promise


def test_all_is_charged_before_the_first_round_or_nothing_is_asked():
    unit = User(1, horizon=1)
    account = Account(Guarantee.pure(unit, 1))
    ice = walk(account=account)
    assert account.spent == 0
    ice.ask()
    ice.ask()
    assert account.spent == 1
    poor = walk(account=Account(Guarantee.pure(unit, "1/2")))
    for _ in "twice":
        with pytest.raises(BudgetExceeded):
            poor.ask()


def test_after_a_restart_the_walk_goes_on_where_it_was():
    ice, opened = walk(), []
    clients = [OwnEntries(TOWN, log, max_items=2) for log in CROWD]
    while (asked := ice.ask()) is not None:
        again = walk()
        again.replay(opened)
        assert again.ask()[0] == asked[0]
        assert again.ask()[1].digest == asked[1].digest
        opened.append(clear(asked[1], [client.answer(*asked) for client in clients]))
        ice.take(opened[-1])
    again = walk()
    again.replay(opened)
    assert again.ask() is None
    assert again.found == ice.found


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"epsilon": None}, "Give one of"),
        ({"rho": 1}, "Give one of"),
        ({"min_support": 0}, "min_support"),
        ({"min_support": float("nan")}, "min_support"),
        ({"max_items": 0}, "max_items"),
        ({"longest_round": 0}, "longest_round"),
        ({"epsilon": 21}, "practically nothing"),
        ({"depths": ()}, "depths"),
        ({"depths": (1, 2)}, "depths"),
        ({"depths": (0, 2, 2)}, "depths"),
        ({"depths": (0,), "picks": True}, "two depths"),
        ({"depths": (0,), "items": ()}, "nothing to ask"),
        ({"depths": (0,), "items": lambda _: ()}, "nothing to ask"),
        ({"weights": (1, 1)}, "weights"),
        ({"weights": (1, 1, 0)}, "weights"),
        ({"items": ["vanilla", "vanilla"]}, "twice"),
        ({"longest_round": 5}, "6 numbers"),
        ({"minimum": 1001}, "at most `clients`"),
    ],
)
def test_walks_that_make_no_sense(given, words):
    with pytest.raises(InvalidParameter, match=words):
        walk(**given)


def test_results_of_something_else():
    ice = walk()
    with pytest.raises(InvalidInput, match="No round"):
        ice.take(Opened("x", [], 1, 1, 1.0, ""))
    _, query = ice.ask()
    for wrong in (Opened("x", [0] * 6, 1, 1, 1.0, ""), Opened(query.name, [0] * 5, 1, 1, 1.0, "")):
        with pytest.raises(QueryMismatch, match="another query"):
            ice.take(wrong)


# ── clients ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_client_chooses_once_and_gives_no_more():
    log = [Entry("park", "vanilla", clicked=True) for _ in range(9)]
    ice = walk()
    asked, query = ice.ask()
    mine = OwnEntries(TOWN, log, max_items=2)
    assert len(mine) == 2
    assert mine.answer(asked, query) == [0, 2, 0, 0, 2, 0]
    assert "vanilla" not in repr(mine)


def test_every_entry_is_chosen_equally_often():
    log = [Entry(name, "vanilla") for name in ("park", "port", "quay", "zoo")]
    random = Random(3)
    chosen = [OwnEntries(TOWN, log, max_items=1, random=random)._chosen[0].context for _ in range(4000)]
    # Five standard errors of a binomial: an error of about 1e-6 for all four.
    assert all(
        abs(chosen.count(name) - 1000) < 5 * (4000 * 0.25 * 0.75) ** 0.5 for name in ("park", "port", "quay", "zoo")
    )


def test_a_client_answers_a_query_once_and_only_what_it_was_told():
    ice = walk()
    asked, query = ice.ask()
    mine = OwnEntries(TOWN, [Entry("park", "vanilla")], max_items=2)
    with pytest.raises(QueryMismatch, match="same numbers"):
        mine.answer(asked, walk(items=["lemon", "vanilla"]).ask()[1])
    other = Categories({"town": None, "park": "town"})
    with pytest.raises(QueryMismatch, match="hierarchy"):
        OwnEntries(other, [], max_items=2).answer(asked, query)
    mine.answer(asked, query)
    with pytest.raises(ReportReplayed):
        mine.answer(asked, query)


def test_a_client_keeps_its_own_budget_over_all_rounds():
    """Also if servers ask more often than they said: each level again, under another name."""
    mine = OwnEntries(TOWN, [Entry("park", "vanilla")], max_items=2, epsilon="1/2")
    mine.answer(*walk(epsilon="5/8").ask())
    assert mine.answered == Fraction(1, 4)
    mine.answer(*walk(epsilon="5/8", name="again").ask())
    with pytest.raises(BudgetExceeded, match=r"up to 0\.5"):
        mine.answer(*walk(epsilon="5/8", name="once more").ask())
    gaussian = OwnEntries(TOWN, [], max_items=2)
    for name in "ab":
        gaussian.answer(*walk(name=name, epsilon=None, rho="1/10", depths=(0, 1), weights=(1, 1)).ask())
    # Rhos add up: twice 1/20 promise as much as 1/10 once, which is less than twice the epsilon of 1/20.
    assert gaussian.answered == walk(epsilon=None, rho="1/10").strength


def test_a_context_that_is_none_is_refused_before_anything_is_answered():
    with pytest.raises(UnknownKey):
        OwnEntries(TOWN, [Entry("moon", "vanilla")], max_items=1)


def test_a_round_that_asks_for_a_place_twice_gets_no_more_than_the_bound():
    """A server that lists a node and what lies below it does not get an entry twice."""
    odd = Round("ice", 0, 1, TOWN.digest, 2, ("town", "north"), (("vanilla",), ("vanilla",)), ("north", "park"))
    numbers = odd.vector(TOWN, [Entry("park", "vanilla"), Entry("park", "vanilla"), Entry("park", "vanilla")])
    assert numbers == [2, 0, 0, 0, 2, 0]
    assert sum(numbers) <= odd.weight


# ── rounds over the wire ─────────────────────────────────────────────────────────────────────────────────────────────


def test_every_number_has_a_name():
    asked, _ = walk().ask()
    assert asked.labels[:2] == ('["town", "vanilla", "not clicked"]', '["town", "vanilla", "clicked"]')
    assert asked.labels[-1] == '["south"]'
    assert len(set(asked.labels)) == asked.length
    assert len(walk(picks=True).ask()[0].labels) == 2 + 2


def test_rounds_over_the_wire():
    asked, _ = walk().ask()
    facts = json.loads(json.dumps(asked.to_dict()))
    assert Round.from_dict(facts) == asked
    names = {asked.query_name}
    for change in ({"walk": "x"}, {"level": 1}, {"levels": 4}, {"tree": "x"}, {"max_items": 3}, {"picks": True},
                   {"nodes": ["north"]}, {"items": [["vanilla", "pear"]]}, {"below": ["south", "north"]}):  # fmt: skip
        names.add(Round.from_dict(facts | change).query_name)
    assert len(names) == 10


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: None,
        lambda facts: facts | {"version": 2},
        lambda facts: {k: v for k, v in facts.items() if k != "below"},
        lambda facts: facts | {"more": 1},
        lambda facts: facts | {"items": []},
        lambda facts: facts | {"items": [["vanilla", "vanilla"]]},
        lambda facts: facts | {"below": ["north", "north"]},
        lambda facts: facts | {"nodes": 7},
        lambda facts: facts | {"picks": 1, "level": True},
    ],
)
def test_what_is_no_round_is_refused(spoil: Callable[[Any], Any]):
    with pytest.raises(InvalidInput):
        Round.from_dict(spoil(walk().ask()[0].to_dict()))


# ── the real thing ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_walk_with_real_reports_through_both_servers():
    tree = Combined({"place": TOWN, "hour": Categories({"day": None, "noon": "day", "night": "day"})}, ("place",))
    ice = TopDown(
        tree, name="ice", items=["vanilla"], max_items=2, clients=40, minimum=20, min_support=30, epsilon=19,
        depths=(0, 1), verify_key=KEY,
    )  # fmt: skip
    log = [
        Entry({"place": "park", "hour": "noon"}, "vanilla", clicked=True),
        Entry({"place": "zoo", "hour": "night"}, "x"),
    ]
    clients = [OwnEntries(tree, [log[0], log[0 if at < 10 else 1]], max_items=2) for at in range(30)]
    while (asked := ice.ask()) is not None:
        query = Query.from_dict(json.loads(json.dumps(asked[1].to_dict())))
        seals = SealKey.make(), SealKey.make()
        leader, helper = Leader(Prio3Scheme(query, KEY), seals[0]), Helper(Prio3Scheme(query, KEY), seals[1])
        for mine in clients:
            report = Client(Prio3Scheme(query), [seal.public for seal in seals])
            leader.receive(report.report(mine.answer(Round.from_dict(asked[0].to_dict()), query)))
        while (request := leader.ask()) is not None:
            helper.settle(leader.conclude(helper.check(request)))
        ice.take(leader.publish(helper.open(leader.close())))
    found = ice.found
    assert found.answered == (30, 30)
    north = found.counts['["north","day"]']
    # At this epsilon the scale of each noise is below 1: both together stay within 20, but for a chance below 1e-9.
    assert abs(north.value - 40) < 20
    assert abs(found.clicked['["north","day"]', "vanilla"].value - 40) < 20


def test_a_query_that_is_no_rounds():
    asked, _ = walk().ask()
    with pytest.raises(QueryMismatch):
        asked.expect(Query.plan("yes", Count(), clients=9, minimum=1, epsilon=1))


def test_counts_that_add_up():
    ice = walk()
    assert ice.added_up() == {}
    counts = iter([[0, 0, 0, 0, 60, 8], [0, 0, 0, 0, 30, 22], [0] * 8])
    for reports in (50, 25, 50):
        _, query = ice.ask()
        ice.take(Opened(query.name, next(counts), reports, 1000, 2.0, ""))
    made = ice.added_up()
    # North: 60 (variance 2), and twice 52 (of half the clients: variance 16); its parts get what is missing.
    north = (60 / 2 + 104 / 16) / (1 / 2 + 1 / 16)
    assert made["north"].value == pytest.approx(north)
    assert made["park"].value == pytest.approx(60 + (north - 104) / 2)
    assert made["town"].value == pytest.approx(north + 8)
    assert made["north"].standard_error < 2.0**0.5
