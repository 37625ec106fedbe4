"""Rates from what other rooms really release: a list of items with noisy counts, and a walk down the hierarchy."""

import json

import pytest

from hubbub import publish_items
from hubbub.gather import Client as Reporter
from hubbub.gather import Entry, Helper, Leader, OwnEntries, Prio3Scheme, SealKey, TopDown
from hubbub.personal import Catalogue, Categories, ClickRates, Client, Cut, LearnedTable

TOWN = Categories(
    {"town": None, "north": "town", "south": "town", "park": "north", "port": "north", "quay": "south", "zoo": "south"}
)
KEY = bytes(32)


def log_of(people):
    """One row for each user, node above the place, result, and whether it was shown or clicked."""
    users, items = [], []
    for number in range(people):
        place, likes = ("park", "ice cream") if number % 2 else ("zoo", "umbrella")
        for node in TOWN.path(place):
            for result in ("ice cream", "umbrella"):
                # Of ten, nine click what they like, and one what the others like.
                clicked = (result == likes) != (number % 20 < 2)
                for what in ("shown", "clicked")[: 1 + clicked]:
                    users.append(f"user {number}")
                    items.append(json.dumps([node.name, result, what]))
    users += ["ann"] * 2
    items += [json.dumps(["quay", "umbrella", what]) for what in ("shown", "clicked")]
    return {"user": users, "item": items}


def counts_of(published, what):
    """By node and result: what `of_released` takes."""
    read = [(json.loads(item), published[item]) for item in published]
    return {(node, result): value for (node, result, kind), value in read if kind == what}


def test_from_a_list_of_items_with_noisy_counts():
    """Gaussian noise of a standard error of 7: off by 100 of 2,000 with a chance below 1e-40 in each count."""
    published = publish_items(log_of(4000), item="item", epsilon=6, delta="1e-6", max_items=12)
    rates = ClickRates.of_released(TOWN, counts_of(published, "shown"), counts_of(published, "clicked"))
    assert rates.tallies["north"]["ice cream"].shown_error > 0, "these are noisy"
    park, zoo = (rates.rate("ice cream", place) for place in ("park", "zoo"))
    assert (park.node.name, zoo.node.name) == ("park", "zoo")
    assert park.value.value == pytest.approx(0.9, abs=0.1)
    assert zoo.value.value == pytest.approx(0.1, abs=0.1)
    clear = ClickRates.fit(TOWN, [("park", "ice cream", 2000, 1800)]).rate("ice cream", "park").value
    assert park.value.upper - park.value.lower > clear.upper - clear.lower, "noise widens intervals"
    assert rates.rate("umbrella", "quay").node.name == "south", "one person's row is not in the list"
    assert_served(rates)


def test_from_a_walk_through_two_servers():
    """Each count is off by more than 150 with a chance below 1e-10: four noises of scale 3 or less."""
    walk = TopDown(
        TOWN, name="clicks", items=["ice cream", "umbrella"], depths=(0, 1, 2), epsilon=6, verify_key=KEY,
        max_items=2, clients=400, minimum=100, min_support=40,
    )  # fmt: skip
    devices = []
    for number in range(240):
        place, likes = ("park", "ice cream") if number % 2 else ("zoo", "umbrella")
        entries = [Entry(place, item, clicked=item == likes) for item in ("ice cream", "umbrella")]
        devices.append(OwnEntries(TOWN, entries, max_items=2))
    while (asked := walk.ask()) is not None:
        level, query = asked
        seals = SealKey.make(), SealKey.make()
        leader, helper = Leader(Prio3Scheme(query, KEY), seals[0]), Helper(Prio3Scheme(query, KEY), seals[1])
        for mine in devices:
            reporter = Reporter(Prio3Scheme(query), [seal.public for seal in seals])
            leader.receive(reporter.report(mine.answer(level, query)))
        while (request := leader.ask()) is not None:
            helper.settle(leader.conclude(helper.check(request)))
        walk.take(leader.publish(helper.open(leader.close())))
    rates = ClickRates.of_released(TOWN, walk.found.shown, walk.found.clicked)
    assert rates.rate("ice cream", "park").node.name == "park"
    assert rates.rate("ice cream", "port").node.name == "north", "nobody was there, and nothing was asked about it"
    assert rates.rate("ice cream", "park").value.value > 0.7 > 0.3 > rates.rate("ice cream", "zoo").value.value
    assert rates.events.keys() == {TOWN.leaf("park"), TOWN.leaf("zoo")}
    assert_served(rates)


def assert_served(rates):
    """Who says the town alone gets what people click where they are."""
    served = Catalogue(LearnedTable(rates))
    for place, wanted in (("park", "ice cream"), ("zoo", "umbrella"), ("port", "ice cream"), ("quay", "umbrella")):
        client = Client(Cut.plan(TOWN, [place], leaves=4).to_bytes())
        request = client.request(place, 2)
        assert json.loads(request)["node"] == "town"
        assert client.pick(place, served.answer(request)) == wanted
