"""Days of contexts: people made up by routines, and groups of alike respondents of the American Time Use Survey."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from hubbub.lab.data import find

TICKS = 48
_RESPONDENTS, _GROUPS = 12_000, 60
_SPENT_RESPONDENTS, _SPENT_PEOPLE = 12_000, 100
"""Those before were looked at while the planners were made; what is reported is about others."""
Days = list[tuple[str, ...]]


@dataclass(frozen=True)
class Person:
    """Days in the order in which they were lived; the first half teaches, the second tests."""

    name: str
    days: Days

    @property
    def taught(self) -> Days:
        return self.days[: len(self.days) // 2]

    @property
    def tested(self) -> Days:
        return self.days[len(self.days) // 2 :]

    @property
    def contexts(self) -> tuple[str, ...]:
        return tuple(sorted({name for day in self.days for name in day}))


def made_up(seed: int, people: int, days: int = 120) -> list[Person]:
    """People with a home, mostly a workplace, and a few kinds of days, whose times shift by a tick now and then."""
    return [_made_up(np.random.default_rng([seed, _SPENT_PEOPLE + number]), number, days) for number in range(people)]


def _made_up(rng: np.random.Generator, number: int, days: int) -> Person:
    others = [f"place {k}" for k in range(int(rng.integers(5, 18)))]
    kinds = [_kind(rng, others) for _ in range(int(rng.integers(3, 7)))]
    weights = rng.dirichlet(np.full(len(kinds), 0.8))
    return Person(f"made up {number + 1}", [lived(rng, kinds[rng.choice(len(kinds), p=weights)]) for _ in range(days)])


def _kind(rng: np.random.Generator, others: list[str]) -> list[tuple[int, str]]:
    """When a day of this kind changes to which place."""
    plan = [(0, "home")]
    if rng.random() < 0.8:
        leaves = int(rng.integers(13, 20))
        way = str(rng.choice(others))
        plan += [(leaves, way), (leaves + 1, "work")]
        if rng.random() < 0.6:
            noon = int(rng.integers(23, 27))
            plan += [(noon, str(rng.choice(others))), (noon + int(rng.integers(1, 3)), "work")]
        back = int(rng.integers(32, 38))
        plan += [(back, way), (back + 1, str(rng.choice(others)) if rng.random() < 0.4 else "home")]
        plan.append((back + int(rng.integers(2, 6)), "home"))
    else:
        first = int(rng.integers(16, 24))
        for _ in range(int(rng.integers(1, 4))):
            stay = int(rng.integers(1, 5))
            plan += [(first, str(rng.choice(others))), (first + stay, "home")]
            first += stay + int(rng.integers(1, 6))
    return plan


def lived(rng: np.random.Generator, plan: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """A day by a plan of when it changes to what; each change comes a tick early or late now and then."""
    day: list[str] = []
    for place, (start, context) in enumerate(plan):
        late = int(rng.choice([-1, 0, 0, 0, 0, 1])) if place else 0
        begins = min(TICKS, max(len(day), start + late))
        day += [day[-1]] * (begins - len(day)) if day else []
        day.append(context)
    return tuple((day + [day[-1]] * TICKS)[:TICKS])


def surveyed(seed: int, people: int, days: int = 120) -> list[Person]:
    """Respondents whose days are alike, taken together for one person. Each answered for one day only."""
    path = find("atus_day_sequences/atus_sample_25k.csv.gz")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        sequences = [row["string"] for row in csv.DictReader(file)][_SPENT_RESPONDENTS:][:_RESPONDENTS]
    letters = np.array([[ord(letter) - ord("A") for letter in day] for day in sequences])
    # What was done how long in each four hours: enough to tell kinds of days apart.
    features = np.eye(15)[letters].reshape(len(letters), 6, -1, 15).sum(axis=2).reshape(len(letters), -1)
    rng = np.random.default_rng(seed)
    _, groups = kmeans2(features, _GROUPS, minit="++", seed=rng)
    sizes = np.bincount(groups, minlength=_GROUPS)
    chosen = rng.permutation(np.flatnonzero(sizes >= days))[:people]
    return [_surveyed(rng, sequences, np.flatnonzero(groups == group), group, days) for group in chosen.tolist()]


def _surveyed(
    rng: np.random.Generator, sequences: list[str], members: NDArray[np.intp], group: int, days: int
) -> Person:
    picked = rng.permutation(members)[:days]
    return Person(f"survey group {group}", [tuple(sequences[place]) for place in picked])
