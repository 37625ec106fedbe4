"""Everything that may still be hidden at a tick: the engine under all planners.

An output is cut by its released contexts into pieces: released, suppressed, ..., suppressed, released. What an
adversary believes about a tick depends on its piece alone (Goetz 2012, Prop. 3 and 5). A *row* is a piece that is open
now: when and with which context it began. Walking through the day once, we keep for each row

| name | is |
|---|---|
| `here[r, k]` | Pr[suppressed since r began, X_now = k] |
| `past[r, c]` | Pr[suppressed since r began, X_t = s], c = (t, s) a sensitive state behind us |
| `onward[c, k]` | Pr[suppressed since, X_now = k], given that s was suppressed at t |
| `spared[w][r, k]` | as `here`, for days that avoid the members of stretch w |

so that a belief is past * onward / here. Rows may be scaled at will; with floating point they are, against underflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.contexts.secret import Point, Stretch, Targets
from hubbub.contexts.steps import TINY, Array, Steps

Flags = NDArray[np.bool_]


class Frontier:
    """`slack` is what comparisons leave free; see `steps.MARGIN`."""

    def __init__(self, steps: Steps, targets: Targets, slack: Any) -> None:
        self.steps, self.targets, self.slack = steps, targets, slack
        self.tick = 0
        self.began = np.array([-1])
        self.context = np.array([-1])
        self.here = steps.first[None, :].copy()
        self.possible: Flags = self.here > 0
        self.past = steps.zeros(1, 0)
        self.onward = steps.zeros(0, steps.size)
        self.spared = [self.here.copy() for _ in targets.stretches]
        self._columns: dict[tuple[int, int], int] = {}
        self._behind: list[Point] = []
        self._points: dict[int, list[Point]] = {}
        for point in targets.points:
            self._points.setdefault(point.tick, []).append(point)
        self._ahead = Ahead(steps, targets)

    def copy(self) -> Frontier:
        """A second one at the same tick: arrays are replaced and never written to, so they can be shared."""
        twin = copy(self)
        twin._columns, twin._behind = dict(self._columns), list(self._behind)
        twin.spared = list(self.spared)
        return twin

    def closing(self) -> Flags:
        """[r, k]: whether releasing k now, after row r, would let somebody believe too much."""
        return self._closing(self._behind)

    def _closing(self, behind: list[Point]) -> Flags:
        bad = np.zeros(self.here.shape, dtype=bool)
        for point, rows, columns in self._spanning(behind):
            belief = self.past[:rows, columns] @ self.onward[columns]
            bad[:rows] |= belief > (point.limit - self.slack) * self.here[:rows]
        for point in self._points.get(self.tick, ()):
            bad[:, list(point.members)] = True
        for stretch, spared, ahead in zip(
            self.targets.stretches, self.spared, self._ahead.spared(self.tick), strict=True
        ):
            shared = stretch.shared(self.began, self.tick)
            low = spared * self._allowed(stretch) < (stretch.floors[shared][:, None] + self.slack) * self.here
            bad |= low & (shared > 0)[:, None]
            left = int(stretch.shared(self.tick, self.steps.ticks))
            if left:
                bad |= (ahead < stretch.floors[left] + self.slack)[None, :]
        limits, beliefs = self._ahead.points(self.tick)
        bad |= (beliefs > limits - self.slack).any(axis=1)[None, :]
        if not self.steps.exact:
            bad |= self.here < TINY
        return bad & self.possible

    def forbids(self, shown: Flags) -> bool:
        """Whether releasing any of these contexts now, after any row, would let somebody believe too much."""
        alone = [point for point in self._behind if len(point.members) == 1]
        places = np.flatnonzero(shown)
        if alone:
            columns = [self._columns[point.tick, point.members[0]] for point in alone]
            past, onward = self.past[:, columns], self.onward[columns]
            limits = np.array([point.limit for point in alone], dtype=past.dtype) - self.slack
            for k in places:
                # Where a row cannot end in k, both sides are 0.
                if (past * onward[:, k] > self.here[:, k, None] * limits).any():
                    return True
        rest = [point for point in self._behind if len(point.members) > 1]
        return bool((self._closing(rest) & shown).any())

    def breaches(self, chances: Array) -> Array | None:
        """What suppressing now with these chances, and always from then on, would give away: for each bound the worst
        row, as coefficients c of the inequality c . chances <= 0 that it breaks (with twice the slack). None if some
        output is too unlikely to be reckoned with."""
        hidden = self.here * chances
        total = hidden.sum(axis=1)
        usable: Flags = np.asarray((self.possible & (chances > 0)).any(axis=1))
        scale = np.where(usable, total, 1) if self.steps.exact else np.maximum(total, TINY)
        if not self.steps.exact and (usable & (total < TINY)).any():
            return None
        found = []
        for excess, coefficients in self._open(hidden, total, chances):
            excess = np.where(usable[: len(excess)], excess / scale[: len(excess)], -1)
            row = int(np.argmax(excess))
            if excess[row] > 0:
                found.append(coefficients(row) / self.here[row].sum())
        return np.array(found, dtype=self.here.dtype).reshape(len(found), self.steps.size)

    def advance(self, chances: Array, released: Flags, drop: Flags | None = None) -> None:
        """One tick on. `chances` of suppression now, of each context; `released[k]`: k may have been shown now, so
        that a row begins with it; `drop[r]`: row r has ended for certain."""
        hidden = self.here * chances
        now = np.array(sorted({m for point in self._points.get(self.tick, ()) for m in point.members}), dtype=int)
        for member in now.tolist():
            self._columns[self.tick, member] = len(self._columns)
        self._behind += self._points.get(self.tick, [])
        self.past = np.concatenate([self.past, hidden[:, now]], axis=1)
        new = np.flatnonzero(released)
        move = self.steps.moves[self.tick]
        self.onward = np.concatenate([(self.onward * chances) @ move, move[now]])
        self.here = np.concatenate([hidden @ move, move[new]])
        self.spared = [
            np.concatenate([(spared * chances * self._allowed(stretch)) @ move, move[new]])
            for stretch, spared in zip(self.targets.stretches, self.spared, strict=True)
        ]
        usable = ((self.possible & (chances > 0)).astype(float) @ (move > 0)) > 0
        self.possible = np.concatenate([usable, move[new] > 0])
        self.past = np.concatenate([self.past, self.steps.zeros(len(new), self.past.shape[1])])
        self.began = np.concatenate([self.began, np.full(len(new), self.tick)])
        self.context = np.concatenate([self.context, new])
        ended = np.concatenate([np.zeros(len(hidden), bool) if drop is None else drop, np.zeros(len(new), bool)])
        self._keep(~ended & np.asarray(self.possible.any(axis=1)))
        self.tick += 1

    def _keep(self, rows: Flags) -> None:
        self.here, self.possible, self.past = self.here[rows], self.possible[rows], self.past[rows]
        self.spared = [spared[rows] for spared in self.spared]
        seen = np.asarray((self.past > 0).any(axis=0)).tolist()
        columns = self._columns
        self._behind = [p for p in self._behind if any(seen[columns[p.tick, member]] for member in p.members)]
        self.began, self.context = self.began[rows], self.context[rows]
        if self.steps.exact or not len(self.here):
            return
        scale = self.here.max(axis=1, keepdims=True)
        scale[scale < TINY] = 1
        self.here, self.past = self.here / scale, self.past / scale
        self.spared = [spared / scale for spared in self.spared]
        if len(self.onward):
            scale = self.onward.max(axis=1)
            scale[scale < TINY] = 1
            self.onward, self.past = self.onward / scale[:, None], self.past * scale

    def _spanning(self, behind: list[Point]) -> Iterator[tuple[Point, int, list[int]]]:
        """Points behind us with the rows that began before them: rows stand in the order in which they began."""
        for point in behind:
            rows = int(np.searchsorted(self.began, point.tick))
            if rows:
                yield point, rows, [self._columns[point.tick, member] for member in point.members]

    def _allowed(self, stretch: Stretch) -> Array:
        """1 for the contexts that a day which avoids the stretch may be in now."""
        return outside(self.steps.size, stretch.members if stretch.covers(self.tick) else ())

    def _open(self, hidden: Array, total: Array, chances: Array):  # type: ignore[no-untyped-def]
        """For each bound: how far each row exceeds it, and a function that gives a row's coefficients."""
        double = 2 * self.slack
        for point, rows, columns in self._spanning(self._behind):
            limit = point.limit
            excess = self.past[:rows, columns] @ (self.onward[columns] @ chances) - (limit - self.slack) * total[:rows]
            yield (
                excess,
                lambda row, columns=columns, limit=limit: (
                    self.past[row, columns] @ self.onward[columns] - (limit - double) * self.here[row]
                ),
            )
        for point in self._points.get(self.tick, ()):
            members, limit = list(point.members), point.limit
            is_member = 1 - outside(self.steps.size, point.members)
            yield (
                hidden[:, members].sum(axis=1) - (limit - self.slack) * total,
                lambda row, is_member=is_member, limit=limit: (is_member - (limit - double)) * self.here[row],
            )
        limits, beliefs = self._ahead.points(self.tick)
        excesses = hidden @ beliefs - total[:, None] * (limits - self.slack)[None, :]
        for column in range(len(limits)):
            belief, limit = beliefs[:, column], limits[column]
            yield (
                excesses[:, column],
                lambda row, belief=belief, limit=limit: (belief - (limit - double)) * self.here[row],
            )
        yield from self._open_stretches(total, chances, double)

    def _open_stretches(self, total: Array, chances: Array, double: Any):  # type: ignore[no-untyped-def]
        for stretch, spared, ahead in zip(
            self.targets.stretches, self.spared, self._ahead.spared(self.tick), strict=True
        ):
            shared = stretch.shared(self.began, self.steps.ticks)
            weight = ahead * self._allowed(stretch)
            floor = stretch.floors[shared]
            excess = (floor + self.slack) * total - spared @ (weight * chances)
            yield (
                np.where(shared > 0, excess, 0 * total - 1),
                lambda row, spared=spared, weight=weight, floor=floor: (
                    (floor[row] + double) * self.here[row] - spared[row] * weight
                ),
            )


class Ahead:
    """Beliefs about ticks to come for who knows where the person is now, everything after being suppressed."""

    def __init__(self, steps: Steps, targets: Targets) -> None:
        size, last = steps.size, steps.ticks - 1
        by_tick: dict[int, list[Point]] = {}
        for point in targets.points:
            by_tick.setdefault(point.tick, []).append(point)
        beliefs, limits = steps.zeros(size, 0), steps.zeros(0)
        spared = [steps.zeros(size) + 1 for _ in targets.stretches]
        self._points, self._spared = [(limits, beliefs)], [spared]
        for tick in range(last, 0, -1):
            move = steps.moves[tick - 1]
            now = by_tick.get(tick, [])
            member = steps.zeros(size, len(now))
            for column, point in enumerate(now):
                member[list(point.members), column] += 1
            beliefs = move @ np.concatenate([beliefs, member], axis=1)
            limits = np.concatenate([limits, np.array([point.limit for point in now], dtype=limits.dtype)])
            spared = [
                move @ (kept * outside(size, stretch.members) if stretch.covers(tick) else kept)
                for stretch, kept in zip(targets.stretches, spared, strict=True)
            ]
            self._points.append((limits, beliefs))
            self._spared.append(spared)
        self._points.reverse()
        self._spared.reverse()

    def points(self, tick: int) -> tuple[Array, Array]:
        """Limits of all later points, and [k, point] the belief in each for who is in k at `tick`."""
        return self._points[tick]

    def spared(self, tick: int) -> list[Array]:
        """For each stretch [k], the chance to avoid it after `tick`, for who is in k then."""
        return self._spared[tick]


def outside(size: int, members: tuple[int, ...]) -> Array:
    keep = np.ones(size, dtype=int)
    keep[list(members)] = 0
    return keep
