"""When to look next, and how many looks to save for later: decided from what the bank believes, never from data.

Every candidate is "n looks, evenly spread over the ticks that are left, each with an n-th of the budget". For each
the variance of the logarithm is carried along the coming ticks, for the models that matter, and turned into the
relative error to expect. More looks follow the series more closely, but each is noisier.

| symbol | here | meaning |
|---|---|---|
| V | `variance` | of the logarithm of a count, under one model |
| erf(sqrt(V/2)) | – | the least expected relative error of a lognormal belief: |r - x|/x averaged at the best r |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from hubbub.filters.bank import BankShapes, BankState

Array = NDArray[np.float64]

MODELS_ASKED = 16
"""Drawn evenly along the models' cumulated weights: many unlikely models count as much as their weights together."""
SERIES_ASKED = 64
"""A schedule is shared by all keys of a stream; so many of them speak for the others."""
CANDIDATES = 12
FEWEST = 3
"""Looks in a first plan at least, where there are so many ticks. After a first look that saw nothing one plan is as bad
as another to the bank, and all that is left at once may be what it takes: whatever comes after would never be seen."""
_CYCLES = 8
"""After so many looks a filter has settled: later cycles cost what the last one did."""
_POINTS = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """`looks` more measurements, the first after `delay` ticks; `error` is what to expect of it on average."""

    looks: int
    delay: int
    error: float


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Numbers of looks, with the noise scale of one look of each."""

    looks: Array
    scales: Array


def numbers_of_looks(ticks: int, most: int, fewest: int = 1) -> Array:
    """A few numbers from `fewest` to `most` (and to `ticks`), evenly spaced on a logarithm."""
    top = min(ticks, most)
    return np.unique(np.round(np.geomspace(min(fewest, top), top, CANDIDATES))) if top >= 1 else np.zeros(0)


def shared_plan(
    state: BankState, shapes: BankShapes, ticks: int, candidates: Candidates, at_once: bool = False
) -> Plan:
    """The plan that is best for all series of a stream on average.

    `at_once` allows the first look to be taken at the next tick. It is for the first plan only: taken again and again
    it would spend the budget now, each time with good reasons.
    """
    rows = np.unique(np.linspace(0, len(state.mean) - 1, min(len(state.mean), SERIES_ASKED)).astype(int))
    some = BankState(state.mean[rows], state.covariance[rows], state.log_weights[rows])
    errors, looks, delays = _errors(some, shapes, ticks, candidates)
    average = errors.mean(axis=0)
    if not at_once:
        average = average[: len(candidates.looks)]
    best = int(average.argmin())
    return Plan(int(looks[best]), int(delays[best]), float(average[best]))


def _errors(state: BankState, shapes: BankShapes, ticks: int, candidates: Candidates) -> tuple[Array, Array, Array]:
    """Expected relative error, a row per series and a column per candidate; the candidates' looks and delays."""
    # Each number of looks twice: spread evenly with a pause first, or beginning with the next tick.
    n = len(candidates.looks)
    looks = np.concatenate([candidates.looks, candidates.looks])
    at_once = np.arange(2 * n) >= n
    first = np.where(at_once, 1.0, np.maximum(ticks / (looks + 1), 1.0))
    gap = (ticks - first + 1) / looks  # from a look to the next, or to the end: every tick that is left is counted

    outlook = _Outlook.of(state, shapes, np.concatenate([candidates.scales, candidates.scales], axis=-1))
    total = outlook.between(first) * (first - 1)
    wait = first
    for number in range(_CYCLES):
        active = number < looks
        total = total + np.where(active, outlook.look(wait, gap, active), 0.0)
        wait = gap
    rest = np.maximum(looks - _CYCLES, 0)
    total = total + outlook.settle(gap, rest) * rest
    covered = (first - 1) + looks * gap
    return (total / covered).mean(axis=1), looks, np.maximum(np.round(first), 1)


@dataclass
class _Outlook:
    """How unsure the filter will be of a key: an entry per series, model and candidate."""

    step: Array
    decay: Array
    stir: Array
    white: Array
    noise: Array
    seasons: int
    """A look tells one of so many numbers."""
    a: Array
    """The variance of the level; `c` its covariance with the deviation, `d` the variance of the deviation."""
    c: Array
    d: Array
    season: Array

    @classmethod
    def of(cls, state: BankState, shapes: BankShapes, scales: Array) -> _Outlook:
        kept = _representatives(np.exp(state.log_weights))
        rows = np.arange(len(kept))[:, None]

        def each(values: Array) -> Array:  # one entry per series and model, broadcast over candidates
            return values[..., None]

        level = state.mean[rows, kept, 0]
        noise = (scales[:, None, :] if scales.ndim == 2 else scales) ** 2 / each(np.exp(2 * level))
        covariance = state.covariance[rows, kept]
        a, c, d = (each(covariance[..., i, j]) + 0.0 * noise for i, j in ((0, 0), (0, 1), (1, 1)))
        return cls(
            step=each(shapes.drift[kept] ** 2),
            decay=each(shapes.decay[kept]),
            stir=each(shapes.deviation[kept] ** 2),
            white=each(shapes.white[kept] ** 2 + np.exp(-np.maximum(level, 0.0))),
            noise=noise,
            seasons=max(covariance.shape[-1] - 2, 1),
            a=a,
            c=c,
            d=d,
            season=each(np.trace(covariance[..., 2:, 2:], axis1=-2, axis2=-1) / 2) + 0.0 * noise,
        )

    def between(self, length: Array) -> Array:
        """The average error over the `length - 1` ticks between two looks."""
        total = np.zeros_like(self.noise)
        for share in (np.arange(_POINTS) + 0.5) / _POINTS:
            k = 1 + share * np.maximum(length - 2, 0)
            faded = self.decay**k
            variance = (
                self.a + self.step * k + 2 * faded * self.c + faded**2 * (self.d - self.stir) + self.stir
                + self.white + self.season
            )  # fmt: skip
            total += erf(np.sqrt(np.maximum(variance, 0.0) / 2))
        return total / _POINTS

    def look(self, wait: Array, gap: Array, active: NDArray[np.bool_]) -> Array:
        """Looks once after `wait` ticks, where `active`. The error of that tick and of those until the next look."""
        faded = self.decay**wait
        a, c, d = self.a + self.step * wait, self.c * faded, faded**2 * (self.d - self.stir) + self.stir
        before = a + 2 * c + d + self.white + self.season
        seen = before + self.noise
        on_level, on_deviation = a + c, c + d
        self.a = np.where(active, a - on_level**2 / seen, self.a)
        self.c = np.where(active, c - on_level * on_deviation / seen, self.c)
        self.d = np.where(active, d - on_deviation**2 / seen, self.d)
        self.season = np.where(active, self.season * (1 - self.season / (seen * self.seasons)), self.season)
        return erf(np.sqrt(before * self.noise / seen / 2)) + self.between(gap) * (gap - 1)

    def settle(self, gap: Array, rest: Array) -> Array:
        """The average error of a look and the ticks after it, over the `rest` of the looks.

        The variances go on towards their steady state, level and deviation each for itself.
        """
        noise, kept = self.noise + self.white, self.decay ** (2 * gap)
        self.a = _settling(self.a, self.step * gap, 1.0, noise + self.d, rest)
        self.d = _settling(self.d, self.stir * (1 - kept), kept, noise + self.a, rest)
        self.c = np.where(rest > 0, 0.0, self.c)
        before = self.a + self.step * gap + kept * (self.d - self.stir) + self.stir + self.white + self.season
        return erf(np.sqrt(before * self.noise / (before + self.noise) / 2)) + self.between(gap) * (gap - 1)


def _settling(now: Array, added: Array, kept: Array | float, noise: Array, looks: Array) -> Array:
    """The variance after a look, averaged over `looks` of them on its way from `now` to where it settles.

    Each look first turns P into `kept` P + `added`, then into P R/(P + R); the fixed point solves a quadratic.
    """
    half = 0.5 * (added + noise * (1 - kept))
    settled = (np.sqrt(half**2 + kept * added * noise) - half) / np.maximum(kept, 1e-9)
    settled = np.where(kept < 1e-6, added * noise / (added + noise), settled)
    before = kept * settled + added
    speed = np.maximum(looks * before / (before + noise), 1e-9)
    share = 1 + np.expm1(-speed) / speed
    return np.asarray(np.where(looks > 0, now + share * (settled - now), now))


def _representatives(weights: Array) -> NDArray[np.intp]:
    """For each series the models at evenly spaced points of the cumulated weights."""
    points = (np.arange(MODELS_ASKED) + 0.5) / MODELS_ASKED
    summed = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    last = weights.shape[1] - 1
    chosen: NDArray[np.intp] = (summed[:, None, :last] < points[None, :, None]).sum(axis=-1)
    return chosen
