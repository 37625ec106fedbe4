"""Fan 2014, chapter 4: do outbreaks still show in private counts? On simulated syndromes with known outbreaks.

The paper's own data (CDC EARS) are not public any more; `syndromic_sim16` follows Noufaily et al. 2019, with truth.
Only the last 49 weeks have outbreaks, so sensitivity and specificity are of those; twelve weeks before them warm up
the detectors.
"""

from __future__ import annotations

import lzma
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.detect import EarsSettings, ears_statistics
from hubbub.detect.ears import KINDS as KINDS
from hubbub.lab.data import find
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.release import Lpa
from hubbub.released import Keys, Tick

Array = NDArray[np.float64]

SIGNALS = (1, 2, 3, 4)
EPSILONS = ("0.1", "1")
BOUND = 2
"""A person counts at most twice (`hubbub risk`: 99.97 % of people do in ten years)."""
SPECIFICITY = 0.95
FIRST = 2206
WARM_UP = 12 * 7
VARIANTS: dict[str, dict[str, bool]] = {
    "plain": {"knows_noise": False, "knows_weekdays": False},
    "knows noise": {"knows_noise": True, "knows_weekdays": False},
    "knows noise and weekdays": {"knows_noise": True, "knows_weekdays": True},
}


@dataclass(frozen=True, slots=True, eq=False)
class Syndrome:
    """Days by simulations: counts, and which days belong to an injected outbreak."""

    signal: int
    counts: NDArray[np.int64]
    outbreak: NDArray[np.bool_]


def syndrome(signal: int, simulations: int = 100) -> Syndrome:
    """A signal of `syndromic_sim16`, from twelve weeks before its first outbreak on."""
    totals, outbreaks = (_table(f"simulated_{kind}_sig{signal}.csv.xz") for kind in ("totals", "outbreaks"))
    first = FIRST - WARM_UP
    return Syndrome(signal, totals[first:, :simulations], outbreaks[first:, :simulations] > 0)


def private_counts(counts: NDArray[np.int64], epsilon: str, seed: int) -> tuple[Array, float]:
    """What is measured of each simulation, as a stream of people who count at most twice; and the noise's variance."""
    keys = Keys([f"simulation {i}" for i in range(counts.shape[1])])
    # One stream with a key a simulation: a person belongs to one simulation, so the bound is the same for all.
    guarantee = Guarantee.pure(User(max_ticks=BOUND, horizon=len(counts)), epsilon)
    with simulation(seed) as source:
        lpa = Lpa(keys, guarantee, source=source)
        releases = [lpa.release(Counts.of(keys, Tick(day), row)) for day, row in enumerate(counts)]
    measured = [release.measurements for release in releases if release.measurements is not None]
    return np.stack(measured).astype(np.float64), releases[0].noise_variance or 0.0


def sensitivity(statistic: Array, outbreak: NDArray[np.bool_], specificity: float) -> dict[str, float]:
    """At the threshold that gives this specificity: the share of outbreak days, and of outbreaks, that alarm."""
    statistic, outbreak = statistic[WARM_UP:], outbreak[WARM_UP:]
    threshold = float(np.quantile(statistic[~outbreak], specificity))
    alarm = statistic > threshold
    # Days of one outbreak may be without a case: it is over after a week of such days.
    before = np.vstack([np.zeros((7, outbreak.shape[1]), dtype=bool), outbreak[:-1]])
    recent = np.lib.stride_tricks.sliding_window_view(before, 7, axis=0).any(axis=-1)
    begins = outbreak & ~recent
    number = np.cumsum(begins, axis=0) * outbreak
    found = total = 0
    for column in range(outbreak.shape[1]):
        hit = np.unique(number[alarm[:, column] & outbreak[:, column], column])
        found += len(hit)
        total += int(begins[:, column].sum())
    return {
        "day": float(alarm[outbreak].mean()),
        "outbreak": found / max(total, 1),
        "specificity": float((~alarm[~outbreak]).mean()),
        "threshold": threshold,
    }


def run_outbreaks(
    runs: int,
    *,
    simulations: int = 100,
    signals: Sequence[int] = SIGNALS,
    epsilons: Sequence[str] = EPSILONS,
    specificity: float = SPECIFICITY,
    seed: int = 2014,
    done: Callable[[], Any] = lambda: None,
) -> list[dict[str, Any]]:
    """One row a signal, statistic, variant and source of counts (raw, or private at an epsilon)."""
    rows = []
    for signal in signals:
        data = syndrome(signal, simulations)
        sources: list[tuple[str, list[tuple[Array, float]]]] = [("raw", [(data.counts.astype(np.float64), 0.0)])]
        for epsilon in epsilons:
            sources.append((epsilon, [private_counts(data.counts, epsilon, seed + run) for run in range(runs)]))
        for source, counted in sources:
            for kind in KINDS:
                for variant, knows in VARIANTS.items():
                    settings = EarsSettings(kind, **knows)
                    found = [
                        sensitivity(ears_statistics(values, settings, noise), data.outbreak, specificity)
                        for values, noise in counted
                    ]
                    rows.append(_row(signal, source, kind, variant, found))
            done()
    return rows


def _row(signal: int, source: str, kind: str, variant: str, found: list[dict[str, float]]) -> dict[str, Any]:
    row: dict[str, Any] = {"signal": signal, "counts": source, "statistic": kind, "variant": variant}
    for name in ("day", "outbreak", "specificity", "threshold"):
        values = np.array([one[name] for one in found])
        row[name] = float(values.mean())
        row[f"{name}_error"] = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0
    return row


def _table(name: str) -> NDArray[np.int64]:
    with lzma.open(find(f"syndromic_sim16/{name}"), "rt") as file:
        return np.loadtxt(file, delimiter=",", skiprows=1).astype(np.int64)
