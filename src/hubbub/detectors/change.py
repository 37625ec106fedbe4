"""Changes that the noise cannot explain."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Release, Value

RECENT = 3
"""Ticks that make up "now": one tick would call every unlucky draw a change."""

BASELINE = 30
"""Ticks before those that make up "usual"."""

THRESHOLD = 8.0
"""Standard errors between now and usual. Laplace noise alone goes beyond 8 in a mean of three about twice in ten
million ticks (the tail of a sum of three Laplace variables): a false alarm a month at 17 keys and 10-second ticks."""

_REACH = 2.12
"""Half a 95 % interval in standard errors, as wide as a single Laplace draw needs."""


@dataclass(frozen=True, slots=True)
class Change:
    """A key whose recent level left its usual one. `before` and `after` are means of measurements, each with its error.

    >>> print(Change("sports", 41, Value(200, 8, 184, 216), Value(1870, 25, 1821, 1919)))
    sports rose from 200 ± 8 to 1,870 ± 25
    """

    key: str
    tick: int
    before: Value
    after: Value

    @property
    def kind(self) -> str:
        return "surge" if self.after > self.before else "drop"

    @property
    def reason(self) -> str:
        verb = "rose" if self.kind == "surge" else "fell"
        return f"{verb} from {self.before} to {self.after}"

    def __str__(self) -> str:
        return f"{self.key} {self.reason}"


class ChangeDetector:
    """Compares the mean of the last few measurements with the mean of those before.

    It works on measurements, whose noise is independent from tick to tick and of known variance. A stream that moves
    by itself needs more than noise to be called changed: the spread of its own baseline counts where it is larger.
    Ticks that were called changed do not become part of what is usual, until hardly others are left: then the new level
    is the usual one. Predicted ticks are passed over.

    >>> from hubbub.released import Keys, Tick
    >>> keys, detector = Keys(["sports"]), ChangeDetector()
    >>> def tick(i, count):
    ...     one = np.array([float(count)])
    ...     return Release(Tick(i), keys, one, one, one, one, np.array([count]), 200.0)
    >>> [str(c) for i in range(40) for c in detector.update(tick(i, 200 if i < 38 else 900))]
    ['sports rose from 200.0 ± 2.6 to 433 ± 8', 'sports rose from 200.0 ± 2.6 to 667 ± 8']
    """

    def __init__(self, recent: int = RECENT, baseline: int = BASELINE, threshold: float = THRESHOLD) -> None:
        self._recent = recent
        self._threshold = threshold
        self._seen: deque[tuple[NDArray[np.int64], NDArray[np.float64]]] = deque(maxlen=recent + baseline)
        self._called: deque[NDArray[np.bool_]] = deque(maxlen=recent + baseline)

    def update(self, release: Release) -> list[Change]:
        """The changes that this tick shows, largest first; none before the baseline is filled."""
        if release.measurements is None:
            return []
        self._seen.append((release.measurements, release.variances))
        self._called.append(np.zeros(len(release.keys), dtype=np.bool_))
        if len(self._seen) < (self._seen.maxlen or 0):
            return []
        counts = np.array([measured for measured, _ in self._seen], dtype=np.float64)
        noise = np.array([variance for _, variance in self._seen])
        old, new = counts[: -self._recent], counts[-self._recent :]
        usual = ~np.array(self._called)[: -self._recent]
        usual |= usual.sum(axis=0) < len(old) / 3
        many = usual.sum(axis=0)
        before, after = (old * usual).sum(axis=0) / many, new.mean(axis=0)
        spread = np.maximum((usual * (old - before) ** 2).sum(axis=0) / (many - 1), noise.max(axis=0))
        before_errors, after_errors = np.sqrt(spread / many), np.sqrt(spread / len(new))
        gap, error = np.abs(after - before), np.hypot(before_errors, after_errors)
        # Hardly any noise and a count that never moved: any change at all is beyond it.
        score = np.divide(gap, error, out=np.where(gap > 0, np.inf, 0.0), where=error > 0)
        self._called[-1] = score > self._threshold
        changed = np.flatnonzero(self._called[-1])
        return [
            Change(
                release.keys.names[int(i)],
                release.tick.index,
                _mean(before[i], before_errors[i]),
                _mean(after[i], after_errors[i]),
            )
            for i in changed[np.argsort(-score[changed])]
        ]


def _mean(value: float, error: float) -> Value:
    """A mean of several measurements. It may lie below zero, as noisy counts do."""
    return Value(float(value), float(error), float(value - _REACH * error), float(value + _REACH * error))


def beyond_noise(before: Value, after: Value) -> bool:
    """Whether two released numbers differ by more than noise does once in a hundred times.

    Three standard errors of the difference: for two single Laplace draws that is exceeded in 1.0 % of cases, for sums
    of many in 0.3 %.

    >>> then, now, later = (Value(count, 20, count - 39, count + 39) for count in (1000, 1080, 1090))
    >>> beyond_noise(then, now), beyond_noise(then, later)
    (False, True)
    """
    return abs(after - before) > 3 * math.hypot(before.standard_error, after.standard_error)
