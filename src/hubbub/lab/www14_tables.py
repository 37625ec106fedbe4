"""The tables and plots of `hubbub reproduce www14`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hubbub.lab import experiment
from hubbub.lab.experiment import MEASURES, METHODS
from hubbub.lab.experiment_result import ExperimentResult, Lines, Row, Table, points_of
from hubbub.lab.msnbc import msnbc


def www14_tables(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """One table and one plot a measure, every method in it."""
    size = experiment.Size.quick() if quick else experiment.Size.full()
    pool = msnbc()
    total(experiment.steps(size))
    rows = experiment.run_www14(pool, size, seed=seed, done=done)
    epsilons = sorted({row["epsilon"] for row in rows})
    by = {(row["epsilon"], row["method"]): row for row in rows}
    tables, plots = [], []
    for number, (name, words) in enumerate(MEASURES.items(), 4):
        figure = f"{words} (the paper's figure {number})" if number < 7 else words
        cells = [[f"{epsilon:g}", *(_cell(by[epsilon, method], name) for method in METHODS)] for epsilon in epsilons]
        tables.append(Table(figure, ["epsilon", *METHODS], cells))
        points, steep = points_of(rows, "method", "epsilon", name, f"{name}_error"), name in STEEP
        plots.append(Lines(name, words, "epsilon", words, points, log_x=True, log_y=steep))
    words = (
        f"Mean ± standard error over {rows[0]['tests']} test sets ({size.trainings} training set"
        f"{'s' if size.trainings > 1 else ''}); [in brackets] what the paper states. The paper's 18th page, inactive "
        "sessions, is left out: its noise would not have protected anyone."
    )
    return ExperimentResult(rows, tables, words, plots)


STEEP = ("relative_error", "divergence")


def _cell(row: Row, name: str) -> str:
    paper = row[f"{name}_paper"]
    return f"{row[name]:.4f} ± {row[f'{name}_error']:.4f}" + (f" [{paper}]" if paper else "")
