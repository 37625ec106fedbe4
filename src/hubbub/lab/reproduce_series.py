"""The tables that `hubbub reproduce fast` and `hubbub reproduce outbreaks` print."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hubbub.errors import InvalidInput
from hubbub.lab import fast12, outbreaks
from hubbub.lab.fast_parameters import run_parameters, settings
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
    """Every series and method; in full also FAST's parameters."""
    names = QUICK_SERIES if quick else ALL_SERIES
    methods = [m for m in fast12.METHODS if not (quick and m == "fast particles")]
    runs = 2 if quick else 20
    total(len(names) * len(methods) * len(fast12.EPSILONS) + (0 if quick else len(settings(1000))))
    rows = []
    for name in names:
        rows += fast12.compare(load(name), runs, methods=methods, seed=seed, done=done)
    tables = []
    for measure, words in MEASURES.items():
        cells: list[list[str]] = []
        for name in names:
            for epsilon in fast12.EPSILONS:
                picked = [r for r in rows if r["series"] == name and r["epsilon"] == float(epsilon)]
                cells.append([f"{name}, {epsilon}", *(_cell(row, measure) for row in picked)])
        tables.append(Table(words, ["series, epsilon", *methods], cells))
    if not quick:
        points = run_parameters(5, seed=seed, done=done)
        rows += points
        found = [[p["figure"], f"{p['value']:g}", _cell(p, "relative_error")] for p in points]
        tables.append(Table("FAST's parameters on the linear series", ["figure", "value", "relative error"], found))
    words = (
        f"Mean ± standard error over {runs} runs, at the level of a person over the whole series. `zeros` releases "
        "nothing but zeros; `hindsight` is sample-and-hold with the number of samples that was best afterwards, which "
        "nobody can know before; `dft` sees the whole series at once, and its interval is of the noise alone."
    )
    return Found(rows, tables, words)


def outbreak_tables(quick: bool, seed: int, done: Callable[[], Any]) -> Found:
    """Sensitivity a day and an outbreak at equal specificity."""
    runs = 1 if quick else 5
    rows = outbreaks.run_outbreaks(runs, simulations=100, seed=seed, done=done)
    sources = ["raw", *reversed(outbreaks.EPSILONS)]
    columns = ["signal, statistic", *(f"{s} · {v}" for s in sources for v in outbreaks.VARIANTS)]
    tables = []
    for name, words in (("day", "outbreak days that alarm"), ("outbreak", "outbreaks with an alarm")):
        cells: list[list[str]] = []
        for signal in outbreaks.SIGNALS:
            for kind in outbreaks.KINDS:
                picked = {
                    (r["counts"], r["variant"]): r for r in rows if r["signal"] == signal and r["statistic"] == kind
                }
                row = [f"{100 * picked[s, v][name]:.1f} %" for s in sources for v in outbreaks.VARIANTS]
                cells.append([f"{signal}, {kind}", *row])
        title = f"Share of {words}, at specificity {outbreaks.SPECIFICITY:g} for all (Figures 4.4 and 4.5)"
        tables.append(Table(title, columns, cells))
    words = (
        f"Counts are raw, or private at the epsilon given with a person counting at most {outbreaks.BOUND} times; "
        f"{runs} draw{'s' if runs > 1 else ''} of noise on 100 simulations of each signal, 340 days."
    )
    return Found(rows, tables, words)


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
    """The rows as CSV, and a plot of error against epsilon for each series."""
    from hubbub.lab.plots import lines

    paths = [write_rows(folder, "fast.csv", rows)]
    for name in dict.fromkeys(row["series"] for row in rows if "series" in row):
        points: dict[str, list[tuple[Any, float, float]]] = {}
        for row in rows:
            if row.get("series") == name:
                point = (row["epsilon"], row["relative_error"], row["relative_error_error"])
                points.setdefault(row["method"], []).append(point)
        path = folder / f"fast_{name.replace(' ', '_')}.html"
        lines(path, f"{name}: average relative error", "epsilon", "error", points, log_x=True, log_y=True)
        paths.append(path)
    return paths


def _cell(row: dict[str, Any], measure: str) -> str:
    if measure not in row:
        return "–"
    error = row.get(f"{measure}_error")
    return f"{row[measure]:.3f}" + (f" ± {error:.3f}" if error else "")
