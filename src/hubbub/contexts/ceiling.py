"""What no policy can exceed, however clever: for each tick a linear programme, so that long days can be asked about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.policy import check_secrets
from hubbub.contexts.secret import Point, Secret, check_delta, targets
from hubbub.contexts.steps import Steps
from hubbub.exact import Exact

Numbers = NDArray[np.float64]
_SPARE = 1e-9


def ceiling(chain: ContextChain, secrets: Sequence[Secret], delta: Exact) -> float:
    """A bound on how many contexts of a day are shown on average, by any policy that keeps the promise.

    It may remember all of the day and toss any coins. Each tick's own output must keep the promise about each secret
    state alone, which is linear in what is shown then (`docs/proofs/contexts.md`, 9). The least that follows: where s
    has the prior p < 1 - delta, at least p / (p + delta) of all days are suppressed. `best_possible` is the exact
    optimum, for small chains only. Secrets about a stretch of time are left out, which makes the bound no less true.

    >>> chain = ContextChain(("s", "x"), ("1/10", "9/10"), [])
    >>> round(ceiling(chain, [Secret("s")], "0.1"), 6)
    0.5
    """
    bounds = targets(chain, chain.steps, check_secrets(secrets), check_delta(delta))
    return sum(_tick(chain.steps, bounds.points, tick) for tick in range(chain.ticks))


class _Rows:
    """Inequalities a . x <= b, and how large each x may be."""

    def __init__(self, most: Numbers) -> None:
        self.most, self.right = list(most), list[float]()
        self._row, self._column, self._value = list[int](), list[int](), list[float]()

    def variables(self, most: Numbers) -> NDArray[np.intp]:
        self.most += list(most)
        return np.arange(len(self.most) - len(most), len(self.most))

    def add(self, columns: NDArray[np.intp], values: Numbers, right: float) -> None:
        self._row += [len(self.right)] * len(columns)
        self._column += columns.tolist()
        self._value += values.tolist()
        self.right.append(right)

    def largest(self, count: int) -> float:
        """The largest sum of the first `count` variables."""
        aim = np.zeros(len(self.most))
        aim[:count] = -1
        shape = len(self.right), len(self.most)
        table = csr_array((self._value, (self._row, self._column)), shape=shape) if self.right else None
        solved = linprog(  # type: ignore[call-overload]  # the stubs know no sparse tables
            aim,
            A_ub=table,
            b_ub=np.array(self.right) + _SPARE,
            bounds=[(0, most) for most in self.most],
            method="highs",
        )
        # Whoever hides everything keeps every bound; if the solver fails all the same, nothing is claimed.
        return -float(solved.fun) if solved.success else float(sum(self.most[:count]))


def _tick(steps: Steps, points: Sequence[Point], tick: int) -> float:
    """x[i] = Pr[X_t = i, shown]; for each bound on an earlier tick also z[i] = Pr[member then, X_t = i, shown]."""
    here = steps.prior[tick]
    states = np.flatnonzero(here > 0)
    chance = here[states]
    shown = np.arange(len(states))
    onward, back = _onward(steps, tick), _back(steps, tick)
    rows = _Rows(chance)
    for point in points:
        members, limit = list(point.members), float(point.limit)
        if point.tick >= tick:
            belief = onward[point.tick - tick][states][:, members].sum(axis=1)
            for place in np.flatnonzero(belief > limit + _SPARE):
                rows.most[place] = 0.0
            rows.add(shown, limit - belief, float(chance @ (limit - belief)))
            continue
        both = back[point.tick][members][:, states].sum(axis=0)
        if not both.any():
            continue
        member = rows.variables(both)
        for place in shown:
            pair = np.array([member[place], place])
            rows.add(pair, np.array([1.0, -limit]), 0.0)
            rows.add(pair, np.array([-1.0, 1.0]), float(chance[place] - both[place]))
        signs = np.concatenate([np.full(len(states), -1.0), np.full(len(states), limit)])
        rows.add(np.concatenate([member, shown]), signs, float((limit * chance - both).sum()))
    return rows.largest(len(states))


def _onward(steps: Steps, tick: int) -> list[Numbers]:
    """[u - t][i, k] = Pr[X_u = k | X_t = i]."""
    found = [np.eye(steps.size)]
    for move in steps.moves[tick:]:
        found.append(found[-1] @ move)
    return found


def _back(steps: Steps, tick: int) -> dict[int, Numbers]:
    """[u][k, i] = Pr[X_u = k, X_t = i]."""
    found, way = {}, np.eye(steps.size)
    for earlier in range(tick - 1, -1, -1):
        way = steps.moves[earlier] @ way
        found[earlier] = steps.prior[earlier][:, None] * way
    return found
