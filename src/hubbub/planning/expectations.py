"""What accuracy will an epsilon buy? Answered by running every method on a public or simulated series."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.methods import make_mechanism
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session, Trip, Unit, User, Window
from hubbub.released import Keys, Tick

Array = NDArray[np.float64]

USUAL: dict[type[Unit], tuple[str, ...]] = {
    Event: ("adaptive", "lpa", "pegasus"),
    Session: ("adaptive", "fast", "lpa", "navigation"),
    Trip: ("adaptive", "fast", "lpa", "navigation"),
    Window: ("adaptive", "ba", "bd", "lpa", "sample"),
    User: ("adaptive", "fast", "lpa", "sample"),
}
_KEY = Keys(["count"])
_PARTS = ("values", "lower", "upper")


@dataclass(frozen=True, slots=True)
class Expectation:
    """One method at one epsilon: relative error on average, in a lucky (10 %) and an unlucky run (90 %).

    `coverage` is how often its 95 % intervals held the count.
    """

    method: str
    guarantee: Guarantee
    error: float
    lucky: float
    unlucky: float
    absolute: float
    coverage: float | None = None
    measured: float | None = None
    """How many ticks were measured, on average; the others were predicted."""

    @property
    def strength(self) -> float:
        """What was promised: epsilon, or rho for zCDP."""
        stated = self.guarantee.epsilon if self.guarantee.rho is None else self.guarantee.rho
        assert stated is not None
        return float(stated)

    def to_dict(self) -> dict[str, Any]:
        rho, delta = self.guarantee.rho, float(self.guarantee.delta)
        stated = {"epsilon": self.strength if rho is None else None, "delta": delta, "rho": rho and float(rho)}
        fields = ("error", "lucky", "unlucky", "absolute", "coverage", "measured")
        return {"method": self.method, **stated, **{name: getattr(self, name) for name in fields}}


def expectations(
    series: NDArray[np.int64],
    guarantees: Sequence[Guarantee],
    methods: Sequence[str],
    runs: int,
    *,
    seed: int = 0,
    tick: Callable[[int], Tick] = Tick,
    present: NDArray[np.bool_] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    done: Callable[[], Any] = lambda: None,
) -> list[Expectation]:
    """Run every method `runs` times under every guarantee.

    Ticks that are not `present` are predicted and not judged. `options` are those of the methods, by their names.
    """
    expected = []
    there = np.full(len(series), True) if present is None else present
    for method in methods:
        chosen = dict((options or {}).get(method, {}))
        for guarantee in guarantees:
            relative, absolute, covered, looks = [], [], [], []
            for run in range(runs):
                with simulation(seed + run) as source:
                    releaser = make_mechanism(method, _KEY, guarantee, source=source, **chosen)
                    releases = [
                        releaser.release(Counts.of(_KEY, tick(t), [x])) if there[t] else releaser.predict(tick(t))
                        for t, x in enumerate(series)
                    ]
                values, low, high = (np.array([getattr(r, name)[0] for r in releases]) for name in _PARTS)
                looks.append(sum(not release.is_predicted for release in releases))
                off = np.abs(values - series)[there]
                relative.append(float((off / np.maximum(series[there], 1)).mean()))
                absolute.append(float(off.mean()))
                covered.append(float(((low <= series) & (series <= high))[there].mean()))
            lucky, unlucky = np.quantile(relative, [0.1, 0.9])
            error, plus_minus, share = (float(np.mean(some)) for some in (relative, absolute, covered))
            spread = float(lucky), float(unlucky)
            seen = float(np.mean(looks))
            expected.append(Expectation(method, guarantee, error, *spread, plus_minus, share, seen))
            done()
    return expected


def error_of_zeros(series: NDArray[np.int64]) -> float:
    """The relative error of releasing nothing but zeros: whoever is above it had better say nothing.

    >>> error_of_zeros(np.array([0, 5, 9, 0]))
    0.5
    """
    return float((series > 0).mean())


def budget_for(expected: Sequence[Expectation], method: str, wished: float) -> float | None:
    """The smallest epsilon (or rho) with at most the wished error, between those that were run; None if none has it.

    >>> weak, strong = (Guarantee.pure(Event(), epsilon) for epsilon in ("0.1", 1))
    >>> two = [Expectation("lpa", weak, 1.0, 1, 1, 1), Expectation("lpa", strong, 0.1, 0, 0, 0)]
    >>> round(budget_for(two, "lpa", 0.3162), 3), budget_for(two, "lpa", 0.01)
    (0.316, None)
    """
    points = sorted((e for e in expected if e.method == method), key=lambda e: e.strength)
    before: Expectation | None = None
    for point in points:
        if point.error <= wished:
            if before is None or point.error <= 0:
                return point.strength
            # Errors fall like a power of the budget: a straight line between logarithms.
            share = math.log(before.error / wished) / math.log(before.error / point.error)
            return float(before.strength * (point.strength / before.strength) ** share)
        before = point
    return None
