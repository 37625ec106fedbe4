"""A made-up log of local searches: people, places, tastes, queries, and the business that each picked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.personal import Categories, Combined, Decimals

GROUPS, CATEGORIES, QUERIES = 6, 6, 250
"""General categories, categories in each, and queries that a category has; most queries are rare."""
SOUTH, WEST = 61, -150
ORDER = (
    "location", "location", "query", "location", "query", "location", "location", "interest", "location", "interest",
    "query",
)  # fmt: skip
"""Goetz 2012, 4.4.1, from the top down: (4,2,2), (3,2,2), (3,2,1), (2,2,1), (1,2,1), (1,1,1), (0,1,1), (0,0,1)."""
LEVELS = {"(4,2,2)": 3, "(3,2,1)": 5, "(2,2,1)": 6, "(1,2,1)": 7, "(1,1,1)": 8, "(0,0,0)": 11}
"""The paper's names of levels (location, interest, query), and how deep they lie here."""


@dataclass(frozen=True)
class Search:
    """One line of the log."""

    context: dict[str, Any]
    picked: str
    person: int = 0


def category(number: int) -> str:
    return f"category {number}"


def hierarchy(order: tuple[str, ...] = ORDER) -> Combined:
    """Location by decimals, and interests and queries in three levels, combined in the paper's order."""
    numbers = range(GROUPS * CATEGORIES)
    groups = {category(i): f"group {i // CATEGORIES}" for i in numbers}
    food: dict[str, str | None] = {"food and dining": None}
    food |= dict.fromkeys(dict.fromkeys(groups.values()), "food and dining")
    queries: dict[str, str | None] = {f"{category(i)}: query {q}": category(i) for i in numbers for q in range(QUERIES)}
    return Combined(
        {
            "location": Decimals(SOUTH, WEST, SOUTH + 1, WEST + 1, 5),
            "interest": Categories({**food, **groups}),
            "query": Categories({**food, **groups, **queries}),
        },
        order,
    )


@dataclass(frozen=True)
class Business:
    """What a directory says of one: where it is, in parts of the whole box, and what it is."""

    place: tuple[float, float]
    category: int


def directory(seed: int, businesses: int = 900) -> dict[str, Business]:
    """All businesses of `searches` with the same seed: public knowledge."""
    _, at, kinds = _towns(np.random.default_rng(seed), businesses)
    return {f"business {i}": Business((float(at[i, 0]), float(at[i, 1])), int(kinds[i])) for i in range(businesses)}


def _towns(
    rng: np.random.Generator, businesses: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Centres of towns, where businesses are, and their categories."""
    centres = rng.random((8, 2))
    at = (centres[rng.integers(len(centres), size=businesses)] + rng.normal(0, 0.02, (businesses, 2))) % 1
    return centres, at, rng.integers(GROUPS * CATEGORIES, size=businesses)


def searches(seed: int, people: int, each: int, businesses: int = 900) -> list[Search]:
    """`people` who search `each` times on average, in the order of time.

    Towns have centres; a business lies near one, has a category and a popularity of its own. A person has two places
    (home, work), favours a few categories, and picks among businesses of what was searched for: near ones, popular
    ones, and again those that were picked before.
    """
    rng = np.random.default_rng(seed)
    centres, at, kinds = _towns(rng, businesses)
    fame = rng.lognormal(0, 1, businesses)
    by_kind = [np.flatnonzero(kinds == kind) for kind in range(GROUPS * CATEGORIES)]
    ranks = 1 / np.arange(1, QUERIES + 1) ** 1.1
    ranks /= ranks.sum()
    homes = np.round(
        (centres[rng.integers(len(centres), size=(people, 2))] + rng.normal(0, 0.02, (people, 2, 2))) % 1, 5
    )
    homes = np.minimum(homes, 0.99999)
    tastes = rng.dirichlet(np.full(GROUPS * CATEGORIES, 0.08), people)
    visited: dict[tuple[int, int], int] = {}
    log = []
    for person in rng.integers(people, size=people * each).tolist():
        place = homes[person, int(rng.random() < 0.35)]
        kind = int(rng.choice(GROUPS * CATEGORIES, p=tastes[person]))
        if not len(by_kind[kind]):
            continue
        choices = by_kind[kind]
        away = np.sqrt(((at[choices] - place) ** 2).sum(axis=1))
        pull = fame[choices] * np.exp(-away / 0.02) + 1e-9
        before = visited.get((person, kind))
        picked = before if before is not None and rng.random() < 0.4 else int(rng.choice(choices, p=pull / pull.sum()))
        visited[person, kind] = picked
        context = {
            "location": (SOUTH + float(place[0]), WEST + float(place[1])),
            "interest": category(int(tastes[person].argmax())),
            "query": f"{category(kind)}: query {int(rng.choice(QUERIES, p=ranks))}",
        }
        log.append(Search(context, f"business {picked}", person))
    return log
