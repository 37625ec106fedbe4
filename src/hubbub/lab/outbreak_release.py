"""Fan 2014, Figures 4.2 to 4.5: how close released counts are, and what EARS says at its own thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.lab.fast12 import mean_and_error, relative_error, spearman
from hubbub.lab.outbreaks import (
    BOUND,
    KINDS,
    SPECIFICITY,
    WARM_UP,
    Judged,
    judge,
    judge_at,
    private_counts,
    statistics_of,
    syndrome,
)
from hubbub.methods import make_mechanism
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.released import Keys, Release, Tick

Array = NDArray[np.float64]

SMALL = 2
"""The signal closest to the paper's s04 (6 cases a day, seasonal): 4.5 cases a day."""
PRIVACY = ("0.001", "0.01", "0.1", "1")
PROCESS_VARIANCE = 1.0
"""The paper's Q for s04."""
LINES = ("LPA, bound T", f"LPA, bound {BOUND}", "filtered (the paper)", "adaptive")
THRESHOLDS = {"C1": 3.0, "C2": 3.0, "C3": 2.0, "pooled": 0.0}


def release_counts(counts: NDArray[np.int64], line: str, epsilon: str, seed: int) -> list[Release]:
    """All simulations of a signal as one stream with a key each, released the way `line` says."""
    keys = Keys([f"simulation {i}" for i in range(counts.shape[1])])
    bound = len(counts) if line == LINES[0] else BOUND
    guarantee = Guarantee.pure(User(max_ticks=bound, horizon=len(counts)), epsilon)
    settings: dict[str, Any] = {}
    method = "adaptive" if line == "adaptive" else "lpa"
    if line == LINES[2]:
        method = "fast"
        settings = {"sampling": "fixed", "samples": len(counts), "process_variance": PROCESS_VARIANCE}
    with simulation(seed) as source:
        releaser = make_mechanism(method, keys, guarantee, source=source, **settings)
        return [releaser.release(Counts.of(keys, Tick(day), row)) for day, row in enumerate(counts)]


def accuracy(simulations: int, seed: int, done: Callable[[], Any] = lambda: None) -> list[dict[str, Any]]:
    """Figure 4.2: relative error against epsilon, mean and standard error over simulations."""
    counts = syndrome(SMALL, simulations).counts
    rows = []
    for line in LINES:
        for epsilon in PRIVACY:
            released = np.array([r.values for r in release_counts(counts, line, epsilon, seed)])
            errors = relative_error(released.T, counts.T)
            row: dict[str, Any] = {"figure": "4.2", "line": line, "epsilon": float(epsilon)}
            rows.append(row | mean_and_error("relative_error", errors))
            done()
    return rows


def followed(seed: int) -> tuple[list[dict[str, Any]], dict[str, tuple[Array, Array, Array]]]:
    """Figure 4.3: one simulation and its releases at epsilon 1; how close they are, and the series to draw."""
    counts = syndrome(SMALL, 1).counts
    truth = counts[:, 0].astype(np.float64)
    rows, drawn = [], {"original (simulated)": (truth, truth, truth)}
    for line in LINES[1:]:
        releases = release_counts(counts, line, "1", seed)
        values, lower, upper = (
            np.array([getattr(r, name)[0] for r in releases]) for name in ("values", "lower", "upper")
        )
        drawn[line] = (values, lower, upper)
        rows.append(
            {
                "figure": "4.3",
                "line": line,
                "absolute_error": float(np.abs(values - truth).mean()),
                "spearman": spearman(values, counts[:, 0]),
                "coverage": float(((lower <= truth) & (truth <= upper)).mean()),
            }
        )
    return rows, drawn


def at_own_thresholds(
    signals: tuple[int, ...], simulations: int, seed: int, done: Callable[[], Any] = lambda: None
) -> list[dict[str, Any]]:
    """Figures 4.4 and 4.5: sensitivity and specificity at usual thresholds, raw, measured and filtered, epsilon 1."""
    rows = []
    for signal in signals:
        data = syndrome(signal, simulations)
        measured, noise = private_counts(data.counts, "1", seed)
        filtered = np.array([r.values for r in release_counts(data.counts, LINES[2], "1", seed)])
        raw = data.counts.astype(np.float64)
        for source, values, known in (("raw", raw, 0.0), ("measured", measured, noise), ("filtered", filtered, 0.0)):
            # Plain EARS is told nothing of the noise; and the noise of filtered counts is not known to anybody.
            for kind in (*KINDS, "pooled") if source != "filtered" else KINDS:
                statistic = statistics_of(kind, "plain", values, known if kind == "pooled" else 0.0)
                judged: Judged = judge_at(statistic[WARM_UP:], data.outbreak[WARM_UP:], THRESHOLDS[kind])
                equal = judge(statistic, data.outbreak, SPECIFICITY)
                facts = {"figure": "4.4, 4.5", "signal": signal, "counts": source, "statistic": kind}
                rows.append(
                    {
                        **facts,
                        "day": judged.day,
                        "specificity": judged.specificity,
                        "day_at_equal_specificity": equal.day,
                    }
                )
        done()
    return rows
