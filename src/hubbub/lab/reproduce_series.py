"""The tables and plots of `hubbub reproduce fast`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hubbub.lab import fast12
from hubbub.lab.experiment_result import ExperimentResult, Lines, Plot, Row, Table, points_of
from hubbub.lab.experiment_result import Point as Drawn
from hubbub.lab.fast_claims import claims
from hubbub.lab.fast_parameters import FIGURES, Point, filter_points, parameter_points, run_points
from hubbub.lab.public_series import load

QUICK_SERIES = ("unemployment", "influenza", "bicycles", "sinusoid")
ALL_SERIES = ("unemployment", "influenza", "bicycles", "all unemployed", "linear", "logistic", "sinusoid")
MEASURES = {
    "relative_error": "average relative error (Figures 3.9 and 3.10)",
    "f1": "F1 of rises (Figure 3.11)",
    "spearman": "Spearman's rank correlation (Figure 3.12)",
    "coverage": "share of true counts inside the 95 % interval",
}


def fast_tables(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """Every series and method, the figures on FAST's parameters, and what the paper states beside what we find."""
    names = QUICK_SERIES if quick else ALL_SERIES
    methods = [m for m in fast12.METHODS if not (quick and m == "fast particles")]
    runs = 2 if quick else 20
    series = [load(name) for name in names]
    points: list[Point] = [] if quick else [*parameter_points(), *filter_points(series)]
    total(len(names) * len(methods) * len(fast12.EPSILONS) + len(points))
    rows = []
    for one in series:
        rows += fast12.compare(one, runs, methods=methods, seed=seed, done=done)
    tables = []
    for measure, words in MEASURES.items():
        cells: list[list[str]] = []
        for name in names:
            for epsilon in fast12.EPSILONS:
                picked = [r for r in rows if r["series"] == name and r["epsilon"] == float(epsilon)]
                cells.append([f"{name}, {epsilon}", *(_cell(row, measure) for row in picked)])
        tables.append(Table(words, ["series, epsilon", *methods], cells))
    measured = run_points(points, 10, seed=seed, done=done)
    for figure, (words, axis) in FIGURES.items():
        picked = [p for p in measured if p["figure"] == figure]
        if picked:
            lines = list(dict.fromkeys(p["line"] for p in picked))
            by = {(p["line"], p["value"]): p for p in picked}
            values = list(dict.fromkeys(p["value"] for p in picked))
            cells = [[_x(x), *(_cell(by[line, x], "relative_error") for line in lines)] for x in values]
            tables.append(Table(f"Figure {figure}: {words}", [axis, *lines], cells))
    tables.append(Table("What the paper states", ["figure", "the paper", "here"], claims(measured, rows)))
    words = (
        f"Mean ± standard error over {runs} runs (10 in Figures 3.4 to 3.9), at the level of a person over the whole "
        "series. `zeros` releases nothing but zeros; `hindsight` is sample-and-hold with the number of samples that "
        "was best afterwards, which nobody can know before; `dft` sees the whole series at once, and its interval is "
        "of the noise alone. The paper draws its figures without numbers: what its text states is in the last table."
    )
    return ExperimentResult(rows + measured, tables, words, fast_plots(rows + measured))


def _x(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def fast_plots(rows: Sequence[Row]) -> list[Plot]:
    """Error against epsilon for each series, and one plot for each figure on parameters."""
    plots: list[Plot] = []

    def plot(name: str, title: str, x: str, y: str, points: dict[str, list[Drawn]], log: bool) -> None:
        plots.append(Lines(name.replace(" ", "_"), title, x, y, points, log_x=log, log_y=y == "error"))

    for name in dict.fromkeys(row["series"] for row in rows if "series" in row):
        picked = [row for row in rows if row.get("series") == name]
        points = points_of(picked, "method", "epsilon", "relative_error", "relative_error_error")
        plot(name, f"{name}: average relative error (Figures 3.9 and 3.10)", "epsilon", "error", points, True)
    for figure, (words, axis) in FIGURES.items():
        picked = [row for row in rows if row.get("figure") == figure]
        if picked:
            numbers = axis not in ("series", "interval")
            points = points_of(picked, "line", "value", "relative_error", "relative_error_error")
            plot(f"figure_{figure}", f"Figure {figure}: {words}", axis, "error", points, numbers)
    for figure, measure in (("3.11", "f1"), ("3.12", "spearman")):
        picked = [row for row in rows if measure in row and row["epsilon"] == 1.0]
        if picked:
            points = points_of(picked, "method", "series", measure, f"{measure}_error")
            plot(f"figure_{figure}", f"Figure {figure}: {MEASURES[measure]}", "series", measure, points, False)
    return plots


def _cell(row: dict[str, Any], measure: str) -> str:
    if measure not in row:
        return "–"
    error = row.get(f"{measure}_error")
    return f"{row[measure]:.3f}" + (f" ± {error:.3f}" if error else "")
