"""The Laplace perturbation algorithm: noise, and nothing else."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.releaser import Estimate, Releaser
from hubbub.released import Cost, Keys

CONFIDENCE = 0.95


class Lpa(Releaser):
    """Each tick's counts plus independent noise (Fan et al. 2014, "LPA"; Dwork et al. 2006, Prop. 1).

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: discrete Laplace of scale max_ticks max_items / epsilon (pure), or discrete Gaussian of variance
        max_ticks max_items / (2 rho) (zCDP, approximate), a tick and key.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Dwork, McSherry, Nissim & Smith 2006, Prop. 1; Canonne, Kamath & Steinke 2020, Thm 14.
        Proof: docs/proofs/perturbation.md (proved).

    >>> from hubbub.privacy import Session
    >>> lpa = Lpa(Keys(["front", "news"]), Guarantee.pure(Session(max_ticks=20), 1))
    >>> print(lpa.guarantee)
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    >>> from hubbub.confidential import Counts
    >>> from hubbub.released import Tick
    >>> release = lpa.release(Counts.of(lpa.keys, Tick(0), {"front": 812, "news": 240}))
    >>> release.cost
    Cost(epsilon=1/20)
    """

    name: ClassVar[str] = "lpa"

    def __init__(self, keys: Keys, guarantee: Guarantee, *, source: ByteSource | None = None) -> None:
        super().__init__(keys, guarantee, source=source)
        self._last = np.zeros(len(keys))
        self._priced, self._reach, self._error = Cost.nothing(), 0.0, 0.0

    def _correct(self, measurements: NDArray[np.int64], cost: Cost) -> Estimate:
        if cost != self._priced:  # the same at every tick, for nearly every stream
            noise = self._perturbation.noise(cost)
            self._priced, self._error = cost, math.sqrt(noise.variance)
            self._reach = float(noise.quantile((1 + CONFIDENCE) / 2))
        reach = self._reach
        raw = measurements.astype(np.float64)
        # Counts are never negative: cutting both value and interval at zero can only bring them closer to the truth.
        self._last = np.maximum(raw, 0.0)
        error = np.full(len(self.keys), self._error)
        return Estimate(self._last.copy(), error, np.maximum(raw - reach, 0.0), np.maximum(raw + reach, 0.0))

    def _predict(self) -> Estimate:
        # Without a model there is no saying how far the truth has moved: the last value, and an interval without end.
        nothing = np.full(len(self.keys), np.inf)
        return Estimate(self._last.copy(), nothing, np.zeros(len(self.keys)), nothing.copy())

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, {"last": self._last}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._last = arrays["last"]
