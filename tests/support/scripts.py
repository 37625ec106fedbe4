"""What happens when, to a source and whoever reads it: the same for neighbours but for what one unit wrote."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from hubbub.privacy.unit import Event, Session, Unit

START = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = ["/a", "/b"]
TICK, LATENESS, AHEAD = 10, 15, 20
SPAN = 120
LONG = timedelta(seconds=200)
"""A timeout that no pause in a script is as long as: all that one person does is one session."""


@dataclass(frozen=True)
class Line:
    """One event as somebody writes it; `noise` is a line that is none, of the same person."""

    time: float
    person: str
    path: str
    noise: bool = False
    part: str = ""  # which of the units that come and go it belongs to, if that is not the whole person

    @property
    def unit(self) -> str:
        return self.part or self.person

    @property
    def moment(self) -> datetime:
        return START + timedelta(seconds=self.time)


@dataclass(frozen=True)
class Step:
    """Something that happens at `at` seconds: write, retry, rotate, look, read, die."""

    at: float
    what: str
    lines: tuple[Line, ...] = ()
    how: str = ""


ALWAYS = "always"
"""The part of lines that are in every neighbour."""


@dataclass(frozen=True)
class Script:
    """What happens. `small`: sources hand over one or two records at a time."""

    steps: list[Step]
    units: list[str]
    small: bool = False

    def only(self, units: Collection[str]) -> Script:
        """The same with these units alone."""
        return self._changed(lambda lines: [line for line in lines if line.unit in units or line.unit == ALWAYS])

    def moved(self, unit: str, by: float) -> Script:
        """The same, but this unit did everything so many seconds later; it still arrives when it did."""
        later = lambda line: replace(line, time=line.time + by) if line.unit == unit else line  # noqa: E731
        return self._changed(lambda lines: [later(line) for line in lines])

    def reordered(self) -> Script:
        """The same, but within each write others come first; each person's own lines keep their order."""
        return self._changed(lambda lines: sorted(lines, key=lambda line: line.person, reverse=True))

    def _changed(self, change: Callable[[Sequence[Line]], list[Line]]) -> Script:
        steps = []
        for step in self.steps:
            lines = tuple(change(step.lines))
            if step.lines and not lines:
                continue
            steps.append(Step(step.at, step.what, lines, step.how))
        return replace(self, steps=steps)


def draw(rng: np.random.Generator, rotations: tuple[str, ...], count: int = 4, unit: Unit | None = None) -> Script:
    """A random script: lines late and early, broken lines, repeated posts, rotations, restarts, slow reading."""
    people = [f"p{i}" for i in range(count)]
    steps = []
    for at in rng.uniform(0, SPAN, int(rng.integers(4, 16))):
        lines = []
        for _ in range(int(rng.integers(1, 5))):
            late = rng.uniform(-30, 45) if rng.random() < 0.3 else rng.uniform(0, 2)
            time = max(float(at - late), 0.0)
            lines.append(Line(round(time, 3), str(rng.choice(people)), str(rng.choice(KEYS)), rng.random() < 0.15))
        steps.append(Step(float(at), "write", tuple(lines), f"key-{at}"))
        if rng.random() < 0.2:
            steps.append(Step(float(at + rng.uniform(0, 30)), "retry", tuple(lines), f"key-{at}"))
    for at in rng.uniform(0, SPAN + 40, int(rng.integers(8, 20))):
        steps.append(Step(float(at), "look"))
    for at in rng.uniform(0, SPAN + 40, int(rng.integers(3, 10))):
        steps.append(Step(float(at), "read"))
    for at in rng.uniform(5, SPAN, int(rng.integers(1, 4))):
        steps.append(Step(float(at), "die", how=str(rng.choice(["lose", "debited", "keep", "keep", "keep"]))))
    if rotations:
        for at in rng.uniform(5, SPAN, int(rng.integers(0, 4))):
            steps.append(Step(float(at), "rotate", how=str(rng.choice(rotations))))
    steps.sort(key=lambda step: step.at)
    steps.append(Step(SPAN + 260.0, "look"))
    small = bool(rng.random() < 0.5)
    drawn = _by_event(steps, count) if isinstance(unit, Event) else _by_session(rng, steps, people, unit)
    return replace(drawn, small=small)


def _by_event(steps: list[Step], count: int) -> Script:
    """Single events come and go: some of the lines; the rest stays. Two lines that are alike are two events, but a post
    that is sent again holds the same ones."""
    numbers, parts = iter(range(10**6)), dict[tuple[int, str], str]()

    def named(line: Line, place: int, key: str) -> Line:
        if (place, key) not in parts:
            number = next(numbers)
            parts[place, key] = f"e{number}" if number < count else ALWAYS
        return replace(line, part=parts[place, key])

    made = [
        replace(step, lines=tuple(named(line, place, step.how) for place, line in enumerate(step.lines)))
        for step in steps
    ]
    return Script(made, [f"e{i}" for i in range(min(count, len(parts)))])


def _by_session(rng: np.random.Generator, steps: list[Step], people: list[str], unit: Unit | None) -> Script:
    """Where the timeout is short, people come twice, and each visit comes and goes by itself."""
    if not isinstance(unit, Session) or unit.timeout is None or unit.timeout >= LONG:
        return Script(steps, people)
    people = people[: max(len(people) // 2, 1)]
    span = unit.timeout.total_seconds() * 0.9  # a visit is shorter than the timeout, so nothing cuts it in two
    spread = {person: float(rng.uniform(0, 10)) for person in people}

    def visiting(line: Line) -> Line:
        person = people[int(line.person[1:]) % len(people)]
        visit = int(line.time >= SPAN / 2)
        first = spread[person] + visit * (span + unit.timeout.total_seconds() + 5)
        return replace(line, person=person, time=round(first + line.time % span, 3), part=f"{person}/{visit}")

    made = [replace(step, lines=tuple(map(visiting, step.lines))) for step in steps]
    return Script(made, [f"{person}/{visit}" for person in people for visit in (0, 1)])
