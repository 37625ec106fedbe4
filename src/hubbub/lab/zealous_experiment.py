"""The experiments of Goetz 2012, sections 6.6 and 6.7, with the methods that find more beside ZEALOUS.

Every cell (log, method, `max_items`, epsilon) is published some times, and everything that the paper looks at is
measured of each list. `delta` is the paper's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hubbub.itemlogs.quality import Counts
from hubbub.lab.experiment_result import Row
from hubbub.lab.item_data import kosarak_log, msnbc_log
from hubbub.lab.item_tables import METHODS
from hubbub.lab.search_log import simulated_search_log
from hubbub.lab.zealous_domains import Domain, Measures, SearchDomains
from hubbub.noise import simulation

DELTA = "0.001"
EPSILON = 5
"""Of the tables and figures that vary `max_items`: the paper does not say which it takes there."""

ORIGINAL = "original log"
HIDDEN = "k-query anonymity"
PAPER = "zealous, probabilistic"
"""The paper's own algorithm."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run."""

    users: int = 50_000
    vocabulary: int = 200_000
    popular: int = 200_000
    public: bool = True
    runs: int = 2
    asked: int = 5_000
    memory: int = 2**28
    max_items: tuple[int, ...] = (1, 2, 4, 6, 8, 20, 40)
    epsilons: tuple[int, ...] = (1, 2, 6, 10)
    hidden: tuple[int, ...] = (2, 5, 10, 60, 200)

    @classmethod
    def quick(cls) -> Size:
        return cls(
            users=5_000, vocabulary=20_000, popular=20_000, public=False, runs=1, asked=500, memory=2**26,
            max_items=(1, 6, 20), epsilons=(1, 5), hidden=(2, 10, 40),
        )  # fmt: skip

    @property
    def cells(self) -> list[tuple[int, int]]:
        """`max_items` and epsilon: one varies where the other stands still."""
        sweeps = [(m, EPSILON) for m in self.max_items]
        return list(dict.fromkeys(sweeps + [(m, epsilon) for m in (1, 6) for epsilon in self.epsilons]))


@dataclass(frozen=True, eq=False)
class Logs:
    """All domains, and histograms of the k-query anonymous logs by k."""

    domains: dict[str, Domain]
    hidden: dict[int, dict[str, Counts]]


@dataclass(frozen=True, eq=False)
class Findings:
    """One row for each cell and measure, and histograms for the figure of their shapes."""

    rows: list[Row] = field(default_factory=list)
    shapes: dict[tuple[str, str], Counts] = field(default_factory=dict)
    _places: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def add(
        self, log: str, method: str, measured: list[Measures], max_items: int | None = None, epsilon: int | None = None,
        k: int | None = None,
    ) -> None:  # fmt: skip
        """The mean of some runs and its standard error, for each measure; none where no run has it."""
        cell = {"log": log, "method": method, "max_items": max_items, "epsilon": epsilon, "k": k}
        for name in measured[0]:
            values = [one[name] for one in measured if not math.isnan(one[name])]
            error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
            self._places[log, method, name, max_items, epsilon, k] = len(self.rows)
            mean = float(np.mean(values)) if values else None
            self.rows.append({**cell, "measure": name, "value": mean, "error": error})

    def value(
        self, log: str, method: str, measure: str, max_items: int | None = None, epsilon: int | None = None,
        k: int | None = None,
    ) -> float:  # fmt: skip
        """The one number of a cell; nan where there is none."""
        value = self.rows[self._places[log, method, measure, max_items, epsilon, k]]["value"]
        return math.nan if value is None else float(value)

    def error(self, **cell: Any) -> float:
        """The standard error of the same."""
        names = ("log", "method", "measure", "max_items", "epsilon", "k")
        return float(self.rows[self._places[tuple(cell.get(name) for name in names)]]["error"])


def made_logs(size: Size, seed: int, done: Callable[[], Any]) -> Logs:
    """The simulated search log, and the public ones."""
    search = SearchDomains(
        simulated_search_log(size.users, size.vocabulary, size.popular, seed), size.memory, size.asked
    )
    domains = search.domains()
    done()
    hidden: dict[int, dict[str, Counts]] = {}
    for k in size.hidden:
        hidden[k] = search.anonymous(domains, k)
        done()
    for name, load in {"kosarak_head": kosarak_log, "msnbc": msnbc_log}.items() if size.public else ():
        domains[name] = Domain(name, load())
        for k, histograms in hidden.items():
            histograms[name] = domains[name].hidden_below(k)
    return Logs(domains, hidden)


def steps(size: Size) -> int:
    return 1 + len(size.hidden) + (4 + 2 * size.public) * (1 + len(METHODS) * len(size.cells))


def run_zealous(size: Size, logs: Logs, seed: int, done: Callable[[], Any]) -> Findings:
    """Every method on every log; noise and lots are repeatable."""
    found = Findings()
    for name, domain in logs.domains.items():
        found.add(name, ORIGINAL, [domain.measures(domain.true)])
        found.shapes[name, ORIGINAL] = domain.true
        for k, histograms in logs.hidden.items():
            if name in histograms:
                found.add(name, HIDDEN, [domain.measures(histograms[name])], k=k)
                found.shapes[name, f"k = {k}"] = histograms[name]
        done()
        for method, make in METHODS.items():
            for m, epsilon in size.cells:
                with simulation(seed) as source:
                    releaser = make(epsilon, DELTA, m, domain.users, source)
                    lists = [domain.histogram(releaser.publish(domain.log)) for _ in range(size.runs)]
                found.add(name, method, [domain.measures(one) for one in lists], max_items=m, epsilon=epsilon)
                if (m, epsilon) == (1, EPSILON):
                    found.shapes[name, method] = lists[0]
                done()
    return found
