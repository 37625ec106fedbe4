"""What Goetz 2012 says about its tables and figures in sections 6.6 and 6.7, each with the figures of this run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hubbub.lab.zealous_experiment import EPSILON, HIDDEN, ORIGINAL, PAPER, Findings, Logs, Size

SEARCH = ("keywords", "queries", "clicks", "query pairs")
RANKING = ("NDCG", "MAP", "precision")
Found = Iterator[tuple[str, bool, str]]
"""The paper's words, whether it is so here, and the numbers."""


class Run(NamedTuple):
    """What was run, and what came of it."""

    found: Findings
    logs: Logs
    size: Size

    def by_m(self, log: str, measure: str) -> list[float]:
        return [self.found.value(log, PAPER, measure, max_items=m, epsilon=EPSILON) for m in self.size.max_items]

    def by_epsilon(self, log: str, measure: str, m: int) -> list[float]:
        return [self.found.value(log, PAPER, measure, max_items=m, epsilon=e) for e in self.size.epsilons]

    def hits_error(self, *several: int) -> float:
        """The standard error of a difference of hit probabilities at these m."""
        cell = {"log": "keywords", "method": PAPER, "measure": "hits", "epsilon": EPSILON}
        return math.hypot(*(self.found.error(**cell, max_items=m) for m in several))

    def by_k(self, log: str, measure: str) -> list[float]:
        return [self.found.value(log, HIDDEN, measure, k=k) for k in self.size.hidden]


def statements(found: Findings, logs: Logs, size: Size) -> list[list[str]]:
    """All of them, in the paper's order. They are about ZEALOUS with the probabilistic guarantee."""
    run = Run(found, logs, size)
    return [
        [words, "yes" if holds else "no", numbers]
        for part in (_releases, _precision, _shapes, _differences, _caching, _substitution)
        for words, holds, numbers in part(run)
    ]


def _falls(values: Sequence[float], slack: float = 0.01) -> bool:
    """Never up by more than the slack of it, which noise may be."""
    return all(after <= before * (1 + slack) for before, after in pairwise(values))


def _releases(run: Run) -> Found:
    """Tables 6.3 and 6.4."""
    items = {log: run.by_m(log, "published") for log in SEARCH}
    lost = {log: 1 - values[-1] / values[0] for log, values in items.items()}
    told = ", ".join(f"{log} {100 * share:.0f} %" for log, share in lost.items())
    rising = [log for log, values in items.items() if not _falls(values)]
    ms = f"from m = {run.size.max_items[0]} to {run.size.max_items[-1]}"
    where = f"; not for {', '.join(rising)}" if rising else ""
    yield "the number of items falls as m grows (Table 6.3)", not rising, f"{ms} by {told}{where}"
    yield (
        "it falls most where users have few items: 55 % of keywords, 96 % of query pairs",
        lost["keywords"] < lost["queries"] < lost["query pairs"],
        told,
    )
    tips = {log: run.size.max_items[int(np.argmax(run.by_m(log, "total")))] for log in SEARCH}
    means = {log: run.logs.domains[log].per_user for log in SEARCH}
    yield (
        "total counts rise with m up to about the average number of items of a user, then fall",
        all(tips[log] in _near(means[log], run.size.max_items) for log in SEARCH),
        "; ".join(f"{log}: most at m = {tips[log]}, average {means[log]:.0f}" for log in SEARCH),
    )


def _near(mean: float, tried: Sequence[int]) -> list[int]:
    """The tried values on both sides of the mean."""
    below, above = [m for m in tried if m <= mean], [m for m in tried if m >= mean]
    return [*below[-1:], *above[:1]]


def _precision(run: Run) -> Found:
    """Figures 6.2 and 6.3."""
    worse = []
    for log in SEARCH:
        for m in run.size.max_items:
            cell = {"max_items": m, "epsilon": EPSILON}
            shares = [run.found.value(log, PAPER, f"missing, top {j}", **cell) for j in run.logs.domains[log].tops]
            worse.append(all(a <= b for a, b in pairwise(shares)))
    yield "coverage gets worse as j grows", all(worse), f"in {sum(worse)} of {len(worse)} curves"
    best = {
        (log, j): run.size.max_items[int(np.argmin(run.by_m(log, f"KL, top {j}")))]
        for log in SEARCH
        for j in run.logs.domains[log].tops
    }
    small = [best[log, run.logs.domains[log].tops[0]] for log in SEARCH]
    large = [best[log, run.logs.domains[log].tops[-1]] for log in SEARCH]
    told = "; ".join(f"{log} " + ", ".join(f"{best[log, j]}" for j in run.logs.domains[log].tops) for log in SEARCH)
    tops = ", ".join(map(str, run.logs.domains["keywords"].tops))
    yield "for small j an m above 1 has the best precision", min(small) > 1, f"best m by KL for top {tops}: {told}"
    yield "for large j m = 1 has the best precision", max(large) == 1, f"the same; at the largest j {large}"
    yield (
        "so there are two regimes: m = 1 for coverage, a larger one for the precision of the first",
        all(a >= b for a, b in zip(small, large, strict=True)) and small != large,
        f"best m for the smallest j {small}, for the largest {large}",
    )


def _shapes(run: Run) -> Found:
    """Figure 6.4."""
    slopes = {}
    for log in SEARCH:
        first = run.found.shapes[log, PAPER]
        shown = np.flatnonzero(first)
        true, told = run.logs.domains[log].true[shown], first[shown]
        slopes[log] = float(np.corrcoef(np.log(true), np.log(told))[0, 1]) if len(shown) > 2 else float("nan")
    yield (
        "the power law is well preserved",
        min(slopes.values()) > 0.8,
        "correlation of log counts: " + ", ".join(f"{log} {value:.2f}" for log, value in slopes.items()),
    )
    once = {log: int(np.count_nonzero(run.logs.domains[log].true == 1)) for log in SEARCH}
    times = once["clicks"] / max(once["keywords"], 1)
    yield (
        "an order of magnitude more clicks than keywords have a count of one",
        times > math.sqrt(10),
        f"{once['clicks']:,} clicks, {once['keywords']:,} keywords: {times:.1f} times",
    )


def _differences(run: Run) -> Found:
    """Figure 6.5."""
    logs_here = [log for log in SEARCH if log != "clicks"]
    strong = {log: run.by_epsilon(log, "difference", 1) for log in logs_here}
    weak = {log: run.by_k(log, "difference") for log in logs_here}
    yield (
        "the average difference falls as epsilon grows",
        all(_falls(values) for values in strong.values()),
        "; ".join(f"{log} {values[0]:.3g} to {values[-1]:.3g}" for log, values in strong.items()),
    )
    yield (
        "it falls as k falls",
        all(_falls(values[::-1]) for values in weak.values()),
        "; ".join(f"{log} {values[-1]:.3g} to {values[0]:.3g}" for log, values in weak.items()),
    )
    above = [x for epsilon, x in zip(run.size.epsilons, strong["keywords"], strict=True) if epsilon > 2]
    least = min(weak["keywords"])
    yield (
        "for keywords ZEALOUS is closer than k-anonymity at every epsilon above 2",
        max(above) < least,
        f"ZEALOUS {max(above):.3g} to {min(above):.3g}, k-anonymity {least:.3g} to {max(weak['keywords']):.3g}",
    )
    for words, log in (
        ("for queries epsilon = 6 is about like k = 60", "queries"),
        ("for query pairs k-anonymity is closer", "query pairs"),
    ):
        place = int(np.argmin(np.abs(np.array(run.size.epsilons) - 6)))
        nearest = run.size.hidden[int(np.argmin(np.abs(np.array(weak[log]) - strong[log][place])))]
        holds = 30 <= nearest <= 120 if log == "queries" else max(weak[log]) < min(strong[log])
        ranges = f"ZEALOUS {strong[log][0]:.3g} to {strong[log][-1]:.3g}, k {weak[log][-1]:.3g} to {weak[log][0]:.3g}"
        yield words, holds, f"{ranges}; epsilon = {run.size.epsilons[place]} is most like k = {nearest}"


def _caching(run: Run) -> Found:
    """Figure 6.6."""
    strong, weak = run.by_epsilon("keywords", "hits", 6), run.by_k("keywords", "hits")
    by_m = dict(zip(run.size.max_items, run.by_m("keywords", "hits"), strict=True))
    full = run.found.value("keywords", ORIGINAL, "hits")
    yield (
        "ZEALOUS (m = 6) has more hits than k-anonymity for a range of parameters",
        max(strong) > min(weak),
        f"ZEALOUS {min(strong):.3f} to {max(strong):.3f}, k {min(weak):.3f} to {max(weak):.3f}, original {full:.3f}",
    )
    yield (
        "more privacy costs few hits",
        strong[0] > 0.9 * strong[-1],
        ", ".join(f"epsilon {epsilon} {hits:.3f}" for epsilon, hits in zip(run.size.epsilons, strong, strict=True)),
    )
    most = max(by_m, key=lambda m: by_m[m])
    last = run.size.max_items[-1]
    told = ", ".join(f"m = {m} {hits:.3f}" for m, hits in by_m.items())
    yield "m = 6 has more hits than m = 1", by_m[6] - by_m[1] > 2 * run.hits_error(6, 1), told
    fall = by_m[most] - by_m[last]
    error = run.hits_error(most, last)
    yield (
        "with still higher m hits fall",
        fall > 2 * error,
        f"most at m = {most}, at {last} less by {fall:.3f} ± {error:.3f}",
    )


def _substitution(run: Run) -> Found:
    """Figures 6.7 and 6.8."""
    names = [f"{name}, top {j}" for name in RANKING for j in (2, 5)]
    strong = {name: run.by_epsilon("query pairs", name, 1) for name in names}
    weak = {name: run.by_k("query pairs", name) for name in names}
    spread = max(float(np.nanmax(values) - np.nanmin(values)) for values in strong.values())
    spread_k = max(float(np.nanmax(values) - np.nanmin(values)) for values in weak.values())
    yield (
        "epsilon and k hardly matter to precision, MAP and NDCG",
        max(spread, spread_k) < 0.1,
        f"over all epsilon they move by {spread:.2f} at most, over all k by {spread_k:.2f}",
    )
    behind = {name: float(np.nanmean(weak[name]) - np.nanmean(strong[name])) for name in names}
    yield (
        "on these measures ZEALOUS is like k-anonymity",
        max(behind.values()) < 0.1,
        "k-anonymity ahead by " + ", ".join(f"{name} {gap:+.2f}" for name, gap in behind.items()),
    )
    covered = {
        j: (run.by_epsilon("query pairs", f"coverage, top {j}", 1)[-1],
            run.by_k("query pairs", f"coverage, top {j}")[0])
        for j in (2, 5)
    }  # fmt: skip
    yield (
        "the coverage of ZEALOUS is not good",
        all(ours < 0.8 * theirs for ours, theirs in covered.values()),
        "; ".join(
            f"top {j}: {ours:.2f} at epsilon {run.size.epsilons[-1]}, {theirs:.2f} at k = {run.size.hidden[0]}"
            for j, (ours, theirs) in covered.items()
        ),
    )
    one, six = ([x for j in (2, 5) for x in run.by_epsilon("query pairs", f"coverage, top {j}", m)] for m in (1, 6))
    yield (
        "a larger m has less coverage (Figure 6.8)",
        all(a >= b for a, b in zip(one, six, strict=True)),
        f"m = 1 {min(one):.2f} to {max(one):.2f}, m = 6 {min(six):.2f} to {max(six):.2f}",
    )
