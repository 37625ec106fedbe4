"""The table of the separation result: what each kind of release gets wrong, by how many items are possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hubbub.itemlogs import Adaptive, ItemLog, Zealous
from hubbub.itemlogs.bounding import at_random
from hubbub.itemlogs.quality import Counts
from hubbub.lab.experiment_result import Lines, Row, Table, points_of
from hubbub.lab.separation import (
    PAIRS_OF_QUERIES,
    Goal,
    Inaccuracy,
    best_threshold,
    inaccuracy,
    nothing,
    pure,
    threshold_for,
    zealous,
)
from hubbub.noise import Lottery, simulation

EPSILON, DELTA, MAX_ITEMS = 1, "0.001", 10
RUNS = 5
POSSIBLE = (0, 10**6, 10**9, 10**18, PAIRS_OF_QUERIES)
"""How many items there might be; 0 for those that somebody has, which nobody may know."""

BEST = "pure, best afterwards"
WAYS = ("nothing", "pure, 1/2-accurate", "pure, 0.01-accurate", BEST, "zealous, probabilistic", "adaptive")


def cut_to(log: ItemLog, limit: int, seed: int) -> ItemLog:
    """A log in which nobody has more than `limit` items, as Theorem 12 has it: drawn by lot, once and for all."""
    with simulation(seed) as source:
        users, items = at_random((log.users.reveal(), log.items.reveal()), limit, Lottery(source))
    return ItemLog.from_codes(users, items, log.labels.reveal())


def separation_rows(name: str, log: ItemLog, seed: int, done: Callable[[], Any], runs: int = RUNS) -> list[Row]:
    """Every way for every size of the domain. All but `adaptive` are exact expectations; that is a mean of runs."""
    cut = cut_to(log, MAX_ITEMS, seed)
    counts: Counts = np.bincount(cut.items.reveal()).astype(np.int64)
    counts = counts[counts > 0]
    users = len(np.unique(cut.users.reveal()))
    method = Zealous(EPSILON, DELTA, MAX_ITEMS, users=users)
    goal, scale = Goal.of(method), method.thresholds.scale
    measured = _adaptive(cut, goal, runs, seed)
    rows = []
    for domain in (many or len(counts) for many in POSSIBLE):
        thresholds = {
            "pure, 1/2-accurate": threshold_for(scale, goal, 0.5),
            "pure, 0.01-accurate": threshold_for(scale, goal, 0.01),
            BEST: best_threshold(scale, counts, goal, domain),
        }
        found = {
            "nothing": inaccuracy(counts, goal, domain, nothing),
            **{way: inaccuracy(counts, goal, domain, pure(scale, t)) for way, t in thresholds.items()},
            "zealous, probabilistic": inaccuracy(counts, goal, domain, zealous(method)),
            "adaptive": measured,
        }
        frequent = int(np.count_nonzero(counts > goal.frequent))
        rows += [
            {"log": name, "domain": float(domain), "method": way, "frequent": frequent, "missing": one.missing,
             "wrong": one.wrong, "inaccuracy": one.total, "threshold": thresholds.get(way)}
            for way, one in found.items()
        ]  # fmt: skip
        done()
    return rows


def _adaptive(log: ItemLog, goal: Goal, runs: int, seed: int) -> Inaccuracy:
    places = {label: place for place, label in enumerate(log.labels.reveal())}
    counts = np.bincount(log.items.reveal(), minlength=len(places))
    missing, wrong = [], []
    with simulation(seed) as source:
        for _ in range(runs):
            listed = counts[[places[item] for item in Adaptive(EPSILON, DELTA, MAX_ITEMS, source=source).publish(log)]]
            missing.append(np.count_nonzero(counts > goal.frequent) - np.count_nonzero(listed > goal.frequent))
            wrong.append(np.count_nonzero(listed < goal.rare))
    return Inaccuracy(float(np.mean(missing)), float(np.mean(wrong)))


def separation_table(rows: Sequence[Row]) -> Table:
    """One line for each log and size of the domain; in brackets how many frequent items are missing."""
    cells: dict[tuple[str, float], list[str]] = {}
    for row in rows:
        line = cells.setdefault((row["log"], row["domain"]), [f"{row['log']}, {row['domain']:.2g} possible"])
        line.append(f"{row['inaccuracy']:,.1f}" if row["inaccuracy"] < 1e6 else f"{row['inaccuracy']:.1e}")
        line[-1] += f" ({row['missing']:.1f})"
    title = (
        f"Separation: items that are wrong (of these, frequent and missing), epsilon {EPSILON}, delta {DELTA} where "
        f"there is one, {MAX_ITEMS} items a user"
    )
    return Table(title, ["log, domain", *WAYS], list(cells.values()))


def separation_plot(rows: Sequence[Row]) -> Lines:
    name = rows[0]["log"]
    shown = [row for row in rows if row["log"] == name]
    points = points_of(shown, "method", "domain", "inaccuracy", "error")
    title = f"separation: inaccuracy (Def. 10) on {name}"
    return Lines("separation", title, "possible items", "items that are wrong", points, log_x=True, log_y=True)
