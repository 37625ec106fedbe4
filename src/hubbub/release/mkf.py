"""The multivariate Kalman filter of the WWW'14 paper: all pages at once, along the links."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.filters import DenseState, dense
from hubbub.filters.belief import Belief
from hubbub.mechanism import Estimate, Measurement, Option
from hubbub.mechanism.kinds import PerKey
from hubbub.models import NavigationModel
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.heritage import inherit
from hubbub.release.model import Model
from hubbub.release.releaser import Releaser
from hubbub.release.ukf import checked_variances, nothing_known, told
from hubbub.released import Domain, Tick

Array = NDArray[np.float64]

MOST_KEYS = 4_096
"""A matrix of them is 134 MB; a tick takes several, and O(m^3) steps."""


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
    >>> from hubbub.released import Keys
    >>> print(Mkf(Keys(["front"]), Guarantee.pure(Session(max_ticks=20), 1)).guarantee)
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    """

    name: ClassVar[str] = "mkf"

    model: Option[NavigationModel | None] = Option(Model(), None, "How visitors move, learned from public sessions.")
    process_variance: Option[float | Array] = Option(
        PerKey(), 100.0, "Q: by how much a count departs from the model in a tick, as a variance."
    )

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        if len(keys) > MOST_KEYS:
            raise InvalidParameter(
                f"`mkf` keeps a number for every two of its keys; {len(keys):,} are more than {MOST_KEYS:,}.",
                "Use navigation or ukf, which keep a few for each key.",
            )
        model = self.model
        if model is not None:
            model.expect(keys)
        self._matrix = np.eye(len(keys)) if model is None else model.matrix.toarray()
        self._arrivals = np.zeros(len(keys)) if model is None else model.arrivals
        self._process = np.diag(checked_variances(self.process_variance, keys))
        self._filter: DenseState | None = None

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:  # noqa: ARG002
        before = None if self._filter is None else self._moved(self._filter)
        if measurement is None or measurement.values is None:
            self._filter = before
            return nothing_known(self.keys) if before is None else _told(before)
        measured = measurement.values.astype(np.float64)
        if before is None:
            self._filter = DenseState(measured, measurement.variance * np.eye(len(self.keys)))
        else:
            self._filter = dense.correct(before, measured, measurement.variance)
        return _told(self._filter)

    def _moved(self, state: DenseState) -> DenseState:
        return dense.predict(state, self._matrix, self._process, self._arrivals)

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        if self._filter is None:
            return {}, {}
        return {}, {"mean": self._filter.mean, "covariance": self._filter.covariance}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._filter = DenseState(arrays["mean"], arrays["covariance"]) if arrays else None

    def _inherit(self, before: Domain, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        known = inherit(before, self.keys, arrays["mean"], arrays["covariance"].diagonal()) if arrays else None
        if known is None:
            return
        covariance = np.diag(known.variance)
        kept = np.flatnonzero(known.kept)
        among = arrays["covariance"][np.ix_(known.sources[kept], known.sources[kept])].copy()
        np.fill_diagonal(among, known.variance[kept])
        covariance[np.ix_(kept, kept)] = among
        self._filter = DenseState(known.level, covariance)


def _told(state: DenseState) -> Estimate:
    return told(Belief.gaussian(state.mean, state.covariance.diagonal()))
