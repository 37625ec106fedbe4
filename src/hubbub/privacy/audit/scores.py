"""Numbers learned from one sample that tell two streams apart better than any single released number does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hubbub.privacy.audit.bounds import Floats
from hubbub.privacy.audit.features import Table

_BINS = 8
"""Few, so that each is filled: the noise of the bins' frequencies is noise of the score."""

_CHANCE = 1e-4
"""A column on which the two streams differ no more than this chance allows is left out: it would only add noise."""


@dataclass(frozen=True)
class Score:
    """A function of a run's released numbers, with its name in words."""

    name: str
    of: Callable[[Floats], Floats]


def scores(one: Table, two: Table, learn: slice) -> list[Score]:
    """Every column by itself, and two scores learned on the rows `learn`."""
    single = [Score(name, _column(j)) for j, name in enumerate(one.names)]
    a, b = one.rows(learn), two.rows(learn)
    learned = []
    for what, use in (("all released numbers", one.plain), ("all numbers and differences", np.ones_like(one.plain))):
        ratio = _likelihood_ratio(a, b, np.flatnonzero(use))
        if ratio is not None:
            learned.append(Score(f"the log-likelihood ratio learned from {what}", ratio))
    if a.shape[1]:
        learned.append(Score("the linear score that separates both streams best", _linear(a, b)))
    return [*single, *learned]


def _column(j: int) -> Callable[[Floats], Floats]:
    return lambda rows: rows[:, j]


def _likelihood_ratio(a: Floats, b: Floats, use: NDArray[np.intp]) -> Callable[[Floats], Floats] | None:
    """The sum over columns of the log-ratio of binned frequencies: the best score there is for independent columns.

    Of columns that tell the same (a measurement and the estimate made of it) only the strongest is used.
    """
    parts: list[tuple[int, Floats, Floats, float]] = []
    for j in use:
        edges = _edges(a[:, j], b[:, j])
        f, g = (np.bincount(_bin(x[:, j], edges), minlength=len(edges) + 2) for x in (a, b))
        weights = np.log((f + 1) / (g + 1)) - np.log((len(a) + 1) / (len(b) + 1))
        strength = float(((f - g) ** 2 / (f + g + 1e-9)).sum())  # chi squared of "both streams alike"
        if strength > stats.chi2.isf(_CHANCE, np.count_nonzero(f + g) - 1):
            parts.append((int(j), edges, weights, strength))
    parts.sort(key=lambda part: -part[3])
    kept: list[tuple[int, Floats, Floats, float]] = []
    for part in parts:
        if all(_apart(a[:, part[0]], a[:, other[0]]) for other in kept):
            kept.append(part)
    if len(kept) < 2:
        return None

    def score(rows: Floats) -> Floats:
        total = np.zeros(len(rows))
        for j, edges, weights, _ in kept:
            total += weights[_bin(rows[:, j], edges)]
        return total

    return score


def _apart(x: Floats, y: Floats) -> bool:
    """Whether two columns are nearly uncorrelated, as independent noises are."""
    both = ~(np.isnan(x) | np.isnan(y)) & np.isfinite(x) & np.isfinite(y)
    u, v = x[both], y[both]
    if u.size < 10 or u.std() == 0 or v.std() == 0:
        return bool(np.mean(np.isnan(x) == np.isnan(y)) < 0.95)
    return bool(abs(np.corrcoef(u, v)[0, 1]) < 0.3)


def _edges(x: Floats, y: Floats) -> Floats:
    both = np.concatenate([x, y])
    finite = both[np.isfinite(both)]
    if not finite.size:
        return np.empty(0)
    values = np.unique(finite)
    if len(values) <= _BINS:
        return values
    return np.unique(np.quantile(finite, np.linspace(0, 1, _BINS + 1)[1:-1]))


def _bin(x: Floats, edges: Floats) -> NDArray[np.intp]:
    """Bin 0 is below every edge; the last one holds what is no number."""
    return np.where(np.isnan(x), len(edges) + 1, np.searchsorted(edges, x, side="right"))


def _linear(a: Floats, b: Floats) -> Callable[[Floats], Floats]:
    """Ridge regression of which stream a run came from, on columns cut at their 1 % and 99 % quantiles."""
    both = np.concatenate([a, b])
    finite = np.where(np.isfinite(both), both, np.nan)
    some = np.isfinite(finite).any(axis=0)
    low, high = np.zeros(both.shape[1]), np.zeros(both.shape[1])
    low[some], high[some] = np.nanquantile(finite[:, some], [0.01, 0.99], axis=0)

    def cut(rows: Floats) -> Floats:
        return np.clip(np.where(np.isnan(rows), low, rows), low, high)

    table = cut(both)
    mean, deviation = table.mean(axis=0), table.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    standard = (table - mean) / deviation
    target = np.repeat([1.0, -1.0], [len(a), len(b)])
    gram = standard.T @ standard + 1e-3 * len(both) * np.eye(standard.shape[1])
    weights = np.linalg.solve(gram, standard.T @ target)

    def score(rows: Floats) -> Floats:
        scores: Floats = ((cut(rows) - mean) / deviation) @ weights
        return scores

    return score
