"""Open pieces of output that began at the same tick: what may end them, and what silence would give away.

A piece begins with a context that was shown (or with the day) and lasts while everything is suppressed. `Frontier`
walks through all of them with the same chances; here each has chances of its own, so that each is planned alone.

| name | is |
|---|---|
| `here[b, k]` | Pr[suppressed since piece b began, X_now = k], scaled so that the largest is 1 |
| `past[b, p, k]` | the same and X_t in the members of point p, a bound behind us |
| `spared[w][b, k]` | the same and the members of stretch w avoided so far |
| `mass[b]` | by what `here` is to be multiplied |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.contexts.frontier import Ahead, Flags, outside
from hubbub.contexts.secret import Point, Targets
from hubbub.contexts.steps import TINY, Steps

Numbers = NDArray[np.float64]


class Ground:
    """What all pieces of a chain share."""

    def __init__(self, steps: Steps, targets: Targets) -> None:
        self.steps, self.targets, self.slack = steps, targets, float(steps.margin)
        self.ahead = Ahead(steps, targets)
        self.points: dict[int, list[Point]] = {}
        for point in targets.points:
            if point.prior > 0:  # nobody ever believes in what cannot be
                self.points.setdefault(point.tick, []).append(point)
        self.showable = np.array([self._showable(tick) for tick in range(steps.ticks)])
        """[t, k]: whether k may ever be shown at t, for what it tells about t and later."""

    def members(self, point: Point) -> Numbers:
        return 1.0 - outside(self.steps.size, point.members)

    def _showable(self, tick: int) -> Flags:
        limits, beliefs = self.ahead.points(tick)
        able = (beliefs <= limits - self.slack).all(axis=1) & (self.steps.prior[tick] > 0)
        for point in self.points.get(tick, ()):
            able[list(point.members)] = False
        for stretch, ahead in zip(self.targets.stretches, self.ahead.spared(tick), strict=True):
            left = int(stretch.shared(tick, self.steps.ticks))
            if left:
                able &= ahead >= stretch.floors[left] + self.slack
        return np.asarray(able)


class Pieces:
    """Pieces that began at tick `began` with each of `contexts`; `began` = -1 is the one that begins with the day."""

    def __init__(self, ground: Ground, began: int, contexts: NDArray[np.intp]) -> None:
        steps = ground.steps
        self.ground, self.began, self.tick = ground, began, began + 1
        self.here: Numbers = steps.first[None, :].copy() if began < 0 else steps.moves[began][contexts]
        self.possible: Flags = self.here > 0
        self.mass = np.ones(len(self.here))
        self.past = np.zeros((len(self.here), 0, steps.size))
        self.limits = np.zeros(0)
        self.spared = [self.here.copy() for _ in ground.targets.stretches]
        self._scale()

    def free(self) -> Flags:
        """[b, k]: whether showing k now would let nobody believe too much."""
        ground, here = self.ground, self.here
        free: Flags = ground.showable[self.tick][None, :] & self.possible & (here >= TINY)
        free &= (self.past <= (self.limits - ground.slack)[None, :, None] * here[:, None, :]).all(axis=1)
        for stretch, spared in zip(ground.targets.stretches, self.spared, strict=True):
            shared = int(stretch.shared(self.began, self.tick))
            if shared:
                allowed = outside(ground.steps.size, stretch.members if stretch.covers(self.tick) else ())
                free &= spared * allowed >= (stretch.floors[shared] + ground.slack) * here
        return free

    def conditions(self) -> Numbers:
        """[b, c, k]: coefficients of inequalities c . chances <= 0 that keep silence from now on within all bounds,
        with twice the slack."""
        ground, here = self.ground, self.here[:, None, :]
        double = 2 * ground.slack
        rows = [self.past - (self.limits - double)[None, :, None] * here]
        rows += [(ground.members(point) - (point.limit - double)) * here for point in ground.points.get(self.tick, ())]
        limits, beliefs = ground.ahead.points(self.tick)
        rows.append((beliefs.T - (limits - double)[:, None])[None] * here)
        for stretch, spared, ahead in zip(
            ground.targets.stretches, self.spared, ground.ahead.spared(self.tick), strict=True
        ):
            shared = int(stretch.shared(self.began, ground.steps.ticks))
            if shared:
                allowed = outside(ground.steps.size, stretch.members if stretch.covers(self.tick) else ())
                rows.append((stretch.floors[shared] + double) * here - (spared * ahead * allowed)[:, None, :])
        return np.concatenate(rows, axis=1)

    def silent(self, conditions: Numbers, chances: Numbers) -> Flags:
        """[b]: whether silence is within all bounds after these chances; all ones always are, by the tick before."""
        total = (self.here * chances).sum(axis=1)
        usable = np.asarray((self.possible & (chances > 0)).any(axis=1))
        over = np.einsum("bck,bk->bc", conditions, chances) > self.ground.slack * total[:, None]
        return np.asarray(~usable | ((total >= TINY) & ~over.any(axis=1)))

    def advance(self, chances: Numbers) -> None:
        """One tick on, everything being suppressed with these chances."""
        ground, tick = self.ground, self.tick
        move, now = ground.steps.moves[tick], ground.points.get(tick, [])
        hidden = self.here * chances
        new = [(hidden * ground.members(point))[:, None, :] for point in now]
        self.past = np.concatenate([self.past * chances[:, None, :], *new], axis=1) @ move
        self.limits = np.concatenate([self.limits, np.array([float(point.limit) for point in now])])
        for place, stretch in enumerate(ground.targets.stretches):
            allowed = outside(ground.steps.size, stretch.members if stretch.covers(tick) else ())
            self.spared[place] = (self.spared[place] * chances * allowed) @ move
        self.possible = ((self.possible & (chances > 0)).astype(float) @ (move > 0)) > 0
        self.here = hidden @ move
        self.tick += 1
        self._scale()

    def _scale(self) -> None:
        scale = self.here.max(axis=1)
        scale[scale <= 0] = 1
        self.mass = self.mass * scale
        self.here = self.here / scale[:, None]
        self.past = self.past / scale[:, None, None]
        self.spared = [spared / scale[:, None] for spared in self.spared]
