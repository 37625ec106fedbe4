"""The tables and plots of `hubbub reproduce traffic`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hubbub.lab.experiment_result import ExperimentResult, Lines, Row, Table, points_of
from hubbub.lab.traffic import (
    FASTEST,
    LINES,
    OFFLINE,
    OTHERWISE,
    QUICK_WORLDS,
    REPEATS,
    WINDOWS,
    ZEROS,
    run_traffic,
)

EPSILONS = ("0.001", "0.01", "0.1", "0.3", "1")
DEPTHS = (0, 2, 4, 6, 8, 10)
MEASURES = {
    "weighted_error": "weighted absolute error over road cells",
    "dense_median": "relative error of dense cells, median (Figures 5.9 b, 5.10 b)",
    "dense_mean": "relative error of dense cells, mean",
    "sparse_median": "relative error of sparse cells, median (Figures 5.9 a, 5.10 a)",
    "sparse_mean": "relative error of sparse cells, mean",
}


def traffic_tables(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """Errors against the budget, windows, depths, runtime, intervals, and the ratios that were hoped for."""
    epsilons, depths = (EPSILONS[2::2], DEPTHS[2:4]) if quick else (EPSILONS, DEPTHS)
    more = len(QUICK_WORLDS) if quick else 2 * (REPEATS - 1) + len(OTHERWISE)  # settings in which `roads` runs alone
    total(len(epsilons) * ((1 if quick else 2) * len(LINES) + more) + len(depths))
    rows = run_traffic(quick, seed, epsilons, depths, done)
    trips = list(dict.fromkeys(row["trip"] for row in rows))
    tables = [_errors(rows, trip, measure) for trip in trips for measure in MEASURES]
    tables += [_windows(rows, trip, float(epsilon)) for trip in trips for epsilon in epsilons]
    tables += [_depths(rows), _runtime(rows), _intervals(rows), _otherwise(rows), _hoped(rows)]
    words = (
        "Moving objects are simulated on a road network (`hubbub.lab.moving`), counted in a grid once a tick, and each "
        "object is protected over all ticks. `temporal` has R = 10^6 as Table 5.4 prints it; R by text is proportional "
        "to T²/α². The weighted error is the sum of absolute errors over that of vehicles; of methods that release "
        "numbers below zero, the better of both ways. Sparse cells are those without a road. The constants of `roads` "
        "were tuned on made-up cities and traffic of another seed; its numbers are means over several seeds. "
        "`dft` is an offline reference, and protects less than the others: each cell is a series of its own to it."
    )
    return ExperimentResult(rows, tables, words, _plots(rows, trips))


def _usual(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["world"] == FASTEST and "depth" not in row]


def _picked(rows: Sequence[Row], trip: float) -> dict[tuple[str, float | None], Row]:
    """Of each line and budget the mean over all traffic that it ran on."""
    by: dict[tuple[str, float | None], list[Row]] = {}
    for row in _usual(rows):
        if row["trip"] == trip:
            by.setdefault((row["line"], row["epsilon"]), []).append(row)
    return {which: _mean(some) for which, some in by.items()}


def _mean(rows: Sequence[Row]) -> Row:
    numbers = [name for name, one in rows[0].items() if isinstance(one, float)]
    return {**rows[0], **{name: sum(row[name] for row in rows) / len(rows) for name in numbers}}


def _budgets(rows: Sequence[Row]) -> list[float]:
    return sorted({row["epsilon"] for row in rows if row["epsilon"] is not None})


def _errors(rows: Sequence[Row], trip: float, measure: str) -> Table:
    by, budgets = _picked(rows, trip), _budgets(rows)
    cells = [[line, *(f"{by[line, e][measure]:.3g}" for e in budgets)] for line in (*LINES, OFFLINE)]
    cells.append([ZEROS, *(f"{by[ZEROS, None][measure]:.3g}" for _ in budgets)])
    return Table(f"Trips of {trip:g} ticks: {MEASURES[measure]}", ["line", *(f"epsilon {e:g}" for e in budgets)], cells)


def _windows(rows: Sequence[Row], trip: float, epsilon: float) -> Table:
    by = _picked(rows, trip)
    sides = [side for side in WINDOWS if f"window_{side}" in by["roads", epsilon]]
    cells = [[line, *(f"{by[line, epsilon][f'window_{side}']:.3g}" for side in sides)] for line in LINES]
    cells.append([ZEROS, *(f"{by[ZEROS, None][f'window_{side}']:.3g}" for side in sides)])
    title = f"Figure 5.11: relative error of square windows, trips of {trip:g} ticks, epsilon {epsilon:g}"
    return Table(title, ["line", *(f"{side} x {side}" for side in sides)], cells)


def _depths(rows: Sequence[Row]) -> Table:
    cells = [
        [str(r["depth"]), *(f"{r[m]:.3g}" for m in ("sparse_median", "dense_median", "weighted_error", "prepared"))]
        for r in rows
        if "depth" in r
    ]
    columns = ["depth", "sparse, median", "dense, median", "weighted error", "seconds to prepare"]
    return Table("Figure 5.8: the quadtree by its depth, epsilon 1", columns, cells)


def _runtime(rows: Sequence[Row]) -> Table:
    first = [r for r in _usual(rows) if r["epsilon"] == 1.0 and r["trip"] == rows[0]["trip"] and "seconds" in r]
    first = [r for r in first if r["traffic"] == rows[0]["traffic"]]
    cells = [[r["line"], f"{r['seconds']:.2f}", f"{r['prepared']:.2f}"] for r in first]
    return Table(
        "Figure 5.12: seconds of the processor for all ticks, and to prepare (once a map)",
        ["line", "ticks", "prepare"],
        cells,
    )


def _covered(rows: Sequence[Row], first: str) -> list[list[str]]:
    return [
        [
            *(f"{r[first]:g}" if first == "trip" else r[first], f"{r['epsilon']:g}", f"{r['traffic']}"),
            *(f"{r['weighted_error']:.3g}", f"{100 * r['covered']:.1f} %", f"{r['width']:.2f}"),
            f"{100 * r['areas_covered']:.1f} %",
        ]
        for r in rows
        if r["line"] == "roads"
    ]


_INTERVALS = ["epsilon", "seed", "weighted error", "cells of 20 or more", "width over count", "windows"]


def _intervals(rows: Sequence[Row]) -> Table:
    title = "How often the 95 % intervals of roads cover, and how wide those of cells are"
    return Table(title, ["trips", *_INTERVALS], _covered(_usual(rows), "trip"))


def _otherwise(rows: Sequence[Row]) -> Table:
    some = [row for row in rows if row["world"] != FASTEST]
    title = "The same where people drive otherwise than the map says (trips of 20 ticks)"
    return Table(title, ["world", *_INTERVALS], _covered(some, "world"))


def _hoped(rows: Sequence[Row]) -> Table:
    cells = []
    for trip in dict.fromkeys(row["trip"] for row in rows):
        by = _picked(rows, trip)
        for epsilon, goal in ((1.0, 2.5), (0.1, 8.0)):
            if ("roads", epsilon) in by:
                ours = by["roads", epsilon]["weighted_error"]
                ratios = [by[line, epsilon]["weighted_error"] / ours for line in ("temporal", "quadtree")]
                cells.append([f"{trip:g}", f"weighted error, epsilon {epsilon:g}", *_told(ratios), f">= {goal:g}"])
        ours = by["roads", 1.0]
        for sides, wanted in (((10, 50, 100), ">= 3 and >= 50"), ((500, 1024), "quadtree >= 2.5; depth 6 >= 1")):
            for side in sides:
                name = f"window_{side}"
                if name in ours:
                    lines = ("temporal", "quadtree", "quadtree, depth 6")
                    ratios = [by[line, 1.0][name] / max(ours[name], 1e-12) for line in lines]
                    told = [f"{ratio:.3g}" for ratio in ratios]
                    cells.append([f"{trip:g}", f"window of {side}, epsilon 1", *told, wanted])
        worst = max(row["weighted_error"] for (line, e), row in by.items() if line == "roads" and e and e >= 0.01)
        cells.append([f"{trip:g}", "worst weighted error of roads, epsilon 0.01 to 1", f"{worst:.3g}", "", "", "< 1"])
    columns = ["trips", "error of others over that of roads", "temporal", "quadtree", "depth 6", "hoped for"]
    return Table("What was hoped for", columns, cells)


def _told(ratios: Sequence[float]) -> list[str]:
    return [*(f"{ratio:.3g}" for ratio in ratios), ""]


def _plots(rows: Sequence[Row], trips: Sequence[float]) -> list[Lines]:
    plots = []
    for trip in trips:
        some = [r for (line, _), r in _picked(rows, trip).items() if line != ZEROS]
        for measure, title in MEASURES.items():
            points = points_of(some, "line", "epsilon", measure, "")
            plots.append(Lines(f"{measure}_{trip:g}", title, "epsilon", "error", points, log_x=True, log_y=True))
        windows = [
            {"line": r["line"], "side": side, "off": r[f"window_{side}"]}
            for r in some
            for side in WINDOWS
            if r["epsilon"] == 1.0 and f"window_{side}" in r
        ]
        points = points_of(windows, "line", "side", "off", "")
        title = "Relative error of square windows, epsilon 1"
        plots.append(Lines(f"windows_{trip:g}", title, "cells a side", "error", points, log_x=True, log_y=True))
    depths = [
        {"line": line, "depth": r["depth"], "off": r[name]}
        for line, name in (("sparse", "sparse_median"), ("dense", "dense_median"))
        for r in rows
        if "depth" in r
    ]
    title = "Figure 5.8: median relative error of the quadtree by its depth, epsilon 1"
    plots.append(Lines("depth", title, "depth", "error", points_of(depths, "line", "depth", "off", "")))
    return plots
