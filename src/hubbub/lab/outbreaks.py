"""Fan 2014, chapter 4: do outbreaks still show in private counts? On simulated syndromes with known outbreaks.

The paper's own data (CDC EARS) are not public any more; `syndromic_sim16` follows Noufaily et al. 2019, with truth.
Only the last 49 weeks have outbreaks, so sensitivity and specificity are of those; twelve weeks before them warm up
the detectors.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.detectors import EarsSettings, PooledSettings, ears_statistics, pooled_statistics
from hubbub.detectors.ears import KINDS as KINDS
from hubbub.lab.data import find
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.release import Lpa
from hubbub.released import Keys, Tick

Array = NDArray[np.float64]

SIGNALS = (1, 2, 3, 4)
OTHERS = (5, 6, 7, 8)
"""Signals closed at weekends; 5 and 6 rise with a season of their own."""
TUNED, CHECKED = (1, 3, 5, 7), (2, 4, 6, 8)
"""Signals that the pooled detector's weekdays, memory and limits were chosen on, and those they were checked on."""
OWN_LIMIT = "pooled, own limit"
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
POOLED = "knows noise and weekdays"
"""The pooled detector knows both, or it would not be worth having."""


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
    return np.stack(measured).astype(np.float64), float(releases[0].variances.max())


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A detector at one specificity: outbreak days that alarmed and all outbreak days, of each simulation; and more."""

    hits: Array
    days: Array
    outbreak: float
    specificity: float
    threshold: float

    @property
    def day(self) -> float:
        """The share of outbreak days that alarm."""
        return float(self.hits.sum() / max(self.days.sum(), 1.0))

    @property
    def day_error(self) -> float:
        """Its standard error: simulations are independent, days of one outbreak are not."""
        return float(np.sqrt(((self.hits - self.day * self.days) ** 2).sum()) / max(self.days.sum(), 1.0))

    def above(self, other: Judged) -> tuple[float, float]:
        """How much higher this share is than another's on the same simulations, and the standard error of that."""
        apart = (self.hits - self.day * self.days) - (other.hits - other.day * other.days)
        return self.day - other.day, float(np.sqrt((apart**2).sum()) / max(self.days.sum(), 1.0))


def judge(statistic: Array, outbreak: NDArray[np.bool_], specificity: float) -> Judged:
    """At the threshold that gives this specificity: which outbreak days, and outbreaks, alarm."""
    statistic, outbreak = statistic[WARM_UP:], outbreak[WARM_UP:]
    threshold = float(np.nanquantile(statistic[~outbreak], specificity))
    return judge_at(statistic, outbreak, threshold)


def judge_at(statistic: Array, outbreak: NDArray[np.bool_], threshold: float) -> Judged:
    """At a given threshold; a day without a statistic never alarms."""
    alarm = np.nan_to_num(statistic, nan=-np.inf) > threshold
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
    hits, days = (alarm & outbreak).sum(axis=0), outbreak.sum(axis=0)
    quiet = float((~alarm[~outbreak]).mean())
    return Judged(hits.astype(np.float64), days.astype(np.float64), found / max(total, 1), quiet, threshold)


def sensitivity(statistic: Array, outbreak: NDArray[np.bool_], specificity: float) -> dict[str, float]:
    """`judge` as plain numbers."""
    judged = judge(statistic, outbreak, specificity)
    return {name: getattr(judged, name) for name in ("day", "outbreak", "specificity", "threshold")}


def statistics_of(kind: str, variant: str, values: Array, noise: float) -> Array:
    """The statistic of every day, by the names of the tables; of pooled how far it lies above the day's own limit."""
    if kind == "pooled":
        found = pooled_statistics(values, PooledSettings(), noise)
        return found.statistic - found.limit
    return ears_statistics(values, EarsSettings(kind, **VARIANTS[variant]), noise)


def together(judged: Sequence[Judged]) -> Judged:
    """The mean over draws of noise on the same simulations."""
    hits = np.mean([one.hits for one in judged], axis=0)
    means = (
        float(np.mean([getattr(one, name) for one in judged])) for name in ("outbreak", "specificity", "threshold")
    )
    return Judged(hits, judged[0].days, *means)


Results = dict[tuple[int, str, str, str], Judged]
"""By signal, source of counts (raw, or an epsilon), statistic and variant."""


def run_outbreaks(
    runs: int,
    *,
    simulations: int = 100,
    signals: Sequence[int] = SIGNALS,
    epsilons: Sequence[str] = EPSILONS,
    variants: Sequence[str] = tuple(VARIANTS),
    specificity: float = SPECIFICITY,
    seed: int = 2014,
    done: Callable[[], Any] = lambda: None,
) -> Results:
    """Every signal, source of counts and detector at one specificity; `done` is called once a source."""
    detectors = [(kind, variant) for kind in KINDS for variant in variants] + [("pooled", POOLED)]
    results: Results = {}
    for signal in signals:
        data = syndrome(signal, simulations)
        for source in ("raw", *epsilons):
            if source == "raw":
                counted = [(data.counts.astype(np.float64), 0.0)]
            else:
                counted = [private_counts(data.counts, source, seed + run) for run in range(runs)]
            for kind, variant in detectors:
                draws = [
                    judge(statistics_of(kind, variant, values, noise), data.outbreak, specificity)
                    for values, noise in counted
                ]
                results[signal, source, kind, variant] = together(draws)
                if kind == "pooled":
                    own = [
                        judge_at(statistics_of(kind, variant, values, noise)[WARM_UP:], data.outbreak[WARM_UP:], 0.0)
                        for values, noise in counted
                    ]
                    results[signal, source, OWN_LIMIT, variant] = together(own)
            done()
    return results


def as_rows(results: Results) -> list[dict[str, Any]]:
    """One row a detector, signal and source of counts."""
    return [
        {
            "signal": signal,
            "counts": source,
            "statistic": kind,
            "variant": variant,
            **{name: getattr(judged, name) for name in ("day", "day_error", "outbreak", "specificity", "threshold")},
        }
        for (signal, source, kind, variant), judged in results.items()
    ]


@cache
def _table(name: str) -> NDArray[np.int64]:
    with lzma.open(find(f"syndromic_sim16/{name}"), "rt") as file:
        return np.loadtxt(file, delimiter=",", skiprows=1).astype(np.int64)
