"""People to look at on the Contexts page: all of them made up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from hubbub.errors import InvalidInput
from hubbub.lab.context_people import Days, lived

SEED = 37
DAYS = 90

Plan = tuple[tuple[int, str], ...]
"""When a day changes to what: half-hours since midnight."""


@dataclass(frozen=True, slots=True)
class SamplePerson:
    """Kinds of days with how often each comes, and what is sensitive unless somebody chooses."""

    name: str
    label: str
    kinds: tuple[tuple[float, Plan], ...]
    sensitive: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "label": self.label, "sensitive": list(self.sensitive)}

    def days(self) -> Days:
        """The same ones whenever they are asked for."""
        rng = np.random.default_rng([SEED, *self.name.encode()])
        weights = np.array([weight for weight, _ in self.kinds])
        chosen = rng.choice(len(self.kinds), size=DAYS, p=weights / weights.sum())
        return [lived(rng, self.kinds[kind][1]) for kind in chosen]


_OFFICE: Plan = ((0, "home"), (16, "on the way"), (17, "office"), (24, "canteen"), (25, "office"), (34, "on the way"))
_LECTURE: Plan = ((0, "home"), (18, "café"), (19, "lecture"), (25, "canteen"), (27, "library"))

PEOPLE = (
    SamplePerson(
        "office",
        "An office worker",
        (
            (5, (*_OFFICE, (35, "home"))),
            (2, (*_OFFICE, (35, "gym"), (38, "home"))),
            (2, (*_OFFICE, (35, "shops"), (37, "home"))),
            (1, ((0, "home"), (17, "clinic"), (20, "office"), (24, "canteen"), (25, "office"), (34, "home"))),
            (1, (*_OFFICE[:5], (32, "clinic"), (35, "home"))),
            (3, ((0, "home"), (21, "shops"), (24, "home"), (30, "gym"), (33, "home"))),
        ),
        ("clinic",),
    ),
    SamplePerson(
        "nurse",
        "A nurse on shifts",
        (
            (4, ((0, "home"), (11, "bus"), (12, "ward"), (20, "break"), (21, "ward"), (28, "bus"), (29, "home"))),
            (3, ((0, "home"), (25, "bus"), (26, "ward"), (34, "break"), (35, "ward"), (44, "bus"), (45, "home"))),
            (2, ((0, "ward"), (6, "break"), (7, "ward"), (13, "bus"), (14, "home"), (42, "bus"), (43, "ward"))),
            (1, ((0, "home"), (11, "bus"), (12, "ward"), (20, "break"), (21, "ward"), (28, "therapist"), (31, "home"))),
            (2, ((0, "home"), (20, "shops"), (23, "home"), (32, "friends"), (42, "home"))),
            (1, ((0, "home"), (20, "therapist"), (23, "shops"), (25, "home"))),
        ),
        ("therapist",),
    ),
    SamplePerson(
        "student",
        "A student",
        (
            (4, (*_LECTURE, (36, "home"))),
            (2, (*_LECTURE, (36, "home"), (42, "bar"))),
            (1, (*_LECTURE[:4], (27, "counselling"), (29, "library"), (36, "home"))),
            (2, ((0, "home"), (22, "library"), (30, "sports"), (33, "home"), (41, "bar"), (47, "home"))),
            (2, ((0, "home"), (24, "café"), (27, "home"))),
        ),
        ("counselling", "bar"),
    ),
    SamplePerson(
        "retired",
        "A pensioner",
        (
            (4, ((0, "home"), (19, "park"), (21, "shops"), (23, "home"))),
            (3, ((0, "home"), (20, "garden"), (25, "home"), (30, "friends"), (35, "home"))),
            (2, ((0, "home"), (28, "casino"), (36, "home"))),
            (1, ((0, "home"), (18, "church"), (22, "friends"), (30, "home"))),
        ),
        ("casino",),
    ),
)


@cache
def _days(name: str) -> Days:
    found = next((person for person in PEOPLE if person.name == name), None)
    if found is None:
        raise InvalidInput("There is no such person here.", f"Known: {', '.join(person.name for person in PEOPLE)}.")
    return found.days()


def days_of(name: str) -> Days:
    """The days of a sample person.

    >>> len(days_of("nurse")), days_of("nurse")[0][0] in ("home", "ward")
    (90, True)
    """
    return list(_days(name))
