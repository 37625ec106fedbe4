"""The univariate Kalman filter of the WWW'14 paper: one random walk a page."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.filters import ScalarState, scalar
from hubbub.filters.belief import Belief
from hubbub.mechanism import Estimate, Measurement, Option
from hubbub.mechanism.kinds import PerKey
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.heritage import inherit
from hubbub.release.releaser import Releaser
from hubbub.released import Domain, Tick

Array = NDArray[np.float64]


class Ukf(Releaser):
    """U-KF: each page's counts plus noise, filtered as a random walk (Fan et al. 2014, Alg. 1-3).

    `process_variance` is Q, a number or one per page; the paper tunes it on training data over powers of ten
    (`hubbub.lab.tuning`). The paper says of R only that it is proportional to (l/epsilon)^2; here it is the variance
    of the noise that was added.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: the noise of `Lpa`; filtering sees noisy values only and costs nothing.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Fan et al. 2014, Thm 2; Dwork & Roth 2014, Prop. 2.1 (post-processing).
        Proof: docs/proofs/filters.md (proved).

    >>> from hubbub.privacy import Session
    >>> from hubbub.released import Keys
    >>> print(Ukf(Keys(["front"]), Guarantee.pure(Session(max_ticks=20), 1)).guarantee)
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    """

    name: ClassVar[str] = "ukf"

    process_variance: Option[float | Array] = Option(
        PerKey(), 100.0, "Q: by how much a count moves from tick to tick, as a variance."
    )

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        self._process = checked_variances(self.process_variance, keys)
        self._filter: ScalarState | None = None

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:  # noqa: ARG002
        before = None if self._filter is None else scalar.predict(self._filter, self._process)
        if measurement is None or measurement.values is None:
            self._filter = before
            return nothing_known(self.keys) if before is None else _told(before)
        measured = measurement.values.astype(np.float64)
        if before is None:  # Alg. 3: the first noisy value is released as it is
            self._filter = ScalarState(measured, np.full(len(self.keys), measurement.variance))
        else:
            self._filter = scalar.correct(before, measured, measurement.variance)
        return _told(self._filter)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        if self._filter is None:
            return {}, {}
        return {}, {"mean": self._filter.mean, "variance": self._filter.variance}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._filter = ScalarState(arrays["mean"], arrays["variance"]) if arrays else None

    def _inherit(self, before: Domain, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        known = inherit(before, self.keys, arrays["mean"], arrays["variance"]) if arrays else None
        if known is not None:
            self._filter = ScalarState(known.level, known.variance)


def _told(state: ScalarState) -> Estimate:
    return told(Belief.gaussian(state.mean, state.variance))


def told(belief: Belief) -> Estimate:
    """A filter's belief in the words of a releaser."""
    return Estimate(belief.values, belief.errors, belief.lower, belief.upper)


def nothing_known(keys: Domain) -> Estimate:
    """What can be said of a tick before anything was measured: nothing."""
    unknown = np.full(len(keys), np.inf)
    return Estimate(np.zeros(len(keys)), unknown, np.zeros(len(keys)), unknown.copy())


def checked_variances(given: float | Array, keys: Domain) -> Array:
    """One process variance a key, or a clear refusal."""
    variances = np.asarray(given, dtype=np.float64)
    if variances.shape not in ((), (len(keys),)) or not np.isfinite(variances).all() or (variances < 0).any():
        raise InvalidParameter(
            f"`process_variance` must be one finite number from 0 on, or one for each of {len(keys):,} keys.",
            "It is the variance of a count's change from tick to tick.",
        )
    return np.broadcast_to(variances, (len(keys),)).astype(np.float64)
