"""Within a tick: the smallest chances of suppression that satisfy linear bounds.

Bounds are rows c with c . chances <= 0. Of a context that may be shown no coefficient is above 0 (its release was
checked), so raising its chance never breaks a bound: a covering problem.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from hubbub.contexts.steps import Array

Search = Callable[[Array, NDArray[np.bool_], Array, int], NDArray[np.int64]]


def greedy(rows: Array, free: NDArray[np.bool_], prior: Array, parts: int) -> NDArray[np.int64]:
    """One chance after the other, the likeliest context first, down to the smallest multiple of 1/parts that holds.

    The paper searches it by halving; a bound being linear in one chance, it can be read off.
    """
    levels = np.full(len(free), parts, dtype=np.int64)
    exact = rows.dtype == object
    load = rows.sum(axis=1)  # the left side, all chances being 1
    for place in sorted(np.flatnonzero(free), key=lambda i: -prior[i]):
        column = rows[:, place]
        needed = column < 0
        rest = load - column
        if needed.any():
            lowest = (rest[needed] / -column[needed]).max()
            level = max(0, min(parts, ceil(lowest * parts)))
        else:
            level = 0
        levels[place] = level
        load = rest + column * (Fraction(level, parts) if exact else level / parts)
    return levels


def linear(rows: Array, free: NDArray[np.bool_], prior: Array, parts: int) -> NDArray[np.int64]:
    """The tick's linear programme (HiGHS), rounded up to multiples of 1/parts, and what that left lowered greedily."""
    numbers, weights = rows.astype(float), np.asarray(prior, dtype=float)
    places = np.flatnonzero(free)
    fixed = numbers[:, ~free].sum(axis=1)
    solved = linprog(weights[places], A_ub=numbers[:, places], b_ub=-fixed, bounds=(0, 1), method="highs")
    found = greedy(rows, free, prior, parts)
    if not solved.success or solved.x is None:
        return found
    levels = np.full(len(free), parts, dtype=np.int64)
    levels[places] = np.clip(np.ceil(solved.x * parts - 1e-7), 0, parts).astype(np.int64)
    exact = rows.dtype == object
    chances = np.array([Fraction(int(k), parts) for k in levels], dtype=object) if exact else levels / parts
    broken = rows[(rows @ chances) > 0]
    # A solver's tolerance, or the rounding above, may have left a bound open by a hair: one level more closes it.
    if len(broken):
        touched = free & (broken < 0).any(axis=0)
        levels[touched] = np.minimum(parts, levels[touched] + 1)
    return levels if (levels * weights).sum() <= (found * weights).sum() else found


SEARCHES: dict[str, Search] = {"greedy": greedy, "linear": linear}
