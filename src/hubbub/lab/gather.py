"""The experiments of Goetz 2012, 5.6: precision and coverage of rates that no server saw, and what gathering takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hubbub.lab.experiment_result import ExperimentResult, Lines, Row, Table, points_of
from hubbub.lab.gather_phases import PEOPLE, phase_rows, traffic_rows
from hubbub.lab.gather_rates import FLOORS, WAYS, World, rate_rows, rate_steps, way_rows
from hubbub.noise import simulation

FLOOR = 0.3
WORDS = (
    "{people:,} people with {had:,} searches, of which each gives {most} at most: {kept:,}. Two rounds: the whole box, "
    "then 3,600 pairs of a cell and a category. 1,000 contexts of the last tenth are tried; (4,2,2) is told, k = 10, "
    "{runs} draws of noise. Error: of a count, as a standard deviation. Fast way of the simulator: clear sums and the "
    "noise of real servers. The paper (116,432 users, one level, delta 0.02): at precision 0.6 a coverage of 0.3 "
    "exactly and 0.1 with noise; epsilon 0.5 or 1 makes little difference, and t nearly none. In Figure 5.3 older "
    "protocols are reckoned and simulated, not run; times and bytes are of {clients} real clients and two servers in "
    "this process, by its processor's clock."
)


def gather_result(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """Figures 5.2 and 5.3, how a budget is best divided among levels, and what making counts add up is worth."""
    people, runs, clients = (5000, 1, 40) if quick else (40_000, 3, 200)
    total(3 + rate_steps() + len(WAYS))
    phases = phase_rows(seed)
    done()
    traffic = traffic_rows(clients, 4096)
    done()
    world = World.of(people, seed)
    done()
    rng = np.random.default_rng(seed)
    with simulation(seed) as source:
        rates = rate_rows(world, runs, source, rng, done)
        ways = way_rows(world, runs, source, rng, done)
    crowd = world.crowd
    words = WORDS.format(
        people=len(crowd), had=crowd.had, kept=crowd.kept, most=crowd.max_items, runs=runs, clients=clients
    )
    tables = [*_rate_tables(rates), _way_table(ways), *_phase_tables(phases), _traffic_table(traffic)]
    return ExperimentResult(
        rates, tables, words, _plots(rates, phases), {"ways": ways, "phases": phases, "traffic": traffic}
    )


def _cell(row: Row) -> str:
    if math.isnan(row["precision"]):
        return "nothing shown"
    return f"{row['precision']:.3f} ± {row['precision_error']:.3f} of {row['coverage']:.3f}"


def _by(rows: Sequence[Row], names: Sequence[str]) -> dict[tuple[Any, ...], dict[float, Row]]:
    found: dict[tuple[Any, ...], dict[float, Row]] = {}
    for row in rows:
        found.setdefault(tuple(row.get(name) for name in names), {})[row["floor"]] = row
    return found


def _rate_tables(rows: Sequence[Row]) -> list[Table]:
    columns = [f"CTR >= {floor:g}" for floor in FLOORS]
    by_epsilon, by_missing = [], []
    for (line, epsilon, protects), some in _by(
        [row for row in rows if row["line"] != "shares"], ["line", "epsilon", "protects"]
    ).items():
        name = line if line == "exact" else f"{epsilon:g}, {protects}"
        by_epsilon.append([name, f"{some[0.0].get('error', 0):.0f}", *(_cell(some[floor]) for floor in FLOORS)])
    for (missing, away), some in _by([row for row in rows if row["line"] == "shares"], ["missing", "away"]).items():
        name = f"{missing:g}, {'all answer' if not away else f'{away:.0%} away'}"
        by_missing.append([name, f"{some[0.0]['error']:.0f}", *(_cell(some[floor]) for floor in FLOORS)])
    return [
        Table("Figure 5.2 a: epsilon, noise of both servers (precision of coverage)",
              ["epsilon, protects", "error", *columns], by_epsilon),
        Table("Figure 5.2 b: t, noise in clients' shares, epsilon 1 (precision of coverage)",
              ["t", "error", *columns], by_missing),
    ]  # fmt: skip


def _way_table(rows: Sequence[Row]) -> Table:
    cells = []
    for row in rows:
        if row["floor"] == FLOOR:
            errors = [f"{row[name]:.0f} / {row[f'added_up{name[5:]}']:.0f}" if name in row else "" for name in
                      ("count_error_3", "count_error_4")]  # fmt: skip
            cells.append([row["way"], _cell(row), *errors])
    return Table(
        "How epsilon 1 is divided (presence, CTR >= 0.3); errors of counts, raw / made to add up",
        ["way", "precision of coverage", "cells and groups", "cells and categories"],
        cells,
    )


def _phase_tables(rows: Sequence[Row]) -> list[Table]:
    """One for phases: people down, the probability to be away across, all protocols in a cell."""
    tables = []
    names = list(dict.fromkeys(row["protocol"] for row in rows))
    away = sorted({row["away"] for row in rows})
    at = {(row["protocol"], row["people"], row["away"]): row for row in rows}
    for title, key in (
        ("phases of a count (simulated)", "phases"),
        ("messages of a count, for each person", "messages"),
    ):
        cells = []
        for people in PEOPLE:
            for name in names:
                some = [at[name, people, p] for p in away]
                cells.append([f"{people:,}", name, *(_number(row, key) for row in some)])
        tables.append(Table(f"Figure 5.3: {title}", ["people", "protocol", *(f"p = {p:g}" for p in away)], cells))
    return tables


def _number(row: Row, key: str) -> str:
    value = row[key] / (row["people"] if key == "messages" else 1)
    text = "above 1e300" if math.isinf(value) else f"{value:.3g}" if value >= 1000 else f"{value:.2f}"
    seen = row["simulated"]
    return text if key != "phases" or seen is None else f"{text} ({seen:.2f})"


def _traffic_table(rows: Sequence[Row]) -> Table:
    cells = [
        [
            row["what"], row["scheme"], row["phase"], f"{row['messages']:,}", f"{row['bytes_a_client']:,.0f}",
            f"{row['ms_a_client']:.2f}",
        ]
        for row in rows
    ]  # fmt: skip
    title = f"What gathering takes: {rows[0]['clients']} clients"
    return Table(title, ["what", "scheme", "phase", "messages", "bytes a client", "ms a client"], cells)


def _plots(rates: Sequence[Row], phases: Sequence[Row]) -> list[Lines]:
    curves = [
        {**row, "line": "exact" if row["line"] == "exact" else f"epsilon {row['epsilon']:g}"}
        for row in rates if row["coverage"] and row["line"] != "shares" and row.get("protects") != "answer"
    ]  # fmt: skip
    missing = [
        {**row, "line": f"t = {row['missing']:g}"}
        for row in rates
        if row["line"] == "shares" and row["coverage"] and not row["away"]
    ]
    shown = [row for row in phases if row["people"] == 1000 and not math.isinf(row["phases"])]
    return [
        Lines("epsilon", "Figure 5.2 a: epsilon", "coverage", "precision",
              points_of(curves, "line", "coverage", "precision", "precision_error")),
        Lines("t", "Figure 5.2 b: t", "coverage", "precision",
              points_of(missing, "line", "coverage", "precision", "precision_error")),
        Lines("phases", "Figure 5.3: 1,000 people", "probability to be away", "phases",
              points_of(shown, "protocol", "away", "phases", "none"), log_x=True, log_y=True),
    ]  # fmt: skip
