"""One method over one series, beside the truth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hubbub.lab import metrics
from hubbub.lab.playground.chosen import Chosen
from hubbub.lab.playground.words import about
from hubbub.methods import make_mechanism
from hubbub.noise import ByteSource, simulation
from hubbub.privacy import Guarantee
from hubbub.released import Release
from hubbub.released.table import csv_of, table_of

USUALLY = 2 / 3
""""Usually within ± 40" means: two of three numbers are."""


def noise_of(seed: int | None) -> AbstractContextManager[ByteSource | None]:
    """The system's noise, or, with a seed, noise that can be repeated and therefore hides nothing."""
    return nullcontext() if seed is None else simulation(seed)


@dataclass(frozen=True, slots=True)
class Step:
    """One tick: what came out, and what the unit that was hit hardest has paid by now."""

    release: Release
    spent: float


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A method, a promise and a series. Made: checked. `steps` then runs it, one tick after another."""

    chosen: Chosen
    guarantee: Guarantee
    method: str
    seed: int | None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Refuses what does not fit, before anything runs.
        make_mechanism(self.method, self.chosen.series.keys, self.guarantee, **self.options)

    def steps(self) -> Iterator[Step]:
        series = self.chosen.series
        with noise_of(self.seed) as source:
            releaser = make_mechanism(self.method, series.keys, self.guarantee, source=source, **self.options)
            for release in series.released_by(releaser):
                yield Step(release, float(releaser.spent))

    def result(self, steps: list[Step]) -> dict[str, Any]:
        """The picture's numbers and the table's."""
        releases = [step.release for step in steps]
        return {
            "method": self.method,
            "key": self.chosen.key,
            "guarantee": self.guarantee.sentence,
            "budget": float(self.guarantee.budget),
            "seed": self.seed,
            **{name: [_short(getattr(r, of)[0]) for r in releases] for name, of in _COLUMNS.items()},
            "measurement": [None if r.measurements is None else int(r.measurements[0]) for r in releases],
            "spent": [float(f"{step.spent:.6g}") for step in steps],
            "scores": self.scores(releases),
            "csv": csv_of(table_of(releases)),
        }

    def scores(self, releases: list[Release]) -> dict[str, Any]:
        """How far from the truth: relative as in the papers, absolute, and how often the interval held it.

        Nobody knows the truth of a gap, so gaps do not count.
        """
        series = self.chosen.series
        truth = series.values[series.present, 0].astype(np.float64)
        columns = (np.array([getattr(r, of)[0] for r in releases]) for of in ("values", "lower", "upper"))
        value, lower, upper = (column[series.present] for column in columns)
        off = np.abs(value - truth)
        stated = np.isfinite(upper)
        held = metrics.coverage(lower[stated], upper[stated], truth[stated]) if stated.any() else None
        usual = float(np.quantile(off, USUALLY))
        return {
            "relative": metrics.average_relative_error(value, truth),
            "zeros": metrics.average_relative_error(np.zeros_like(truth), truth),
            "absolute": float(off.mean()),
            "usual": usual,
            "usual_words": about(usual),
            "coverage": held,
            "stated": int(stated.sum()),
            "measured": sum(not r.is_predicted for r in releases),
            "ticks": len(releases),
            "compared": len(truth),
        }


_COLUMNS = {"value": "values", "standard_error": "standard_errors", "lower": "lower", "upper": "upper"}


def _short(number: float) -> float | None:
    return round(float(number), 3) if math.isfinite(number) else None
