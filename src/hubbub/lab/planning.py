"""What accuracy will an epsilon buy? Answered by running every method on a public or simulated series."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.noise import simulation
from hubbub.privacy import Event, Guarantee, Session, Unit, User, Window
from hubbub.release import METHODS, make_releaser
from hubbub.released import Keys, Tick

Array = NDArray[np.float64]

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
USUAL: dict[type[Unit], tuple[str, ...]] = {
    Event: ("adaptive", "lpa", "pegasus"),
    Session: ("adaptive", "fast", "lpa", "navigation"),
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
    epsilon: float
    error: float
    lucky: float
    unlucky: float
    absolute: float
    coverage: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def simulated_series(level: float, ticks: int, seed: int) -> NDArray[np.int64]:
    """Counts about `level` that wander by 1 % a tick, have a rhythm of 7 ticks, and scatter like a Poisson number."""
    if not 0 < level < 2**40:
        raise InvalidParameter(
            f"`level` must lie between 0 and 2^40; got {level}.", "About how many are counted a tick?"
        )
    rng = np.random.default_rng(seed)
    t = np.arange(ticks)
    logs = math.log(level) + rng.normal(0, 0.01, ticks).cumsum() + 0.15 * np.sin(2 * math.pi * t / 7)
    return rng.poisson(np.exp(logs)).astype(np.int64)


def expectations(
    series: NDArray[np.int64],
    unit: Unit,
    epsilons: Sequence[float],
    methods: Sequence[str],
    runs: int,
    *,
    seed: int = 0,
    tick: Callable[[int], Tick] = Tick,
    present: NDArray[np.bool_] | None = None,
    done: Callable[[], Any] = lambda: None,
) -> list[Expectation]:
    """Run every method `runs` times at every epsilon. Ticks that are not `present` are predicted and not judged."""
    found = []
    there = np.full(len(series), True) if present is None else present
    for method in methods:
        if method not in METHODS:
            raise InvalidParameter(f"There is no method {method!r}.", f"Known methods: {', '.join(sorted(METHODS))}.")
        for epsilon in epsilons:
            guarantee = Guarantee.pure(unit, str(epsilon))
            relative, absolute, covered = [], [], []
            for run in range(runs):
                with simulation(seed + run) as source:
                    releaser = make_releaser(method, _KEY, guarantee, source=source)
                    releases = [
                        releaser.release(Counts.of(_KEY, tick(t), [x])) if there[t] else releaser.predict(tick(t))
                        for t, x in enumerate(series)
                    ]
                values, low, high = (np.array([getattr(r, name)[0] for r in releases]) for name in _PARTS)
                off = np.abs(values - series)[there]
                relative.append(float((off / np.maximum(series[there], 1)).mean()))
                absolute.append(float(off.mean()))
                covered.append(float(((low <= series) & (series <= high))[there].mean()))
            lucky, unlucky = np.quantile(relative, [0.1, 0.9])
            error, plus_minus, share = (float(np.mean(some)) for some in (relative, absolute, covered))
            found.append(Expectation(method, float(epsilon), error, float(lucky), float(unlucky), plus_minus, share))
            done()
    return found


def error_of_zeros(series: NDArray[np.int64]) -> float:
    """The relative error of releasing nothing but zeros: whoever is above it had better say nothing.

    >>> error_of_zeros(np.array([0, 5, 9, 0]))
    0.5
    """
    return float((series > 0).mean())


def epsilon_for(found: Sequence[Expectation], method: str, wished: float) -> float | None:
    """The smallest epsilon with at most the wished error, between those that were run; None if none of them has it.

    >>> two = [Expectation("lpa", 0.1, 1.0, 1, 1, 1), Expectation("lpa", 1.0, 0.1, 0, 0, 0)]
    >>> round(epsilon_for(two, "lpa", 0.3162), 3), epsilon_for(two, "lpa", 0.01)
    (0.316, None)
    """
    points = sorted((e for e in found if e.method == method), key=lambda e: e.epsilon)
    before: Expectation | None = None
    for point in points:
        if point.error <= wished:
            if before is None or point.error <= 0:
                return point.epsilon
            # Errors fall like a power of epsilon: a straight line between logarithms.
            share = math.log(before.error / wished) / math.log(before.error / point.error)
            return float(before.epsilon * (point.epsilon / before.epsilon) ** share)
        before = point
    return None
