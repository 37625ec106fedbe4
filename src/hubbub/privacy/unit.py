"""What is protected: what two neighbouring streams differ in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.privacy.composition import Composition, LargestSum, SlidingSum
from hubbub.privacy.span import span

_ENFORCE = "The bound is enforced when events are collected; what exceeds it is dropped before counting."


NAMES = {
    "event": (),
    "session": ("max_ticks", "max_items", "timeout"),
    "trip": ("max_ticks", "max_items", "timeout"),
    "user": ("max_ticks", "max_items", "horizon"),
    "window": ("max_ticks", "max_items"),
}
"""The units by name, and the numbers that each can be given."""


class Unit(ABC):
    """One thing that a neighbouring stream lacks, with the bounds that are enforced on it.

    | symbol | attribute | meaning |
    |---|---|---|
    | l | `max_ticks` | in how many ticks it can change a count |
    | c | `max_items` | how many keys it can change in one tick, each by at most one |
    """

    max_ticks: int
    max_items: int

    @staticmethod
    def parse(
        name: str | Unit,
        *,
        max_ticks: int | None = None,
        max_items: int = 1,
        horizon: int | None = None,
        timeout: timedelta | None = None,
    ) -> Unit:
        """The unit of that name with its numbers, for programs, the command line, settings and the Lab. What it has no
        use for is refused: it would look as if it were enforced. A unit that is one already has its numbers.

        >>> Unit.parse("session", max_ticks=20), Unit.parse("user", horizon=52)
        (Session(max_ticks=20, timeout=None, max_items=1), User(max_ticks=52, ticks=52, max_items=1))
        """
        given = {
            "max_ticks": max_ticks,
            "max_items": None if max_items == 1 else max_items,
            "horizon": horizon,
            "timeout": timeout,
        }
        if isinstance(name, Unit):
            for option, number in given.items():
                if number is not None:
                    raise InvalidParameter(
                        f"The unit {name!r} has its numbers; got `{option}` {number} beside it.",
                        "Give the numbers with the unit's name, e.g. unit='session', max_ticks=20, or a whole unit.",
                    )
            return name
        if name not in NAMES:
            raise InvalidParameter(f"There is no unit {name!r}.", f"Known units: {', '.join(NAMES)}.")
        for option, number in given.items():
            if number is not None and option not in NAMES[name]:
                others = [other for other, options in NAMES.items() if option in options]
                raise InvalidParameter(
                    f"The unit {name!r} has no `{option}`; got {number}.",
                    f"Leave it out, or protect another unit ({', '.join(others)}).",
                )
        if name == "event":
            return Event()
        if name == "user":
            return User(max_ticks, horizon, max_items)
        if max_ticks is None:
            raise InvalidParameter(
                f"The unit {name!r} needs `max_ticks` (--max-ticks): in how many ticks can one {name} count at most?",
                "Give the bound that was enforced when counting, e.g. 20. Without any bound protect a person over the "
                "whole series: the unit `user`.",
            )
        if name == "window":
            return Window(max_ticks, max_items)
        return (Trip if name == "trip" else Session)(max_ticks, timeout, max_items)

    @property
    def sensitivity(self) -> int:
        """L1 norm of the largest change to the whole stream: l c (for `Window`, to any w consecutive ticks)."""
        return self.max_ticks * self.max_items

    @property
    def squared_sensitivity(self) -> int:
        """Squared L2 norm of the largest change to the whole stream: l c, since every change is by one."""
        return self.max_ticks * self.max_items

    @property
    def horizon(self) -> int | None:
        """After how many ticks the promise ends; None if it holds for ever."""
        return None

    @abstractmethod
    def composition(self) -> Composition:
        """How the costs of ticks add up for the worst-placed unit."""

    @property
    @abstractmethod
    def noun(self) -> str:
        """What is protected, in words: "browsing session"."""

    @property
    @abstractmethod
    def bound(self) -> str:
        """The enforced bound, as a sentence."""

    @property
    def pinned_bound(self) -> str:
        """`bound` in the words that stored streams hold. They are compared when a stream is opened again, so they stay:
        with other words every stream that was stored before would be refused."""
        return self.bound.replace(" per tick", " a tick")

    # ── words, from which `Promise` makes its sentences ──────────────────────────────────────────────────────────

    @property
    def lay(self) -> str:
        """The noun for people who have never heard of units."""
        return self.noun

    @property
    def subject(self) -> str:
        """What changes the outputs: "Each browsing session's presence"."""
        return f"Each {self.noun}'s presence"

    @property
    def any_one(self) -> str:
        return f"any one {self.noun}"

    @property
    def several(self) -> str:
        """k of them, in the case that matters most."""
        return f"k {self.noun}s of one person together"

    @property
    def thing(self) -> str:
        """What is protected: "each visit"."""
        return f"each {self.lay}"

    @property
    def one(self) -> str:
        return f"one {self.lay}"

    @property
    def it(self) -> str:
        return f"this {self.lay}"

    @property
    def question(self) -> str:
        """What somebody may want to find out, after "whether"."""
        return f"{self.one} took place"

    @property
    def part(self) -> str:
        """What one thing that somebody does is to this unit."""
        return f"a part of {self.one}"

    @property
    def renewal(self) -> str:
        """Why a budget is enough for a stream without an end, or when the stream ends."""
        return f"Each new {self.lay} starts with the full budget, so the stream can run on."

    @property
    def ten(self) -> str:
        """Ten of them."""
        return f"Ten {self.lay}s of one person"

    @property
    def which(self) -> str:
        """Another question than whether it took place, which takes two steps from neighbour to neighbour."""
        return f"Which of two things was done in {self.one}, rather than whether it took place"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, for the store: a stream's unit may never change under its name."""
        return {"unit": type(self).__name__, "max_ticks": self.max_ticks, "max_items": self.max_items}

    def counting_in(self, max_ticks: int) -> Unit:
        """The same unit in a stream that counts it in at most so many of its ticks, and enforces that.

        >>> Session(max_ticks=20).counting_in(1).sensitivity
        1
        """
        raise InvalidParameter(
            f"In how many ticks {self.one} counts cannot be chosen: got max_ticks={max_ticks}.",
            "Leave `max_ticks` out; it is for parts of a grant about sessions or people.",
        )

    def _fewer(self, max_ticks: int) -> int:
        if whole(max_ticks, "max_ticks", _ENFORCE) > self.max_ticks:
            raise InvalidParameter(
                f"The grant is about {self.one} that counts in at most {self.max_ticks:,} ticks; a stream of it cannot "
                f"count it in {max_ticks:,}.",
                "Take as many or fewer, or make another grant.",
            )
        return max_ticks

    def _keys_per_tick(self) -> str:
        return "one key per tick" if self.max_items == 1 else f"{self.max_items} keys per tick"


@dataclass(frozen=True, slots=True)
class Event(Unit):
    """One event: a single request, trip or case.

    >>> Event().sensitivity
    1
    """

    max_ticks = 1
    max_items = 1
    noun = "event"
    bound = "An event counts once, under one key."
    part = "one event"
    which = "Which of two keys one event counted under, rather than whether it took place"

    def composition(self) -> Composition:
        return LargestSum(1)


@dataclass(frozen=True, slots=True)
class Window(Unit):
    """Everything of one person inside any `ticks` consecutive ticks (w-event privacy, Kellaris et al. 2014).

    >>> Window(12).sensitivity
    12
    """

    ticks: int
    max_items: int = 1

    def __post_init__(self) -> None:
        whole(self.ticks, "ticks", "A window covers at least one tick.")
        whole(self.max_items, "max_items", _ENFORCE)

    @property
    def max_ticks(self) -> int:  # type: ignore[override]
        return self.ticks

    noun = "person's activity"
    it = "that"
    renewal = "What was spent comes back as the window moves on, so the stream can run on."

    @property
    def bound(self) -> str:
        return f"A person counts as {self._keys_per_tick()}; what exceeds this must not be counted."

    @property
    def any_one(self) -> str:
        span = "any one tick" if self.ticks == 1 else f"any {self.ticks:,} consecutive ticks"
        return f"what one person does within {span}"

    @property
    def subject(self) -> str:
        return self.any_one.replace("what", "What", 1)

    @property
    def several(self) -> str:
        return f"what one person does within {'k' if self.ticks == 1 else f'{self.ticks:,} k'} ticks in a row"

    @property
    def thing(self) -> str:
        return f"what one person does within {self._row(1)}"

    @property
    def one(self) -> str:
        return self.thing

    @property
    def question(self) -> str:
        return f"one person did anything within {self._row(1)}"

    @property
    def ten(self) -> str:
        return f"What one person does within {self._row(10)}"

    @property
    def which(self) -> str:
        return f"Which of two things one person did within {self._row(1)}, rather than whether they did anything"

    def _row(self, times: int) -> str:
        ticks = times * self.ticks
        return "one tick" if ticks == 1 else f"{ticks:,} ticks in a row"

    def composition(self) -> Composition:
        return SlidingSum(self.ticks)


@dataclass(frozen=True, slots=True)
class Session(Unit):
    """One browsing session: `max_items` keys per tick, at most `max_ticks` ticks, over after `timeout` of silence.

    No session lasts longer than its bound, so a stream of sessions can run for ever.

    >>> Session(max_ticks=20).sensitivity
    20
    """

    max_ticks: int
    timeout: timedelta | None = None
    max_items: int = 1

    def __post_init__(self) -> None:
        whole(self.max_ticks, "max_ticks", f"{self._called} counts in at least one tick. {_ENFORCE}")
        whole(self.max_items, "max_items", _ENFORCE)
        if self.timeout is not None and self.timeout <= timedelta(0):
            raise InvalidParameter(f"`timeout` must be longer than nothing; got {self.timeout}.")

    noun = "browsing session"
    lay = "visit"
    several = "k sessions of one person together"
    _called = "A session"

    @property
    def bound(self) -> str:
        ticks = "one tick" if self.max_ticks == 1 else f"{self.max_ticks:,} ticks"
        ends = "" if self.timeout is None else f" It is over after {span(self.timeout)} without an event."
        often = f"in at most {ticks}, {self._keys_per_tick()}"
        return f"{self._called} counts {often}; what exceeds this must not be counted.{ends}"

    def counting_in(self, max_ticks: int) -> Session:
        return replace(self, max_ticks=self._fewer(max_ticks))

    def composition(self) -> Composition:
        return LargestSum(self.max_ticks)

    def to_dict(self) -> dict[str, Any]:
        seconds = None if self.timeout is None else self.timeout.total_seconds()
        return {**Unit.to_dict(self), "timeout_seconds": seconds}


@dataclass(frozen=True, slots=True)
class Trip(Session):
    """One trip of a vehicle, a bicycle, a phone: what a session is to a web site. It ends after `timeout` of silence.

    >>> Trip(max_ticks=30, timeout=timedelta(minutes=10)).bound
    'A trip counts in at most 30 ticks, one key per tick; what exceeds this must not be counted. It is over after ...
    """

    noun = "trip"
    lay = "trip"
    several = "k trips of one person together"
    _called = "A trip"


@dataclass(frozen=True, slots=True)
class User(Unit):
    """One person over a horizon of ticks; at most `max_ticks` of them (all, if nothing better is enforced).

    >>> User(horizon=365).sensitivity, User(max_ticks=2, horizon=365).sensitivity
    (365, 2)
    """

    max_ticks: int
    ticks: int
    max_items: int

    def __init__(self, max_ticks: int | None = None, horizon: int | None = None, max_items: int = 1) -> None:
        if horizon is None:
            raise InvalidParameter(
                "`User` needs a horizon: a person who may be counted for ever cannot be promised anything.",
                "Give the number of ticks the stream will have, e.g. User(horizon=365).",
            )
        object.__setattr__(self, "ticks", whole(horizon, "horizon"))
        bound = horizon if max_ticks is None else whole(max_ticks, "max_ticks", _ENFORCE)
        if bound > horizon:
            raise InvalidParameter(
                f"`max_ticks` must be at most `horizon`; got max_ticks={bound}, horizon={horizon}.",
                f"Nobody can be counted in more ticks than there are: use max_ticks={horizon}.",
            )
        object.__setattr__(self, "max_ticks", bound)
        object.__setattr__(self, "max_items", whole(max_items, "max_items", _ENFORCE))

    noun = "person"
    several = "k people together"
    ten = "Ten people who belong together"
    question = "one person was counted"
    part = "a part of what is counted of you"
    which = "Which of two things one person did, rather than whether they were counted"

    @property
    def thing(self) -> str:
        return f"each person, over all {self.ticks:,} ticks"

    @property
    def renewal(self) -> str:
        return f"It must last for all {self.ticks:,} ticks; then the stream ends."

    @property
    def horizon(self) -> int:
        return self.ticks

    @property
    def bound(self) -> str:
        if self.max_ticks == self.ticks:
            return f"A person counts as {self._keys_per_tick()}, in every tick if need be, over {self.ticks:,} ticks."
        return (
            f"A person counts in at most {self.max_ticks:,} of {self.ticks:,} ticks, {self._keys_per_tick()}; "
            "what exceeds this must not be counted."
        )

    def counting_in(self, max_ticks: int) -> User:
        return User(self._fewer(max_ticks), self.ticks, self.max_items)

    def composition(self) -> Composition:
        return LargestSum(self.max_ticks)

    def to_dict(self) -> dict[str, Any]:
        return {**Unit.to_dict(self), "horizon": self.ticks}


def unit_from_dict(facts: dict[str, Any]) -> Unit:
    """The inverse of `to_dict`.

    >>> unit_from_dict(Session(max_ticks=20, timeout=timedelta(minutes=30)).to_dict())
    Session(max_ticks=20, timeout=datetime.timedelta(seconds=1800), max_items=1)
    """
    kind, ticks, items = facts["unit"], facts["max_ticks"], facts["max_items"]
    if kind == "Event":
        return Event()
    if kind == "Window":
        return Window(ticks, items)
    if kind in ("Session", "Trip"):
        seconds = facts["timeout_seconds"]
        made = Trip if kind == "Trip" else Session
        return made(ticks, None if seconds is None else timedelta(seconds=seconds), items)
    if kind == "User":
        return User(ticks, facts["horizon"], items)
    raise InvalidParameter(f"There is no unit {kind!r}.", "Known: Event, Window, Session, Trip, User.")
