"""What must not be given away, and the bounds on belief that follow from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.steps import Array, Steps
from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, exact

SMALLEST = Fraction(1, 10**6)
"""Below this a delta would drown in the margin against rounding."""


@dataclass(frozen=True)
class Secret:
    """Contexts whose belief may rise by at most delta; by default each of them alone, at each tick.

    | | protects |
    |---|---|
    | `Secret("clinic", "bar")` | that you are in the clinic, and that you are in the bar, at any tick |
    | `Secret("clinic", first=16, last=24)` | the same, from tick 16 to tick 24 only |
    | `Secret("clinic", "bar", together=True)` | that you are in one of the two at a tick |
    | `Secret("clinic", first=16, last=24, sometime=True)` | that you were there between these ticks, whenever it was |

    >>> Secret("clinic", delta="0.05").delta
    Fraction(1, 20)
    """

    contexts: tuple[str, ...]
    first: int | None
    last: int | None
    together: bool
    sometime: bool
    delta: Fraction | None

    def __init__(
        self,
        *contexts: str,
        first: int | None = None,
        last: int | None = None,
        together: bool = False,
        sometime: bool = False,
        delta: Exact | None = None,
    ) -> None:
        if not contexts or not all(isinstance(name, str) for name in contexts) or len(set(contexts)) != len(contexts):
            raise InvalidParameter("A secret names one or more different contexts.", 'Write Secret("clinic").')
        values = (contexts, first, last, together, sometime, None if delta is None else check_delta(delta))
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def parse(cls, text: str) -> Secret:
        """As commands write it: contexts joined by +, then if wanted @first-last, ~ for "at any time", =delta.

        >>> print(Secret.parse("clinic+bar@16-24~=0.05"))
        clinic or bar at any time between ticks 16 and 24
        """
        found = re.fullmatch(r"([^@~=]+)(?:@(\d+)-(\d+))?(~)?(?:=([^=]+))?", text)
        names = found[1].split("+") if found else []
        if found is None or not all(names):
            raise InvalidParameter(
                f"A secret cannot be read: {text!r}.",
                "Write clinic, clinic+bar (any of them), clinic@16-24 (ticks), clinic@16-24~ (ever), clinic=0.05.",
            )
        first, last = (None, None) if found[2] is None else (int(found[2]), int(found[3]))
        return cls(
            *names, first=first, last=last, together=len(names) > 1, sometime=bool(found[4]), delta=found[5] or None
        )

    def ticks(self, chain: ContextChain) -> range:
        first = 0 if self.first is None else chain.check_tick(self.first)
        last = chain.ticks - 1 if self.last is None else chain.check_tick(self.last)
        if first > last:
            raise InvalidParameter(
                f"A secret's ticks go from `first` to `last`; got {first} and {last}.", "Give the smaller one first."
            )
        return range(first, last + 1)

    def __str__(self) -> str:
        when = f" between ticks {self.first} and {self.last}"
        if self.last is None:
            when = "" if self.first is None else f" from tick {self.first} on"
        elif self.first is None:
            when = f" up to tick {self.last}"
        when = " at any time" * self.sometime + when
        if self.sometime and not self.together:  # each alone: not the belief that it was one of them
            return ", and ".join(name + when for name in self.contexts)
        return (" or " if self.together else ", ").join(self.contexts) + when


def check_delta(delta: Exact) -> Fraction:
    number = exact(delta, "delta")
    if not SMALLEST <= number <= 1:
        raise InvalidParameter(
            f"`delta` must lie between {float(SMALLEST):g} and 1; got {delta}: it is how much a belief may rise.",
            "0.1 lets a belief rise by ten points.",
        )
    return number


@dataclass(frozen=True)
class Point:
    """The belief to be in one of `members` at `tick` may not exceed `limit`."""

    secret: int
    tick: int
    members: tuple[int, ...]
    prior: float | Fraction
    limit: float | Fraction


@dataclass(frozen=True)
class Stretch:
    """The belief to have been in none of `members` from `first` to `last` may not fall below `floors[-1]`.

    That belief is a product over the pieces between two released contexts. Each piece is held to the share of the
    floor that belongs to its ticks: `floors[c]` for a piece with c ticks of the stretch, whose product is the whole.
    """

    secret: int
    first: int
    last: int
    members: tuple[int, ...]
    prior: float | Fraction
    """Of having been in one of them."""
    floors: Array

    def shared(self, after: int | Array, until: int) -> Array:
        """How many ticks of the stretch lie after `after`, up to and with `until`."""
        return np.asarray(np.maximum(0, np.minimum(self.last, until) - np.maximum(self.first - 1, after)))

    def covers(self, tick: int) -> bool:
        return self.first <= tick <= self.last


@dataclass(frozen=True)
class Targets:
    points: tuple[Point, ...]
    stretches: tuple[Stretch, ...]


def targets(chain: ContextChain, steps: Steps, secrets: Sequence[Secret], delta: Fraction) -> Targets:
    """Bounds on belief in numbers. A bound that no belief can exceed is left out."""
    points, stretches = [], []
    for place, secret in enumerate(secrets):
        numbers = tuple(sorted(chain.number(name) for name in secret.contexts))
        rise = secret.delta if secret.delta is not None else delta
        when = secret.ticks(chain)
        if secret.sometime:
            for members in [numbers] if secret.together else [(number,) for number in numbers]:
                stretch = _stretch(steps, place, when, members, rise)
                if stretch is not None:
                    stretches.append(stretch)
            continue
        for tick in when:
            for members in [numbers] if secret.together else [(number,) for number in numbers]:
                prior = steps.prior[tick, list(members)].sum()
                limit = prior + steps.number(rise)
                if limit < 1 + steps.margin:
                    points.append(Point(place, tick, members, prior, limit))
    return Targets(tuple(points), tuple(stretches))


def avoiding(steps: Steps, ticks: range, members: Sequence[int]) -> float | Fraction:
    """The chance that a day is in none of `members` at any of `ticks`."""
    here = steps.first
    for tick in range(steps.ticks):
        if tick in ticks:
            here = here.copy()
            here[list(members)] = steps.zeros(1)[0]
        if tick < steps.ticks - 1:
            here = here @ steps.moves[tick]
    return here.sum()  # type: ignore[no-any-return]


def _stretch(steps: Steps, place: int, when: range, members: tuple[int, ...], rise: Fraction) -> Stretch | None:
    avoided = avoiding(steps, when, members)
    floor = avoided - steps.number(rise)
    if floor < -steps.margin:
        return None
    # Before it is divided among pieces: a root makes a small error of a small number large.
    floor = floor + steps.margin
    shares = [1.0] + [_upwards(float(max(floor, 0.0)) ** (part / len(when))) for part in range(1, len(when) + 1)]
    floors = np.array([Fraction(share) for share in shares], dtype=object) if steps.exact else np.array(shares)
    floors[-1] = max(floor, steps.zeros(1)[0])
    return Stretch(place, when.start, when[-1], members, 1 - avoided, floors)


def _upwards(number: float) -> float:
    """A little above: a floor that is too high is only stricter."""
    return min(1.0, ceil(number * (1 + 1e-12) * 2**40) / 2**40)
