"""What is protected: what two neighbouring streams differ in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.privacy.composition import Composition, LargestSum, SlidingSum

_ENFORCE = "The bound is enforced when events are collected; what exceeds it is dropped before counting."


class Unit(ABC):
    """One thing that a neighbouring stream lacks, with the bounds that are enforced on it.

    | symbol | attribute | meaning |
    |---|---|---|
    | l | `max_ticks` | in how many ticks it can change a count |
    | c | `max_items` | how many keys it can change in one tick, each by at most one |
    """

    max_ticks: int
    max_items: int

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

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, for the store: a stream's unit may never change under its name."""
        return {"unit": type(self).__name__, "max_ticks": self.max_ticks, "max_items": self.max_items}

    def _keys_a_tick(self) -> str:
        return "one key a tick" if self.max_items == 1 else f"{self.max_items} keys a tick"


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

    @property
    def bound(self) -> str:
        return (
            f"What is protected is all that one person does within any {self.ticks} consecutive ticks, "
            f"counted as {self._keys_a_tick()}."
        )

    def composition(self) -> Composition:
        return SlidingSum(self.ticks)


@dataclass(frozen=True, slots=True)
class Session(Unit):
    """One browsing session: `max_items` keys a tick, at most `max_ticks` ticks, over after `timeout` of silence.

    No session lasts longer than its bound, so a stream of sessions can run for ever.

    >>> Session(max_ticks=20).sensitivity
    20
    """

    max_ticks: int
    timeout: timedelta | None = None
    max_items: int = 1

    def __post_init__(self) -> None:
        whole(self.max_ticks, "max_ticks", f"A session counts in at least one tick. {_ENFORCE}")
        whole(self.max_items, "max_items", _ENFORCE)
        if self.timeout is not None and self.timeout <= timedelta(0):
            raise InvalidParameter(f"`timeout` must be longer than nothing; got {self.timeout}.")

    noun = "browsing session"

    @property
    def bound(self) -> str:
        return (
            f"A session counts in at most {self.max_ticks} ticks, {self._keys_a_tick()}; "
            "what exceeds this is dropped before counting."
        )

    def composition(self) -> Composition:
        return LargestSum(self.max_ticks)

    def to_dict(self) -> dict[str, Any]:
        seconds = None if self.timeout is None else self.timeout.total_seconds()
        return {**Unit.to_dict(self), "timeout_seconds": seconds}


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

    @property
    def horizon(self) -> int:
        return self.ticks

    @property
    def bound(self) -> str:
        if self.max_ticks == self.ticks:
            return f"A person counts as {self._keys_a_tick()}, in every tick if need be, over {self.ticks:,} ticks."
        return (
            f"A person counts in at most {self.max_ticks:,} of {self.ticks:,} ticks, {self._keys_a_tick()}; "
            "what exceeds this is dropped before counting."
        )

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
    if kind == "Session":
        seconds = facts["timeout_seconds"]
        return Session(ticks, None if seconds is None else timedelta(seconds=seconds), items)
    if kind == "User":
        return User(ticks, facts["horizon"], items)
    raise InvalidParameter(f"There is no unit {kind!r}.", "Known: Event, Window, Session, User.")
