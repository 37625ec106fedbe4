"""Fan 2014, section 3.3: one long series of a person's horizon, every method beside the simplest ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from hubbub.confidential import Counts
from hubbub.lab.public_series import PublicSeries
from hubbub.methods import make_mechanism
from hubbub.noise import ByteSource, DiscreteLaplace, simulation
from hubbub.privacy import Guarantee, User
from hubbub.release import Dft
from hubbub.released import Keys, Release, Tick

Array = NDArray[np.float64]

EPSILONS = ("0.01", "0.1", "1")
METHODS = ("zeros", "uniform", "sample", "hindsight", "dft", "fast", "fast particles", "adaptive")
"""`hindsight` is sample-and-hold with the number of samples that turns out best: nobody can run it."""
_KEY = Keys(["count"])
_START = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Run:
    """One released series: its values, and the share of true counts inside its intervals."""

    values: Array
    coverage: float
    looks: int


def release_series(
    series: PublicSeries, method: str, epsilon: str, source: ByteSource | None = None, **settings: Any
) -> list[Release]:
    """The whole series through a method, at the level of a person."""
    guarantee = Guarantee.pure(User(horizon=len(series)), epsilon)
    counts = [Counts.of(_KEY, place(series, t), [value]) for t, value in enumerate(series.counts)]
    if method == "dft":
        return Dft(_KEY, guarantee, source=source, **settings).release_series(counts)
    releaser = make_mechanism(method, _KEY, guarantee, source=source, **settings)
    return [releaser.release(count) for count in counts]


def run_method(series: PublicSeries, method: str, epsilon: str, source: ByteSource, **settings: Any) -> Run:
    """One run of a method by the name it has in the tables."""
    if method == "zeros":
        return Run(np.zeros(len(series)), 0.0, 0)
    name, more = {
        "uniform": ("lpa", {}),
        "fast particles": ("fast", {"filter": "particle"}),
    }.get(method, (method, {}))
    releases = release_series(series, name, epsilon, source, **more, **settings)
    inside = [r.lower[0] <= x <= r.upper[0] for r, x in zip(releases, series.counts, strict=True)]
    looks = sum(not r.is_predicted for r in releases)
    return Run(np.array([r.values[0] for r in releases]), float(np.mean(inside)), looks)


def hindsight(series: PublicSeries, epsilon: str, runs: int, source: ByteSource) -> tuple[Array, int]:
    """The errors of sample-and-hold with the best number of samples for this series, and that number."""
    ticks = len(series)
    best: tuple[float, Array, int] = (math.inf, np.zeros(0), 0)
    gaps = sorted({math.ceil(ticks / m) for m in np.unique(np.geomspace(1, ticks, 24).astype(int))})
    for gap in gaps:
        at = np.arange(0, ticks, gap)
        noise = DiscreteLaplace(len(at) / Fraction(epsilon), source=source).sample(runs * len(at))
        held = np.repeat(series.counts[at] + noise.reshape(runs, -1), gap, axis=1)[:, :ticks]
        errors = relative_error(np.maximum(held, 0).astype(np.float64), series.counts)
        if errors.mean() < best[0]:
            best = (float(errors.mean()), errors, len(at))
    return best[1], best[2]


def relative_error(values: Array, truth: NDArray[np.int64]) -> Array:
    """Fan 2014, Eq. 3.1, with delta = 1; one number per run."""
    errors: Array = (np.abs(values - truth) / np.maximum(truth, 1)).mean(axis=-1)
    return errors


def compare(
    series: PublicSeries,
    runs: int,
    *,
    epsilons: Sequence[str] = EPSILONS,
    methods: Sequence[str] = METHODS,
    seed: int = 2014,
    done: Callable[[], Any] = lambda: None,
) -> list[dict[str, Any]]:
    """One row an epsilon and method: mean and standard error of every measure over `runs`."""
    rows = []
    for epsilon in epsilons:
        for method in methods:
            # Every method has the same seeds: differences between methods are then less noisy than the methods.
            with simulation(seed) as source:
                rows.append(_row(series, method, epsilon, runs, source))
            done()
    return rows


def _row(series: PublicSeries, method: str, epsilon: str, runs: int, source: ByteSource) -> dict[str, Any]:
    row: dict[str, Any] = {"series": series.name, "epsilon": float(epsilon), "method": method, "runs": runs}
    if method == "hindsight":
        errors, looks = hindsight(series, epsilon, max(runs, 20), source)
        return {**row, "runs": max(runs, 20), **mean_and_error("relative_error", errors), "looks": looks}
    done = [run_method(series, method, epsilon, source) for _ in range(1 if method == "zeros" else runs)]
    values = np.stack([run.values for run in done])
    row |= mean_and_error("relative_error", relative_error(values, series.counts))
    row |= mean_and_error("f1", np.array([f1_of_rises(run.values, series.counts) for run in done]))
    row |= mean_and_error("spearman", np.array([spearman(run.values, series.counts) for run in done]))
    row["coverage"] = float(np.mean([run.coverage for run in done]))
    row["looks"] = float(np.mean([run.looks for run in done]))
    return row


def f1_of_rises(values: Array, truth: NDArray[np.int64]) -> float:
    """Fan 2014, 3.3.4: an event is a rise between two ticks by more than 5 % of the true series' median."""
    threshold = 0.05 * float(np.median(truth))
    real, released = np.diff(truth) > threshold, np.diff(values) > threshold
    hits = int((real & released).sum())
    return 2 * hits / max(int(real.sum() + released.sum()), 1)


def spearman(values: Array, truth: NDArray[np.int64]) -> float:
    """Rank correlation; 0 for a constant release, which orders nothing.

    >>> spearman(np.array([1.0, 2.0, 4.0]), np.array([3, 5, 9]))
    1.0
    """
    one, two = rankdata(values), rankdata(truth)
    if one.std() == 0 or two.std() == 0:
        return 0.0
    return float(np.corrcoef(one, two)[0, 1].round(12))


def mean_and_error(name: str, numbers: Array) -> dict[str, float]:
    """The mean over runs and its standard error, under `name` and `name_error`."""
    spread = float(numbers.std(ddof=1) / math.sqrt(len(numbers))) if len(numbers) > 1 else 0.0
    return {name: float(numbers.mean()), f"{name}_error": spread}


def place(series: PublicSeries, index: int) -> Tick:
    """Tick `index` with its place in a calendar, if the series has one."""
    if series.tick_length is None:
        return Tick(index)
    return Tick(index, _START + index * series.tick_length, series.tick_length)
