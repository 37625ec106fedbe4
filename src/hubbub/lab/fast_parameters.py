"""FAST's parameters on the paper's linear series (Fan 2014, Figures 3.4, 3.5, 3.7 and 3.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hubbub.lab.fast12 import relative_error, run_method
from hubbub.lab.public_series import PublicSeries, linear
from hubbub.noise import simulation
from hubbub.release import PidSettings

Setting = tuple[str, float, str, dict[str, Any]]


def settings(ticks: int) -> list[Setting]:
    """Every point of the figures: figure, parameter, epsilon, FAST's settings."""
    everything = {"sampling": "fixed", "samples": ticks}
    points: list[Setting] = []
    for r in (1e2, 1e4, 1e6, 1e8, 1e10):
        for epsilon in ("0.1", "1"):
            points.append((f"3.4 R, epsilon {epsilon}", r, epsilon, {**everything, "noise_variance": r}))
    for n in (10, 100, 1000):
        points.append(("3.5 particles N", n, "1", {**everything, "filter": "particle", "particles": n}))
    for theta in (1, 5, 10, 20, 40):
        points.append(("3.7a theta", theta, "1", {"control": PidSettings(magnitude=float(theta))}))
    for share in (0.05, 0.1, 0.15, 0.25, 0.5):
        points.append(("3.7b M/T", share, "1", {"samples": round(share * ticks)}))
    for gap in (1, 3, 5, 10, 20):
        points.append(("3.8 fixed interval", gap, "1", {"sampling": "fixed", "samples": -(-ticks // gap)}))
    points.append(("3.8 PID", 0, "1", {}))
    return points


def run_parameters(
    runs: int, *, ticks: int = 1000, seed: int = 2014, done: Callable[[], Any] = lambda: None
) -> list[dict[str, Any]]:
    """One row a point of a figure: FAST's mean relative error and its standard error."""
    series = linear(ticks)
    rows = []
    for figure, value, epsilon, more in settings(ticks):
        with simulation(seed) as source:
            errors = np.array([_error(series, epsilon, source, more) for _ in range(runs)])
        spread = float(errors.std(ddof=1) / np.sqrt(runs)) if runs > 1 else 0.0
        rows.append(
            {
                "figure": figure,
                "value": float(value),
                "epsilon": float(epsilon),
                "relative_error": float(errors.mean()),
                "relative_error_error": spread,
                "runs": runs,
            }
        )
        done()
    return rows


def _error(series: PublicSeries, epsilon: str, source: Any, more: dict[str, Any]) -> float:
    return float(relative_error(run_method(series, "fast", epsilon, source, **more).values, series.counts))
