"""FAST's parameters and filters (Fan 2014, Figures 3.4 to 3.9), every point with FAST's error beside its line."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hubbub.lab.fast12 import mean_and_error, relative_error, run_method
from hubbub.lab.public_series import PublicSeries, linear
from hubbub.noise import simulation
from hubbub.release import PidSettings

FIGURES = {
    "3.4a": ("R, whole series against its first tenth", "R"),
    "3.4b": ("R, epsilon 0.1 against 1", "R"),
    "3.5": ("number of particles", "N"),
    "3.6": ("Kalman filter against particle filter, every tick sampled", "series"),
    "3.7a": ("theta", "theta"),
    "3.7b": ("share of ticks that may be sampled", "M/T"),
    "3.8": ("fixed interval against PID (at 0)", "interval"),
    "3.9": ("error against epsilon, linear series", "epsilon"),
}
FILTERS = ("kalman", "particle")
PRIVACY = ("1e-4", "1e-3", "0.01", "0.1", "1")
PRIVATE_METHODS = ("uniform", "dft", "fast", "fast particles", "adaptive")


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a figure: which line, where on the x axis, and what is run for it."""

    figure: str
    line: str
    value: float | str
    series: PublicSeries
    epsilon: str = "1"
    method: str = "fast"
    settings: dict[str, Any] = field(default_factory=dict)


def parameter_points(ticks: int = 1000) -> list[Point]:
    """Figures 3.4, 3.5, 3.7, 3.8 and 3.9, all on the linear series."""
    series = linear(ticks)
    tenth = PublicSeries("linear", series.counts[: ticks // 10], series.tick_length)
    points = []

    def every_tick(of: PublicSeries) -> dict[str, Any]:
        return {"sampling": "fixed", "samples": len(of)}

    for r in (1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10):
        for line, part in (("first tenth", tenth), ("whole", series)):
            points.append(Point("3.4a", line, r, part, settings={**every_tick(part), "noise_variance": r}))
        for epsilon in ("0.1", "1"):
            known = {**every_tick(series), "noise_variance": r}
            points.append(Point("3.4b", f"epsilon {epsilon}", r, series, epsilon, settings=known))
    for n in (10, 30, 100, 300, 1000, 3000):
        chosen = {**every_tick(series), "filter": "particle", "particles": n}
        points.append(Point("3.5", "particle", n, series, settings=chosen))
    for one in FILTERS:
        kind = {"filter": one}
        for theta in (1, 2, 5, 10, 20, 40):
            chosen = {**kind, "control": PidSettings(magnitude=float(theta))}
            points.append(Point("3.7a", one, theta, series, settings=chosen))
        for share in (0.05, 0.1, 0.15, 0.25, 0.5):
            points.append(Point("3.7b", one, share, series, settings={**kind, "samples": round(share * ticks)}))
        for gap in (1, 2, 3, 5, 10, 20):
            chosen = {**kind, "sampling": "fixed", "samples": -(-ticks // gap)}
            points.append(Point("3.8", one, gap, series, settings=chosen))
        points.append(Point("3.8", one, 0, series, settings=kind))
    for method in PRIVATE_METHODS:
        for epsilon in PRIVACY:
            points.append(Point("3.9", method, float(epsilon), series, epsilon, method))
    return points


def filter_points(series: list[PublicSeries]) -> list[Point]:
    """Figure 3.6: both filters on every series, all ticks sampled."""
    return [
        Point("3.6", one, s.name, s, settings={"sampling": "fixed", "samples": len(s), "filter": one})
        for s in series
        for one in FILTERS
    ]


def run_points(
    points: list[Point], runs: int, *, seed: int = 2014, done: Callable[[], Any] = lambda: None
) -> list[dict[str, Any]]:
    """One row a point: mean relative error and its standard error, and the seconds that a thousand ticks took."""
    rows = []
    for point in points:
        series = point.series
        before = time.process_time()
        with simulation(seed) as source:
            released = [
                run_method(series, point.method, point.epsilon, source, **point.settings).values for _ in range(runs)
            ]
        seconds = (time.process_time() - before) / (runs * len(series)) * 1000
        row: dict[str, Any] = {"figure": point.figure, "line": point.line, "value": point.value}
        row |= {"epsilon": float(point.epsilon), "runs": runs, "seconds_per_1000_ticks": seconds}
        rows.append(row | mean_and_error("relative_error", relative_error(np.stack(released), series.counts)))
        done()
    return rows
