"""What the page Personal shows: a made-up town, a cut in it, the results that are sent, and what the server knows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hubbub.lab.playground.asked import Asked, understood
from hubbub.personal import Catalogue, Categories, Client, Cut, Node, Observer, RateTable, Selector, Sensitive

SIDE, SHOPS = 8, 40
_KINDS = ("café", "bakery", "bookshop", "pharmacy", "cinema", "noodle bar", "florist", "grocer")
_NAMES = ("Anchor", "Birch", "Comet", "Delta", "Elm")
_NEAR = 1.3
"""How far people go, in cells."""

Cell = Annotated[str, Field(pattern=r"^[0-7],[0-7]$")]


class PersonalAsked(Asked):
    """Where somebody is, what is sensitive there, how far it is hidden, and how many results are sent."""

    here: Cell = "2,5"
    sensitive: Annotated[list[Cell], Field(max_length=SIDE * SIDE)] = Field(default_factory=lambda: ["2,5"])
    leaves: Annotated[int, Field(ge=1, le=SIDE * SIDE)] = 16
    k: Annotated[int, Field(ge=1, le=10)] = 5
    floor: Annotated[int, Field(ge=0, le=90)] = 0
    """Of 100 people, how many must click a result for it to be worth showing."""


class Town:
    """Shops with places; near ones are clicked. Made up, the same for everybody."""

    def __init__(self) -> None:
        rng = np.random.default_rng(4)
        self.tree = Categories.of_grid(SIDE, SIDE)
        self.shops = [f"{name} {kind}" for kind in _KINDS for name in _NAMES]
        self.at = rng.random((SHOPS, 2)) * SIDE
        cells = np.array([[int(part) for part in leaf.name.split(",")] for leaf in self.tree.leaves()]) + 0.5
        away = np.sqrt(((self.at[:, None] - cells[None]) ** 2).sum(axis=2))
        self.rates = rng.uniform(0.2, 0.9, SHOPS)[:, None] * np.exp(-((away / _NEAR) ** 2))
        self.table = RateTable(self.tree, self.shops, self.rates)
        self.observer = Observer(self.tree)


@cache
def town() -> Town:
    return Town()


def personal(asked: Mapping[str, Any]) -> dict[str, Any]:
    """All that the page draws; computed with the very client, cut and catalogue that a program uses."""
    wanted = understood(PersonalAsked, asked)
    place = town()
    names = list(dict.fromkeys(wanted.sensitive))
    cut = Cut.plan(place.tree, [Sensitive(name) for name in names], leaves=wanted.leaves)
    client = Client(cut.to_bytes())
    request = client.request(wanted.here, wanted.k)
    floor = wanted.floor / 100
    catalogue = Catalogue(place.table, floor=floor, most=10)
    choice, _ = catalogue.choose(client.generalise(wanted.here), wanted.k)
    shown = client.pick(wanted.here, catalogue.answer(request), wanted.k)
    told = place.tree.named(client.generalise(wanted.here))
    here = place.tree.leaf(wanted.here)
    rows = []
    for result, gain in zip(choice.results, choice.gains, strict=True):
        shop = place.shops.index(result)
        rows.append(
            {
                "name": result,
                "x": float(place.at[shop, 0]),
                "y": float(place.at[shop, 1]),
                "adds": gain,
                "here": float(place.rates[shop, here]),
                "shown": result == shown,
            }
        )
    return {
        "side": SIDE,
        "here": wanted.here,
        "sensitive": names,
        "nodes": [_box(node) for node in _sent(cut)],
        "told": _box(told),
        "request": request.decode(),
        "results": rows,
        "shown": shown,
        "expected": choice.value,
        "bound": choice.bound,
        "precision": _precision(place, cut, wanted.k, floor, here, shown),
        "beliefs": [_belief(place, cut, name) for name in names],
        "promise": cut.words,
        "not_covered": list(cut.not_covered),
    }


def _sent(cut: Cut) -> list[Node]:
    found = {(node := cut.node_of(leaf)).name: node for leaf in range(cut.hierarchy.contexts)}
    return list(found.values())


def _box(node: Node) -> dict[str, Any]:
    corner, _, size = node.name.partition(" x")
    x, y = (int(part) for part in corner.split(","))
    return {"name": node.name, "x": x, "y": y, "size": int(size or 1), "contexts": node.leaves}


def _precision(place: Town, cut: Cut, k: int, floor: float, here: int, shown: str | None) -> dict[str, float | None]:
    """Of what is shown, the part that is clicked: in this context; and with coverage, the part of contexts for which
    anything is shown, below what is told now and over all, by who chooses."""
    found: dict[str, float | None] = {"here": float(place.rates[place.shops.index(shown), here]) if shown else 0.0}
    found["best_here"] = float(place.rates[:, here].max())
    for where, nodes in (("told", [cut.node_of(here)]), ("town", _sent(cut))):
        clicked = {"one": 0.0, "sent": 0.0, "all": 0.0}
        served = dict.fromkeys(clicked, 0)
        for node in nodes:
            for who, rates in _shown(place, node, k, floor).items():
                clicked[who] += float(rates.sum())
                served[who] += len(rates)
        for who, number in served.items():
            found[f"{who}_{where}"] = clicked[who] / number if number else None
            found[f"{who}_{where}_coverage"] = number / sum(node.leaves for node in nodes)
    return found


def _shown(place: Town, node: Node, k: int, floor: float) -> dict[str, NDArray[np.float64]]:
    """By who chooses, how often the result is clicked in each context that is shown one. The server alone shows its one
    result to all, wherever they are."""
    rates = place.rates[:, node.first : node.first + node.leaves]
    selector = Selector(place.shops, rates, floor=floor)
    alone, sent = selector.choose(1).results, selector.choose(k)
    places = np.array([place.shops.index(name) for name in sent.results], dtype=np.intp)
    served = np.flatnonzero(sent.best >= 0)
    best = rates.max(axis=0)
    return {
        "one": rates[place.shops.index(alone[0])] if alone else np.zeros(0),
        "sent": rates[places[sent.best[served]], served] if served.size else np.zeros(0),
        "all": best[(best >= floor) & (best > 0)],
    }


def _belief(place: Town, cut: Cut, name: str) -> dict[str, Any]:
    """In one sensitive place, before and at most afterwards: counted, not taken from the theorem."""
    thing = Sensitive(name)
    before = place.observer.belief(thing)
    after = before + place.observer.largest_rise(thing, cut)
    return {"name": name, "before": float(before), "after": float(after), "told": cut.generalise(name).name}
