"""The experiment of Fan et al. 2014, section 5.3, with `navigation` beside the paper's methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.lab.metrics import average_relative_error, coverage, divergence, top_precision
from hubbub.lab.tuning import tune_mkf, tune_ukf
from hubbub.lab.www14 import Www14
from hubbub.mechanism import OnlineMechanism
from hubbub.models import NavigationModel, Sessions
from hubbub.noise import ByteSource, simulation
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa, Mkf, Navigation, Ukf
from hubbub.released import Tick

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0)
METHODS = ("lpa", "ukf", "mkf", "navigation")
MEASURES = {
    "relative_error": "average relative error",
    "top5_precision": "top-5 precision",
    "divergence": "KL divergence",
    "coverage": "coverage of the 95 % interval",
}
PAPER: dict[tuple[str, str, float], str] = {
    ("relative_error", "mkf", 0.01): "0.59",
    ("relative_error", "mkf", 1.0): "0.08",
    ("relative_error", "lpa", 0.01): "> 5.9",
    ("top5_precision", "lpa", 0.01): "0.33",
    ("top5_precision", "ukf", 0.05): "0.80",
    ("top5_precision", "mkf", 0.01): "0.95",
}
"""What the paper states in words (section 5.3); its plots have no other readable numbers."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run: `trainings` simulated data sets with a training part each, and test sets of each."""

    trainings: int
    tests: int
    tuning_runs: int
    generations: int

    @classmethod
    def full(cls) -> Size:
        """100 test sets. The paper drew one training set; five show how much hangs on that draw."""
        return cls(trainings=5, tests=20, tuning_runs=50, generations=20)

    @classmethod
    def quick(cls) -> Size:
        return cls(trainings=1, tests=4, tuning_runs=8, generations=8)


def run_series(releaser: OnlineMechanism, counts: NDArray[np.int64]) -> tuple[NDArray[np.float64], ...]:
    """Release a whole series; values, lower and upper ends, one row per tick."""
    releases = [releaser.release(Counts.of(releaser.keys, Tick(k), row)) for k, row in enumerate(counts)]
    return tuple(np.array([getattr(r, name) for r in releases]) for name in ("values", "lower", "upper"))


def measure(releaser: OnlineMechanism, counts: NDArray[np.int64]) -> dict[str, float]:
    """All measures of one run."""
    values, lower, upper = run_series(releaser, counts)
    return {
        "relative_error": average_relative_error(values, counts),
        "top5_precision": top_precision(values, counts),
        "divergence": divergence(values, counts),
        "coverage": coverage(lower, upper, counts),
    }


def run_www14(
    pool: Sessions,
    size: Size,
    *,
    seed: int = 2014,
    setting: Www14 | None = None,
    done: Callable[[], Any] = lambda: None,
) -> list[dict[str, Any]]:
    """One row an epsilon and method: the mean over test sets of each measure, with its standard error.

    The standard error is over training sets where there are several, since test sets of one training share its luck.
    """
    setting = setting or Www14()
    pool = pool.truncated(setting.max_ticks)
    rng = np.random.default_rng(seed)
    results: dict[tuple[float, str], list[list[dict[str, float]]]] = {}
    with simulation(seed) as source:
        for _ in range(size.trainings):
            everything = setting.simulate(pool, rng)
            training = setting.part(everything, setting.training, rng)
            tests = [setting.counts(setting.part(everything, setting.test, rng)) for _ in range(size.tests)]
            for epsilon in EPSILONS:
                makers = _methods(setting, training, epsilon, size, rng, source)
                done()
                for name, make in makers.items():
                    results.setdefault((epsilon, name), []).append([measure(make(), counts) for counts in tests])
                    done()
    return [_row(epsilon, name, runs) for (epsilon, name), runs in results.items()]


def steps(size: Size) -> int:
    """How often `run_www14` calls `done`."""
    return size.trainings * len(EPSILONS) * (len(METHODS) + 1)


def _methods(
    setting: Www14, training: Sessions, epsilon: float, size: Size, rng: np.random.Generator, source: ByteSource
) -> dict[str, Callable[[], OnlineMechanism]]:
    keys = training.keys
    guarantee = Guarantee.pure(Session(setting.max_ticks), str(epsilon))
    scale = setting.max_ticks / epsilon
    counts = setting.counts(training)
    small = NavigationModel.fit(training, ticks=setting.ticks, start="crowd")
    model = NavigationModel.fit(training, ticks=setting.ticks, scale=setting.test / setting.training, start="crowd")
    univariate = tune_ukf(counts, scale, rng, size.tuning_runs)
    multivariate = tune_mkf(counts, small, scale, rng, runs=size.tuning_runs, generations=size.generations)
    return {
        "lpa": lambda: Lpa(keys, guarantee, source=source),
        "ukf": lambda: Ukf(keys, guarantee, process_variance=univariate, source=source),
        "mkf": lambda: Mkf(keys, guarantee, model=model, process_variance=multivariate, source=source),
        "navigation": lambda: Navigation(keys, guarantee, model=model, source=source),
    }


def _row(epsilon: float, method: str, runs: list[list[dict[str, float]]]) -> dict[str, Any]:
    row: dict[str, Any] = {"epsilon": epsilon, "method": method, "tests": sum(map(len, runs))}
    for name in MEASURES:
        groups = [np.array([run[name] for run in group]) for group in runs]
        each = np.array([group.mean() for group in groups]) if len(groups) > 1 else groups[0]
        row[name] = float(np.mean([group.mean() for group in groups]))
        row[f"{name}_error"] = float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else 0.0
        row[f"{name}_paper"] = PAPER.get((name, method, epsilon))
    return row
