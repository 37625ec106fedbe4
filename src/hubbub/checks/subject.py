"""The releaser under test, and how a check makes and feeds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.mechanism import OnlineMechanism
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee, Session
from hubbub.released import Domain, Keys, Release, Tick

Factory: TypeAlias = Callable[..., OnlineMechanism]
"""Called as `factory(keys, guarantee, source=source)`; a releaser's class is one."""

Simulation: TypeAlias = Callable[[np.random.Generator, int, int], NDArray[np.int64]]  # not for privacy
"""(generator, ticks, keys) to true counts of a stream that the releaser is meant for."""

KEYS = Keys(["front", "news", "sports"])

USUAL = Guarantee.pure(Session(max_ticks=20), 1)
"""More ticks than most checks run: once the budget is used up, a charge too many would no longer show."""


def wandering(generator: np.random.Generator, ticks: int, keys: int) -> NDArray[np.int64]:  # not for privacy
    """Counts that wander about 500 by some ten per tick."""
    steps = generator.normal(0, 10, (ticks, keys)).cumsum(axis=0)
    wandered: NDArray[np.int64] = np.maximum(np.rint(500 + steps), 0).astype(np.int64)
    return wandered


@dataclass(frozen=True)
class Subject:
    """What is checked: a factory, and what it needs to know to be checked fairly.

    `audit_runs` is how often an audit runs it, `coverage_runs` how many streams tell how often its intervals cover.
    `keys` is a domain of three keys, of whatever kind: `Grid(3, 1)` checks it in a grid.
    """

    factory: Factory
    simulate: Simulation = wandering
    audit_runs: int = 1000
    coverage_runs: int = 1500
    keys: Domain = KEYS

    def __post_init__(self) -> None:
        if len(self.keys) != len(KEYS):
            raise InvalidParameter(
                f"The checks feed a domain of {len(KEYS)} keys; got {self.keys!r}.", "Use for example Grid(3, 1)."
            )

    def make(
        self, guarantee: Guarantee | None = None, source: ByteSource | None = None, keys: Domain | None = None
    ) -> OnlineMechanism:
        return self.factory(keys or self.keys, guarantee or USUAL, source=source)

    def counts(self, tick: int, values: Sequence[int] | NDArray[np.int64] | None = None) -> Counts:
        """Counts of a tick for this subject."""
        return counts(tick, values, self.keys)


class Tape:
    """A source whose bytes can be exchanged under a running releaser. It has no mark, so no noise is drawn ahead."""

    def __init__(self, source: ByteSource) -> None:
        self.source = source

    def take(self, count: int) -> bytes | bytearray | memoryview:
        return self.source.take(count)


def counts(tick: int, values: Sequence[int] | NDArray[np.int64] | None = None, keys: Domain = KEYS) -> Counts:
    """The counts of a tick; some that change a little from tick to tick unless given."""
    usual = [400 + 7 * (tick % 5) + 50 * i for i in range(len(keys))]
    return Counts.of(keys, Tick(tick), usual if values is None else values)


def same(one: Release, two: Release) -> bool:
    """Whether two releases say the same, number by number."""
    if (one.tick, one.cost) != (two.tick, two.cost) or (one.noise_variance is None) != (two.noise_variance is None):
        return False
    if one.noise_variance is not None and not np.array_equal(one.variances, two.variances):
        return False
    if one.measurements is None or two.measurements is None:
        if one.measurements is not two.measurements:
            return False
    elif not np.array_equal(one.measurements, two.measurements):
        return False
    return all(
        np.array_equal(getattr(one, name), getattr(two, name), equal_nan=True)
        for name in ("values", "standard_errors", "lower", "upper")
    )
