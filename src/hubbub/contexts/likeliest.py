"""Chances of suppression for a whole day, the most frequent states first.

The paper's greedy search (Goetz 2012, 3.4.2, after MONDRIAN) leaves the order open. Taking the likeliest state first
shows more than going through the day (`hubbub reproduce maskit`). Two things make it fast, and both leave the result as
it is, because lowering a chance can only take privacy away (Thm 3): states are tried in batches, which are halved when
they fail; and two states that could not both be shown if all else were suppressed are never tried together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hubbub.contexts.frontier import Frontier
from hubbub.contexts.secret import Targets
from hubbub.contexts.steps import Steps
from hubbub.contexts.walk import as_chances, follow

Flags = NDArray[np.bool_]
_WORK = 1_500_000
"""How many states may be looked at in checks: about ten seconds for 20 contexts and 48 ticks. What is left when it
is used up stays suppressed."""


def likeliest(steps: Steps, bounds: Targets, parts: int) -> NDArray[np.int64]:
    search = _Search(steps, bounds, parts)
    order = [int(state) for state in np.argsort(-np.asarray(steps.prior, dtype=float).ravel(), kind="stable")]
    rest = search.show(order)
    search.lower(rest)
    return search.levels


class _Search:
    def __init__(self, steps: Steps, bounds: Targets, parts: int) -> None:
        self.steps, self.bounds, self.parts = steps, bounds, parts
        self.levels = np.full((steps.ticks, steps.size), parts, dtype=np.int64)
        self.blocked, self.conflicts = conflicts(steps, bounds)
        self.checks = max(50, _WORK // self.levels.size)
        self._walked = [Frontier(steps, bounds, steps.margin)]

    def show(self, order: list[int]) -> list[int]:
        """Chances of 0 for as many states as possible; returns those that could only be shown now and then."""
        rest, place, size = [], 0, 16
        while place < len(order) and self.checks > 0:
            batch, after = self._batch(order, place, size)
            if not batch:
                break
            if self._holds(batch, 0):
                self._accept(batch)
                place, size = after, min(256, 2 * size)
            elif len(batch) == 1:
                rest.append(batch[0])
                place, size = after, 2
            else:
                size = max(1, len(batch) // 2)
        return rest

    def lower(self, states: list[int]) -> None:
        """The smallest chance of each state in turn, by halving."""
        for state in states:
            if self.blocked[state]:
                continue
            low, high = 0, self.parts
            while high - low > 1 and self.checks > 0:
                # Most cannot be shown at all: try the highest chance below 1 first.
                middle = high - 1 if high == self.parts else (low + high) // 2
                if self._holds([state], middle):
                    high = middle
                elif high == self.parts:
                    break
                else:
                    low = middle
            if high < self.parts:
                self._accept([state], high)

    def _batch(self, order: list[int], place: int, size: int) -> tuple[list[int], int]:
        """The next states that no accepted one and none of the batch stands against, and where to go on."""
        batch: list[int] = []
        blocked = self.blocked.copy()
        while place < len(order) and len(batch) < size:
            state = order[place]
            place += 1
            if not blocked[state]:
                batch.append(state)
                blocked |= self.conflicts[state]
        return batch, place

    def _holds(self, states: list[int], level: int) -> bool:
        """Only pieces that contain one of the states are looked at: the others stay as they were."""
        self.checks -= 1
        trial = self.levels.copy()
        trial.ravel()[states] = level
        ticks = [state // self.steps.size for state in states]
        return follow(self._at(min(ticks)), trial, self.parts, max(ticks))

    def _at(self, tick: int) -> Frontier:
        """All pieces that can be open at a tick under what was accepted so far."""
        while len(self._walked) <= tick:
            frontier = self._walked[-1].copy()
            levels = self.levels[frontier.tick]
            shown = frontier.possible.any(axis=0) & (levels < self.parts)
            frontier.advance(as_chances(self.steps, levels, self.parts), shown)
            self._walked.append(frontier)
        return self._walked[tick].copy()

    def _accept(self, states: list[int], level: int = 0) -> None:
        self.levels.ravel()[states] = level
        del self._walked[min(states) // self.steps.size + 1 :]
        for state in states:
            self.blocked |= self.conflicts[state]


def conflicts(steps: Steps, bounds: Targets) -> tuple[Flags, Flags]:
    """States that can never be shown, and [a, b] pairs that can never both be shown, however much is suppressed.

    State number t * size + i is context i at tick t.
    """
    size, states = steps.size, steps.ticks * steps.size
    never = ~(steps.prior > 0).ravel()
    pairs = np.zeros((states, states), dtype=bool)
    for tick, frontier in _all_rows(steps, bounds):
        closing = frontier.closing()
        now = slice(tick * size, (tick + 1) * size)
        for row in np.flatnonzero(closing.any(axis=1)):
            if frontier.began[row] < 0:
                never[now] |= closing[row]
            else:
                pairs[frontier.began[row] * size + frontier.context[row], now] |= closing[row]
    pairs |= pairs.T
    return never, pairs


def _all_rows(steps: Steps, bounds: Targets) -> Iterator[tuple[int, Frontier]]:
    frontier = Frontier(steps, bounds, steps.margin)
    always = steps.zeros(steps.size) + 1
    for tick in range(steps.ticks):
        yield tick, frontier
        if tick < steps.ticks - 1:
            frontier.advance(always, steps.prior[tick] > 0)
