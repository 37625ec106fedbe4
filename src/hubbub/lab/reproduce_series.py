"""The tables and plots of `hubbub reproduce fast`."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hubbub.errors import InvalidInput
from hubbub.lab import fast12
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


@dataclass(frozen=True, slots=True)
class Table:
    """A title, columns and rows of cells."""

    title: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class Found:
    """What an experiment found: the rows as numbers, and as tables with a closing word."""

    rows: list[dict[str, Any]]
    tables: list[Table]
    words: str


def fast_tables(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> Found:
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
    found = run_points(points, 10, seed=seed, done=done)
    for figure, (words, axis) in FIGURES.items():
        picked = [p for p in found if p["figure"] == figure]
        if picked:
            lines = list(dict.fromkeys(p["line"] for p in picked))
            by = {(p["line"], p["value"]): p for p in picked}
            values = list(dict.fromkeys(p["value"] for p in picked))
            cells = [[_x(x), *(_cell(by[line, x], "relative_error") for line in lines)] for x in values]
            tables.append(Table(f"Figure {figure}: {words}", [axis, *lines], cells))
    tables.append(Table("What the paper states", ["figure", "the paper", "here"], claims(found, rows)))
    words = (
        f"Mean ± standard error over {runs} runs (10 in Figures 3.4 to 3.9), at the level of a person over the whole "
        "series. `zeros` releases nothing but zeros; `hindsight` is sample-and-hold with the number of samples that "
        "was best afterwards, which nobody can know before; `dft` sees the whole series at once, and its interval is "
        "of the noise alone. The paper draws its figures without numbers: what its text states is in the last table."
    )
    return Found(rows + found, tables, words)


def _x(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def write_rows(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    """All rows as CSV."""
    fields = list(dict.fromkeys(key for row in rows for key in row))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=fields)
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written: {error.strerror}.", "Choose another folder.") from None
    return path


def write_fast(folder: Path, rows: list[dict[str, Any]]) -> list[Path]:
    """The rows as CSV, a plot of error against epsilon for each series, and one for each figure on parameters."""
    from hubbub.lab.plots import lines

    paths = [write_rows(folder, "fast.csv", rows)]

    def plot(
        name: str, title: str, x: str, y: str, points: dict[str, list[tuple[Any, float, float]]], log: bool
    ) -> None:
        path = folder / f"fast_{name.replace(' ', '_')}.html"
        lines(path, title, x, y, points, log_x=log, log_y=y == "error")
        paths.append(path)

    for name in dict.fromkeys(row["series"] for row in rows if "series" in row):
        picked = [row for row in rows if row.get("series") == name]
        points = _lines(picked, "method", "epsilon", "relative_error")
        plot(name, f"{name}: average relative error (Figures 3.9 and 3.10)", "epsilon", "error", points, True)
    for figure, (words, axis) in FIGURES.items():
        picked = [row for row in rows if row.get("figure") == figure]
        if picked:
            numbers = axis not in ("series", "interval")
            points = _lines(picked, "line", "value", "relative_error")
            plot(f"figure_{figure}", f"Figure {figure}: {words}", axis, "error", points, numbers)
    for figure, measure in (("3.11", "f1"), ("3.12", "spearman")):
        picked = [row for row in rows if measure in row and row["epsilon"] == 1.0]
        if picked:
            points = _lines(picked, "method", "series", measure)
            plot(f"figure_{figure}", f"Figure {figure}: {MEASURES[measure]}", "series", measure, points, False)
    return paths


def _lines(rows: list[dict[str, Any]], line: str, x: str, y: str) -> dict[str, list[tuple[Any, float, float]]]:
    points: dict[str, list[tuple[Any, float, float]]] = {}
    for row in rows:
        points.setdefault(row[line], []).append((row[x], row[y], row.get(f"{y}_error", 0.0)))
    return points


def _cell(row: dict[str, Any], measure: str) -> str:
    if measure not in row:
        return "–"
    error = row.get(f"{measure}_error")
    return f"{row[measure]:.3f}" + (f" ± {error:.3f}" if error else "")
