"""The multivariate Kalman filter of the WWW'14 paper: all pages at once, along the links."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.filters import DenseState, dense
from hubbub.filters.belief import Belief
from hubbub.models import NavigationModel
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.releaser import Estimate, Releaser
from hubbub.release.ukf import checked_variances, nothing_known, told
from hubbub.released import Cost, Keys

Array = NDArray[np.float64]


class Mkf(Releaser):
    """M-KF: X(k+1) = M X(k) + w with the navigation matrix M, diagonal Q (Fan et al. 2014, Alg. 4). O(m^3) a tick.

    The paper counts inactive sessions "$" as an 18th page, which makes new sessions part of M. One session changes
    that count in up to T - l ticks, so noise of scale l/epsilon does not protect it: here "$" is neither measured nor
    released, and new sessions enter as the constant `model.arrivals`, which is what the "$" column of M amounts to.
    Without a model the matrix is the identity. Its intervals are those of the filter's own covariance, and hold only if
    Q is right: a Q that was tuned for small errors makes them too narrow (docs/reproduce.md).

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: the noise of `Lpa`; filtering sees noisy values only and costs nothing. The model is learned from
        public data.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Fan et al. 2014, Thm 3; Dwork & Roth 2014, Prop. 2.1 (post-processing).
        Proof: docs/proofs/filters.md (proved).

    >>> from hubbub.privacy import Session
    >>> print(Mkf(Keys(["front"]), Guarantee.pure(Session(max_ticks=20), 1)).guarantee)
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    """

    name: ClassVar[str] = "mkf"

    def __init__(
        self,
        keys: Keys,
        guarantee: Guarantee,
        *,
        model: NavigationModel | None = None,
        process_variance: float | Array = 100.0,
        source: ByteSource | None = None,
    ) -> None:
        super().__init__(keys, guarantee, source=source)
        if model is not None:
            model.expect(keys)
        self._matrix = np.eye(len(keys)) if model is None else model.matrix.toarray()
        self._arrivals = np.zeros(len(keys)) if model is None else model.arrivals
        self._process = np.diag(checked_variances(process_variance, keys))
        self._filter: DenseState | None = None

    def _correct(self, measurements: NDArray[np.int64], cost: Cost) -> Estimate:
        variance = self._perturbation.noise(cost).variance
        measured = measurements.astype(np.float64)
        if self._filter is None:
            self._filter = DenseState(measured, variance * np.eye(len(self.keys)))
        else:
            self._filter = dense.correct(self._moved(self._filter), measured, variance)
        return _told(self._filter)

    def _predict(self) -> Estimate:
        if self._filter is None:
            return nothing_known(self.keys)
        self._filter = self._moved(self._filter)
        return _told(self._filter)

    def _moved(self, state: DenseState) -> DenseState:
        return dense.predict(state, self._matrix, self._process, self._arrivals)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        if self._filter is None:
            return {}, {}
        return {}, {"mean": self._filter.mean, "covariance": self._filter.covariance}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._filter = DenseState(arrays["mean"], arrays["covariance"]) if arrays else None


def _told(state: DenseState) -> Estimate:
    return told(Belief.gaussian(state.mean, state.covariance.diagonal()))
