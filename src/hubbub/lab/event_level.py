"""Events: does estimating help at all where every tick has its own full budget? Every method beside plain noise.

Here belongs PeGaSus (Chen, Machanavajjhala, Hay & Miklau 2017), which was made for events; also as it was printed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.lab.fast12 import mean_and_error, place, relative_error
from hubbub.lab.public_series import PublicSeries
from hubbub.methods import make_mechanism
from hubbub.noise import ByteSource, DiscreteLaplace, simulation
from hubbub.privacy import Event, Guarantee
from hubbub.released import Keys

Array = NDArray[np.float64]

EPSILONS = ("0.01", "0.1", "1")
METHODS = ("zeros", "uniform", "sample", "pegasus as printed", "pegasus", "navigation", "adaptive")
_KEY = Keys(["count"])
_THRESHOLD = 5
"""The paper's theta, times the grouper's epsilon."""


def as_printed(counts: NDArray[np.int64], epsilon: str, source: ByteSource, share: Fraction = Fraction(4, 5)) -> Array:
    """PeGaSus with the paper's deviation-based grouper and median smoother, on one series.

    It keeps the true counts of the open group, which `hubbub.release.Pegasus` does not (docs/proofs/pegasus.md). The
    summed deviation is rounded down, which leaves its sensitivity of 2 and lets integer noise protect it.
    """
    total = Fraction(epsilon)
    counting, grouping = share * total, (1 - share) * total
    noisy = counts + DiscreteLaplace(1 / counting, source=source).sample(len(counts))
    of_threshold = DiscreteLaplace(4 / grouping, source=source).sample(len(counts))
    of_tests = DiscreteLaplace(8 / grouping, source=source).sample(len(counts))
    values = np.empty(len(counts))
    first, limit = 0, 0
    is_open = False
    for t in range(len(counts)):
        if not is_open:
            first, is_open = t, True
            limit = round(_THRESHOLD / grouping) + int(of_threshold[t])
        else:
            group = counts[first : t + 1]
            spread = int(np.abs(len(group) * group - group.sum()).sum()) // len(group)
            if spread + int(of_tests[t]) >= limit:
                first, is_open = t, False  # both the old group and this tick are closed
        values[t] = np.median(noisy[first : t + 1])
    return np.maximum(values, 0.0)


def run_event_method(series: PublicSeries, method: str, epsilon: str, source: ByteSource) -> tuple[Array, float | None]:
    """One released series, and how often its intervals held the true count, if it has any."""
    if method == "zeros":
        return np.zeros(len(series)), None
    if method == "pegasus as printed":
        return as_printed(series.counts, epsilon, source), None
    name = {"uniform": "lpa"}.get(method, method)
    releaser = make_mechanism(name, _KEY, Guarantee.pure(Event(), epsilon), source=source)
    releases = [releaser.release(Counts.of(_KEY, place(series, t), [x])) for t, x in enumerate(series.counts)]
    inside = [r.lower[0] <= x <= r.upper[0] for r, x in zip(releases, series.counts, strict=True)]
    return np.array([r.values[0] for r in releases]), float(np.mean(inside))


def compare_events(
    series: PublicSeries,
    runs: int,
    *,
    epsilons: Sequence[str] = EPSILONS,
    methods: Sequence[str] = METHODS,
    seed: int = 2017,
    done: Callable[[], Any] = lambda: None,
) -> list[dict[str, Any]]:
    """One row an epsilon and method: relative error (mean and standard error over runs) and coverage."""
    rows = []
    for epsilon in epsilons:
        for method in methods:
            with simulation(seed) as source:
                many = 1 if method == "zeros" else runs
                results = [run_event_method(series, method, epsilon, source) for _ in range(many)]
            errors = relative_error(np.stack([values for values, _ in results]), series.counts)
            row: dict[str, Any] = {"series": series.name, "epsilon": float(epsilon), "method": method, "runs": many}
            row |= mean_and_error("relative_error", errors)
            covered = [share for _, share in results if share is not None]
            rows.append({**row, "coverage": float(np.mean(covered)) if covered else None})
            done()
    return rows
