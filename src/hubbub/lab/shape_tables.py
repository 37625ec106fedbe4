"""The tables and plots of `hubbub reproduce shapes`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from hubbub.lab.experiment_result import ExperimentResult, Lines, Row, Table
from hubbub.lab.shape_experiment import METHODS, TOLD, Size, run_long, run_shapes, steps

_MEASURES = {
    "coverage": "coverage of the 95 % interval on the page that it happens to",
    "error": "mean error there, in that of plain noise",
    "width": "width of the interval there, in that of plain noise",
}


def shape_tables(
    which: str, quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]
) -> ExperimentResult:
    """One table a measure and budget, every method in it, each cell the span over pages of all sizes."""
    size = Size.quick() if quick else Size()
    total(steps(size, which))
    rows = run_shapes(size, which, seed, done)
    long = run_long(size, which, seed, done)
    tables = [_shapes(rows, epsilon, name, words) for epsilon in size.epsilons for name, words in _MEASURES.items()]
    tables += [_noticing(rows, epsilon) for epsilon in size.epsilons]
    tables += [_long(long, "relative_error", "average relative error"), _long(long, "coverage", "coverage")]
    sites = ", ".join(dict.fromkeys(row["site"] for row in rows))
    factors = ", ".join(f"{factor:g}" for factor in size.sizes)
    words = (
        f"Sites ({which}): {sites}; pages of {factors} noise scales; runs: {size.repeats}. A cell is the least and the "
        "largest over sizes, means over sites and runs."
    )
    return ExperimentResult(rows, tables, words, [_plot(rows, epsilon) for epsilon in size.epsilons], {"long": long})


def _of(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def _shapes(rows: Sequence[Row], epsilon: float, name: str, words: str) -> Table:
    cells = []
    for shape in TOLD:
        line = [shape]
        for method in METHODS:
            these = _of(rows, shape=shape, epsilon=epsilon, method=method)
            means = [fmean(row[name] for row in _of(these, size=size)) for size in {row["size"] for row in these}]
            line.append(f"{min(means):.2f} to {max(means):.2f}")
        cells.append(line)
    return Table(f"epsilon {epsilon:g}: {words}", ["shape", *METHODS], cells)


def _noticing(rows: Sequence[Row], epsilon: float) -> Table:
    columns = {
        "elsewhere": "coverage elsewhere", "width_elsewhere": "width elsewhere", "ticks_to_notice": "ticks to notice",
        "false_alarms": "false alarms in 1,000 ticks",
    }  # fmt: skip
    cells = []
    for method in METHODS:
        these = _of(rows, epsilon=epsilon, method=method)
        means = (fmean(row[name] for row in these if row[name] is not None) for name in columns)
        cells.append([method, *(f"{mean:.2f}" for mean in means)])
    return Table(f"epsilon {epsilon:g}: all shapes together", ["method", *columns.values()], cells)


def _long(rows: Sequence[Row], name: str, words: str) -> Table:
    cells = []
    for site in dict.fromkeys(row["site"] for row in rows):
        for epsilon in dict.fromkeys(row["epsilon"] for row in rows):
            values = (_of(rows, site=site, epsilon=epsilon, method=method)[0][name] for method in METHODS)
            cells.append([site, f"{epsilon:g}", *(f"{value:.3f}" for value in values)])
    title = f"whole sites in calm times, the later half of the ticks: {words}"
    return Table(title, ["site", "epsilon", *METHODS], cells)


def _plot(rows: Sequence[Row], epsilon: float) -> Lines:
    points = {
        method: [
            (shape, fmean(row["coverage"] for row in _of(rows, shape=shape, epsilon=epsilon, method=method)), 0.0)
            for shape in TOLD
        ]
        for method in METHODS
    }
    return Lines(f"coverage_{epsilon:g}", f"coverage at epsilon {epsilon:g}", "shape", "coverage", points)
