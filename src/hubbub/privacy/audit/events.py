"""Sets of outputs to bet on: the candidates, and the choice of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hubbub.privacy.audit.bounds import Floats, at_least, at_most
from hubbub.privacy.audit.features import Table
from hubbub.privacy.audit.scores import Score

_SHARES = np.unique(np.concatenate([np.linspace(0, 1, 65)[1:-1], [0.001, 0.003, 0.008], [0.992, 0.997, 0.999]]))
_MOST_VALUES = 16


@dataclass(frozen=True)
class Event:
    """A set of outputs, and on which of the two streams it is the likelier one."""

    score: Score
    sign: str
    threshold: float
    likelier_on_first: bool

    def hits(self, rows: Floats) -> int:
        values = self.score.of(rows)
        if self.sign == "missing":
            return int(np.isnan(values).sum())
        compare = {"at least": np.greater_equal, "at most": np.less_equal, "exactly": np.equal}[self.sign]
        return int(compare(values, self.threshold).sum())

    @property
    def sentence(self) -> str:
        if self.sign == "missing":
            return f"{self.score.name} is missing"
        return f"{self.score.name} is {self.sign} {self.threshold:.6g}"


Divergence = Callable[[Floats, Floats], Floats]
"""From lower bounds of p and upper bounds of q to the strength of guarantee that they contradict."""


def choose(
    scores: list[Score], one: Table, two: Table, rows: slice, runs: int, error: float, divergence: Divergence
) -> Event | None:
    """The event that would prove most if `runs` further runs came out as those in `rows` did."""
    best, best_value = None, 0.0
    a, b = one.rows(rows), two.rows(rows)
    factor = runs / len(a)
    for score in scores:
        signs, thresholds, f, g = _candidates(score.of(a), score.of(b))
        for first, hits, others in ((True, f, g), (False, g, f)):
            p, q = at_least(hits * factor, runs, error), at_most(others * factor, runs, error)
            values = divergence(p, q)
            top = int(np.argmax(values))
            if values[top] > best_value:
                best, best_value = Event(score, signs[top], float(thresholds[top]), first), float(values[top])
    return best


def _candidates(x: Floats, y: Floats) -> tuple[list[str], Floats, Floats, Floats]:
    """(sign, threshold, hits on the first stream, hits on the second) of every event on one score."""
    rows = list(_each(x, y))
    signs = [row[0] for row in rows]
    numbers = np.array([row[1:] for row in rows], dtype=np.float64)
    return signs, numbers[:, 0], numbers[:, 1], numbers[:, 2]


def _each(x: Floats, y: Floats) -> Iterator[tuple[str, float, float, float]]:
    yield "missing", np.nan, float(np.isnan(x).sum()), float(np.isnan(y).sum())
    u, v = np.sort(x[~np.isnan(x)]), np.sort(y[~np.isnan(y)])
    both = np.sort(np.concatenate([u, v]))
    if not both.size:
        return
    # A released number at the quantile itself, not between two: thresholds of discrete numbers then mean what they say.
    for threshold in np.unique(np.quantile(both, _SHARES, method="nearest")):
        yield "at most", threshold, *(float(np.searchsorted(z, threshold, side="right")) for z in (u, v))
        yield "at least", threshold, *(float(z.size - np.searchsorted(z, threshold, side="left")) for z in (u, v))
    values, times = np.unique(both, return_counts=True)
    for value in values[np.argsort(-times, kind="stable")[:_MOST_VALUES]]:
        between = ((np.searchsorted(z, value, side="left"), np.searchsorted(z, value, side="right")) for z in (u, v))
        yield "exactly", value, *(float(right - left) for left, right in between)
