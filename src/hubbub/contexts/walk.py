"""Chances of suppression for a whole day: made tick by tick, and checked in one walk."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.contexts.covering import Search
from hubbub.contexts.frontier import Frontier
from hubbub.contexts.secret import Targets
from hubbub.contexts.steps import Array, Steps

_ROUNDS = 60


def forward(steps: Steps, bounds: Targets, search: Search, parts: int) -> NDArray[np.int64]:
    """The chances of each tick in turn, in parts."""
    frontier = Frontier(steps, bounds, steps.margin)
    # Twice the margin where chances are chosen, once where they are checked: rounding between the two harms nobody.
    levels = np.full((steps.ticks, steps.size), parts, dtype=np.int64)
    for tick in range(steps.ticks):
        free = ~np.asarray(frontier.closing().any(axis=0)) & np.asarray(frontier.possible.any(axis=0))
        levels[tick] = _lowest(frontier, free, search, parts)
        if tick < steps.ticks - 1:
            frontier.advance(as_chances(steps, levels[tick], parts), free & (levels[tick] < parts))
    return levels


def holds(steps: Steps, bounds: Targets, levels: NDArray[np.int64], parts: int) -> bool:
    """Whether chances keep all bounds: the paper's ISPRIVATE in one walk through the day.

    An output is made of pieces that end in a release, and perhaps one that lasts to the end of the day: those are all.
    What is believed before the day is over is an average of what may be believed after it.
    """
    return follow(Frontier(steps, bounds, steps.margin), levels, parts, steps.ticks - 1)


def follow(frontier: Frontier, levels: NDArray[np.int64], parts: int, until: int) -> bool:
    """Check all pieces that are open in `frontier` or begin up to tick `until`, to their ends."""
    steps = frontier.steps
    for tick in range(frontier.tick, steps.ticks):
        chances = as_chances(steps, levels[tick], parts)
        shown = frontier.possible.any(axis=0) & (levels[tick] < parts)
        if frontier.forbids(shown):
            return False
        if tick == steps.ticks - 1:
            broken = frontier.breaches(chances)
            return broken is not None and not len(broken)
        frontier.advance(chances, shown if tick <= until else np.zeros_like(shown))
        if not len(frontier.here):
            return True
    return True


def as_chances(steps: Steps, levels: NDArray[np.int64], parts: int) -> Array:
    if steps.exact:
        chances = np.empty(len(levels), dtype=object)
        chances[:] = [Fraction(int(level), parts) for level in levels]
        return chances
    return levels / parts


def _lowest(frontier: Frontier, free: NDArray[np.bool_], search: Search, parts: int) -> NDArray[np.int64]:
    """Lower a tick's chances as far as all bounds allow; bounds are looked at when they are first broken."""
    steps = frontier.steps
    suppress = np.full(steps.size, parts, dtype=np.int64)
    if not free.any():
        return suppress
    rows = np.zeros((0, steps.size), dtype=frontier.here.dtype)
    levels = np.where(free, 0, suppress)
    for _ in range(_ROUNDS):
        broken = frontier.breaches(as_chances(steps, levels, parts))
        if broken is None:
            return suppress
        if not len(broken):
            return levels
        rows = np.concatenate([rows, broken])
        levels = search(rows, free, steps.prior[frontier.tick], parts)
        if (levels == suppress).all():
            return suppress
    return suppress


def mirrored(bounds: Targets, ticks: int) -> Targets:
    return Targets(
        tuple(replace(point, tick=ticks - 1 - point.tick) for point in reversed(bounds.points)),
        tuple(replace(s, first=ticks - 1 - s.last, last=ticks - 1 - s.first) for s in bounds.stretches),
    )
