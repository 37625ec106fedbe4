"""The Laplace perturbation algorithm: noise, and nothing else."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.mechanism import Estimate, Measurement, Traits
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.heritage import inherit
from hubbub.release.releaser import Releaser
from hubbub.released import Domain, Tick


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
    >>> from hubbub.released import Keys
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
    traits: ClassVar[Traits] = Traits(exact_intervals=True)

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        self._last = np.zeros(len(keys))

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:  # noqa: ARG002
        if measurement is None:
            return held(self._last)
        estimate = as_measured(measurement)
        self._last = estimate.values.copy()
        return estimate

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, {"last": self._last}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._last = arrays["last"]

    def _inherit(self, before: Domain, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        known = inherit(before, self.keys, arrays["last"], np.zeros(len(before)))
        if known is not None:
            self._last = known.level


def as_measured(measurement: Measurement) -> Estimate:
    """The noisy counts as they are, with the interval of their noise.

    Counts are never negative: cutting both value and interval at zero can only bring them closer to the truth.
    """
    assert measurement.values is not None
    raw, reach = measurement.values.astype(np.float64), measurement.reach
    errors = np.broadcast_to(np.sqrt(measurement.variance), raw.shape).astype(np.float64)
    return Estimate(np.maximum(raw, 0.0), errors, np.maximum(raw - reach, 0.0), np.maximum(raw + reach, 0.0))


def held(last: NDArray[np.float64]) -> Estimate:
    """The last value again: without a model there is no saying how far the truth has moved, so the interval is endless.

    >>> held(np.array([5.0])).upper
    array([inf])
    """
    endless = np.full(len(last), np.inf)
    return Estimate(last.copy(), endless, np.zeros(len(last)), endless.copy())
