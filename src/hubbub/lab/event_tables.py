"""The table that `hubbub reproduce events` prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hubbub.lab import event_level
from hubbub.lab.experiment_result import ExperimentResult, Table
from hubbub.lab.series_sets import TUNING

SERIES = ("unemployment", "influenza", "bicycles", "all unemployed", "hourly bicycles")
QUICK = ("influenza", "hourly bicycles")


def event_tables(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """Real series at event level: error of every method, and what it is beside plain noise."""
    names, epsilons, runs = (QUICK, ("0.1",), 2) if quick else (SERIES, event_level.EPSILONS, 10)
    total(len(names) * len(epsilons) * len(event_level.METHODS))
    rows: list[dict[str, Any]] = []
    for name in names:
        rows += event_level.compare_events(TUNING[name](), runs, epsilons=epsilons, seed=seed, done=done)
    cells = []
    for name in names:
        for epsilon in epsilons:
            by = {r["method"]: r for r in rows if r["series"] == name and r["epsilon"] == float(epsilon)}
            plain = by["uniform"]["relative_error"]
            compared = [_cell(by[method], plain) for method in event_level.METHODS]
            cells.append([f"{name}, {epsilon}", *compared])
    covered = [
        f"{method} {100 * min(shares):.0f} to {100 * max(shares):.0f} %"
        for method in event_level.METHODS
        if (shares := [r["coverage"] for r in rows if r["method"] == method and r["coverage"] is not None])
    ]
    words = (
        f"Average relative error over {runs} runs, one event protected, and in brackets how many times that of "
        "`uniform` it is. With events `sample` has nothing to save for and is the same as `uniform`. `pegasus as "
        f"printed` has the paper's grouper. Intervals held the true count: {', '.join(covered)}."
    )
    return ExperimentResult(rows, [Table("Events", ["series, epsilon", *event_level.METHODS], cells)], words)


def _cell(row: dict[str, Any], plain: float) -> str:
    return f"{row['relative_error']:.3g} ({row['relative_error'] / plain:.2f})"
