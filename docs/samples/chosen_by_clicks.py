"""Clicks counted so that nobody reads whose they were, and results chosen by these counts."""

import os

from hubbub import gather
from hubbub.personal import Catalogue, Categories, ClickRates, Client, Cut, LearnedTable

town = Categories(
    {"town": None, "north": "town", "south": "town", "park": "north", "port": "north", "quay": "south", "zoo": "south"}
)

# The servers: what is counted, down to which level, and for how much of everybody's privacy.
shared = os.urandom(32)
walk = gather.TopDown(
    town, name="clicks", items=["ice cream", "umbrella"], depths=(0, 1), epsilon=2, verify_key=shared,
    max_items=2, clients=500, minimum=200, min_support=80,
)  # fmt: skip
print(walk.promise)


def seen(number: int) -> list[gather.Entry]:
    """What a device showed where, and whether that was clicked. It never leaves the device as it is."""
    place, likes = ("park", "ice cream") if number % 2 else ("zoo", "umbrella")
    return [gather.Entry(place, item, clicked=item == likes) for item in ("ice cream", "umbrella")]


devices = [gather.OwnEntries(town, seen(number), max_items=2, epsilon=2) for number in range(400)]

# Two rounds. Each device splits its answer between two servers, which add up what neither can read.
while (asked := walk.ask()) is not None:
    level, query = asked
    seals = gather.SealKey.make(), gather.SealKey.make()
    leader = gather.Leader(gather.Prio3Scheme(query, shared), seals[0])
    helper = gather.Helper(gather.Prio3Scheme(query, shared), seals[1])
    reporter = gather.Client(gather.Prio3Scheme(query), [seal.public for seal in seals])
    for mine in devices:
        leader.receive(reporter.report(mine.answer(level, query)))
    while (request := leader.ask()) is not None:
        helper.settle(leader.conclude(helper.check(request)))
    walk.take(leader.publish(helper.open(leader.close())))

# Rates with intervals, and results chosen by them.
rates = ClickRates.of_released(town, walk.found.shown, walk.found.clicked, min_support=20)
catalogue = Catalogue(LearnedTable(rates))
for place in ("park", "zoo"):
    rate = rates.rate("ice cream", place)
    print(f"ice cream, {place}: of {rate.node.name}, {rate.value.value:.2f}, {rate.value.interval}")
    client = Client(Cut.plan(town, [place], leaves=4).to_bytes())
    request = client.request(place, k=2)
    print(f"{request.decode()}, {place}: {client.pick(place, catalogue.answer(request))}")
