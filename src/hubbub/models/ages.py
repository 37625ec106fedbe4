"""How sessions move by their age, where some were watched only in part.

| symbol | here | meaning |
|---|---|---|
| M(k) | – | how sessions in their k-th tick move: n(k, j then i) / n(k, j), of visits whose next tick was watched |
| S | `total` | where sessions of all ages are once arrivals and departures balance |
| M | `matrix` | the chain of that mixture: M S + a = S holds exactly |

Taking all visits together would weigh ages as the log happens to hold them: too many young ones where it begins with a
crowd, too few old ones where it ends before sessions do. Visits of unknown age count where none of known age tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hubbub.filters.diagonal import Matrix
from hubbub.models.sessions import Sessions

Array = NDArray[np.float64]
_csr: Any = csr_array
_MOST = 256
"""Sessions older than this move as the average session does."""
_STEPS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """The chain of one age, and the pages at which sessions of that age were watched."""

    chain: Matrix
    seen: Array

    def __call__(self, cohort: Array, average: Matrix) -> Array:
        """Where a cohort of this age is a tick later; from pages without a watched visit it moves as `average` does."""
        after: Array = self.chain @ cohort + average @ np.where(self.seen > 0, 0.0, cohort)
        return after


class Ages:
    """The chains of all ages. `watched`: visits whose next tick the log covers; `known`: sessions of known age."""

    def __init__(self, sessions: Sessions, watched: NDArray[np.bool_], known: NDArray[np.bool_]) -> None:
        self._sessions, self._size = sessions, len(sessions.keys)
        self._goes_on = np.ones(len(sessions.visits), dtype=bool)
        self._goes_on[sessions.bounds[1:] - 1] = False
        age = np.arange(len(sessions.visits)) - np.repeat(sessions.bounds[:-1], sessions.lengths)
        told = np.flatnonzero(watched & np.repeat(known, sessions.lengths) & (age < _MOST))
        told = told[np.argsort(age[told], kind="stable")]
        ends = np.cumsum(np.bincount(age[told]))
        self._by_age = np.split(told, ends[:-1]) if len(told) else []
        self.average = self._step(np.flatnonzero(watched)).chain
        self.steps = [self._step(visits) for visits in self._by_age]

    def total(self, arrivals: Array) -> Array:
        """S: where sessions settle that begin like `arrivals` every tick."""
        return np.asarray(np.sum(self._cohorts(arrivals), axis=0))

    def matrix(self, arrivals: Array) -> Matrix:
        """M: how the balanced mixture of all ages moves; where nobody would be, as sessions did on average."""
        *cohorts, rest = self._cohorts(arrivals)
        total = np.sum(cohorts, axis=0) + rest
        weight = np.zeros(len(self._sessions.visits))
        for step, cohort, here in zip(self.steps, cohorts, self._by_age, strict=True):
            share = np.divide(cohort, step.seen, out=np.zeros(self._size), where=step.seen > 0)
            weight[here] = share[self._sessions.visits[here]]
            rest = rest + np.where(step.seen > 0, 0.0, cohort)
        rest, total = np.where(total > 0, rest, 1.0), np.where(total > 0, total, 1.0)
        flow = self._pairs(np.flatnonzero(weight), weight) + _csr(self.average.multiply(rest[None, :]))
        return _csr(flow.multiply(1.0 / total[None, :]))

    def together(self, crowd: Array, arrivals: Array) -> list[Array]:
        """Expected counts from tick 0 on, where a crowd begins at tick 0 and `arrivals` in every later tick."""
        old, new = self._cohorts(crowd), self._cohorts(arrivals)
        arrived, counts = np.zeros(self._size), [crowd]
        for first, later in zip(old[1:-1], new[:-1], strict=False):
            arrived = arrived + later
            counts.append(first + arrived)
        settled = not old[-1].any() and not new[-1].any()
        return [*counts, np.sum(new, axis=0)] if settled else counts

    def _cohorts(self, beginning: Array) -> list[Array]:
        """Where those who begin on these pages are at each age; last, all who are older, of one start every tick."""
        cohort, cohorts = beginning, []
        for step in self.steps:
            cohorts.append(cohort)
            cohort = step(cohort, self.average)
        older = cohort.copy()
        for _ in range(_STEPS):
            if cohort.sum() <= 1e-9 * older.sum():
                break
            cohort = self.average @ cohort
            older += cohort
        return [*cohorts, older]

    def _step(self, visits: NDArray[np.int64]) -> Step:
        seen = np.bincount(self._sessions.visits[visits], minlength=self._size).astype(np.float64)
        chain = self._pairs(visits, np.ones(len(self._sessions.visits)))
        return Step(_csr(chain.multiply(1.0 / np.maximum(seen, 1.0)[None, :])), seen)

    def _pairs(self, visits: NDArray[np.int64], weight: Array) -> Matrix:
        """How much each page followed each other page, of these visits."""
        here, pages = visits[self._goes_on[visits]], self._sessions.visits
        pairs = _csr((weight[here], (pages[here + 1], pages[here])), shape=(self._size, self._size))
        pairs.sum_duplicates()
        return pairs
