"""`adaptive` beside the simplest methods on a whole set of series: to tune by one set, and to check by the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hubbub.lab import fast12
from hubbub.lab.experiment_result import ExperimentResult, Table
from hubbub.lab.reproduce_series import fast_plots
from hubbub.lab.series_sets import series_set

METHODS = ("zeros", "uniform", "sample", "hindsight", "adaptive")


def set_tables(
    name: str,
    quick: bool,
    seed: int,
    total: Callable[[int], Any],
    done: Callable[[], Any],
) -> ExperimentResult:
    """One line per series and epsilon: the error of each method, how often intervals held, how many looks it took."""
    chosen = series_set(name)
    runs = 2 if quick else 10
    total(len(chosen) * len(METHODS) * len(fast12.EPSILONS))
    rows: list[dict[str, Any]] = []
    for load in chosen.values():
        rows += fast12.compare(load(), runs, methods=METHODS, seed=seed, done=done)
    cells: list[list[str]] = []
    for start in range(0, len(rows), len(METHODS)):
        group = rows[start : start + len(METHODS)]
        ours, best = group[-1], group[-2]
        cells.append(
            [
                f"{ours['series']}, {ours['epsilon']:g}",
                *(f"{row['relative_error']:.3f}" for row in group[:-1]),
                f"{ours['relative_error']:.3f} ± {ours['relative_error_error']:.3f}",
                f"{ours['relative_error'] / best['relative_error']:.2f}",
                f"{100 * ours['coverage']:.0f} %",
                f"{ours['looks']:.0f}",
            ]
        )
    columns = ["series, epsilon", *METHODS, "to hindsight", "coverage", "looks"]
    table = Table(f"average relative error on the {name} series", columns, cells)
    return ExperimentResult(rows, [table, _summary(rows)], _words(runs), fast_plots(rows))


def _summary(rows: list[dict[str, Any]]) -> Table:
    """Over all series, for each epsilon and together."""
    cells: list[list[str]] = []
    epsilons = sorted({row["epsilon"] for row in rows})
    for among in (*([e] for e in epsilons), epsilons):
        picked = {
            method: [row for row in rows if row["epsilon"] in among and row["method"] == method]
            for method in ("adaptive", "hindsight")
        }
        ours, best = (np.array([row["relative_error"] for row in picked[m]]) for m in ("adaptive", "hindsight"))
        covered = np.array([row["coverage"] for row in picked["adaptive"]])
        cells.append(
            [
                ", ".join(f"{epsilon:g}" for epsilon in among),
                f"{np.exp(np.log(ours).mean()):.3f}",
                f"{np.exp(np.log(best).mean()):.3f}",
                f"{np.exp(np.log(ours / best).mean()):.3f}",
                f"{ours.mean() / best.mean():.3f}",
                f"{100 * covered.mean():.1f} %",
                f"{100 * covered.min():.0f} %",
                f"{int(((covered >= 0.88) & (covered <= 0.99)).sum())} of {len(covered)}",
            ]
        )
    columns = ["epsilon", "adaptive", "hindsight", "ratio", "ratio of means", "coverage", "least", "88 to 99 %"]
    return Table("over all series (geometric means)", columns, cells)


def _words(runs: int) -> str:
    return (
        f"Means over {runs} runs, at the level of a person over the whole series. `hindsight` is sample-and-hold with "
        "the number of samples that was best afterwards, which nobody can know before; coverage is of 95 % intervals. "
        "Choose by `tuning`; look at `held-out` only when all is chosen."
    )
