"""How often ice cream is clicked, by place: counted by two servers that see no answer, as deep as there is enough."""

import os
import random

from hubbub.gather import Client, Entry, Helper, Leader, OwnEntries, Prio3Scheme, SealKey, TopDown
from hubbub.personal import Categories, ClickRates

town = Categories({"town": None, "north": "town", "south": "town", "park": "north", "port": "north", "zoo": "south"})
shared = os.urandom(32)  # both servers have it, no client ever does
budget = {"max_items": 2, "clients": 200, "minimum": 100, "epsilon": 8, "verify_key": shared}
walk = TopDown(town, name="ice", items=["vanilla", "lemon"], min_support=45, depths=(0, 1, 2), **budget)
print(walk.promise)

# Each client has a log of its own, gives two entries of it, chosen by chance and once, and keeps its own budget.
taste = {"park": 0.6, "port": 0.3, "zoo": 0.1}
places = ["park"] * 100 + ["port"] * 48 + ["zoo"] * 2
clients = [
    OwnEntries(town, [Entry(place, "vanilla", clicked=random.random() < taste[place])] * 3, max_items=2, epsilon=8)
    for place in places
]

while (asked := walk.ask()) is not None:
    round_, query = asked  # public: both servers and every client know it
    seals = SealKey.make(), SealKey.make()
    leader, helper = Leader(Prio3Scheme(query, shared), seals[0]), Helper(Prio3Scheme(query, shared), seals[1])
    client = Client(Prio3Scheme(query), [seal.public for seal in seals])
    for mine in clients:
        leader.receive(client.report(mine.answer(round_, query)))
    while (request := leader.ask()) is not None:
        helper.settle(leader.conclude(helper.check(request)))
    walk.take(leader.publish(helper.open(leader.close())))
    print(f"round {round_.level + 1}: {', '.join(round_.nodes)}")

found = walk.found
print({name: str(count) for name, count in found.counts.items()}, "| too few:", ", ".join(found.pruned) or "nobody")
rates = ClickRates.of_released(town, found.shown, found.clicked, min_support=30)
for place in taste:
    rate = rates.rate("vanilla", place)
    print(f"vanilla at the {place}: {rate.value} (of {rate.node.name}; {rate.value.interval})")
