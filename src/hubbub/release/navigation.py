"""The default: a model of navigation that gives way when the crowd does something else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.filters import Links, adaptive
from hubbub.filters.adaptive import AdaptiveState
from hubbub.filters.belief import Belief
from hubbub.filters.habits import Habits
from hubbub.filters.noises import GaussianNoise, LaplaceNoise, Noise
from hubbub.filters.track import Track
from hubbub.models import NavigationModel
from hubbub.noise import ByteSource, DiscreteLaplace
from hubbub.privacy import Guarantee
from hubbub.release.releaser import Estimate, Releaser
from hubbub.release.ukf import nothing_known, told
from hubbub.released import Cost, Keys

_ALONE = Habits(memory=0.8, churn=0.4, calm=0.005, following=0.2)
"""Without a model: counts of people who come and go vary with their own number, and trends fade."""
_PARTS = ("level", "drift", "level_variance", "covariance", "drift_variance")


class Navigation(Releaser):
    """Counts that move along links and arrive at a learned rate, estimated under the noise as it is.

    X(k+1) = M X(k) + a + w. The process noise cov(w) = diag(M x + a) - M diag(x) M' follows from the model and is not
    tuned. Where measurements contradict the model, page by page or for the site as a whole, the filter learns the new
    inflow from them (`hubbub.filters.adaptive`). Without a `model` each key is a level with a fading trend, whose
    start, movement and jumps are learned from the released values alone.

    `adaptive=False` believes the model whatever happens; it is there for comparison. `scale_error` is how far off
    the size of the live site may be from what the model expects, as a part of it.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: the noise of `Lpa`; estimation sees noisy values only and costs nothing. The model is learned from
        public data.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Dwork & Roth 2014, Prop. 2.1 (post-processing).
        Proof: docs/proofs/filters.md (proved).

    >>> from hubbub.confidential import Counts
    >>> from hubbub.privacy import Session
    >>> from hubbub.released import Tick
    >>> keys = Keys(["front", "news"])
    >>> site = NavigationModel.of(keys, [[0.5, 0.1], [0.3, 0.6]], [200.0, 40.0])
    >>> stream = Navigation(keys, Guarantee.pure(Session(max_ticks=20), 1), model=site)
    >>> release = stream.release(Counts.of(keys, Tick(0), {"front": 500, "news": 480}))
    >>> bool(release.standard_errors[0] < 28.3)  # the noise alone has a standard deviation of 28.3
    True
    >>> print(stream.guarantee)
    Each browsing session's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    """

    name: ClassVar[str] = "navigation"

    def __init__(
        self,
        keys: Keys,
        guarantee: Guarantee,
        *,
        model: NavigationModel | None = None,
        adaptive: bool = True,
        scale_error: float = 0.0,
        habits: Habits | None = None,
        source: ByteSource | None = None,
    ) -> None:
        super().__init__(keys, guarantee, source=source)
        self._model = None if model is None else model.expect(keys)
        given = habits or (_ALONE if model is None else Habits())
        self._habits = replace(given, adaptive=adaptive and given.adaptive)
        if not 0.0 <= scale_error <= 10.0:
            raise InvalidParameter(
                f"`scale_error` must lie between 0 and 10; got {scale_error}.",
                "0.5 means: off by a half, more or less.",
            )
        self._scale_error = scale_error
        self._links = Links.identity(len(keys)) if model is None else Links.of(model.matrix)
        self._arrivals = np.zeros(len(keys)) if model is None else model.arrivals
        self._noise_scale = self._noise(self._account.even_cost).scale
        self._filter: AdaptiveState | None = None
        self._steps = 0

    def _noise(self, cost: Cost) -> Noise:
        noise = self._perturbation.noise(cost)
        return LaplaceNoise(float(noise.scale)) if isinstance(noise, DiscreteLaplace) else GaussianNoise(noise.variance)

    def _advance(self) -> AdaptiveState | None:
        """The belief at the coming tick: the start, or one step on. None while nothing at all is known."""
        if self._filter is None:
            if self._model is None:
                return None
            first, doubt = self._model.initial, self._model.initial_errors
            return adaptive.begin(
                first, first + doubt**2, self._model.errors**2, self._scale_error**2, self._habits
            )  # fmt: skip
        opening = None if self._model is None else self._model.opening
        extra = opening[self._steps] if opening is not None and self._steps < len(opening) else None
        self._steps += 1
        return adaptive.predict(self._filter, self._links, self._arrivals, self._noise_scale, self._habits, extra)

    def _correct(self, measurements: NDArray[np.int64], cost: Cost) -> Estimate:
        noise = self._noise(cost)
        self._noise_scale = noise.scale
        measured = measurements.astype(np.float64)
        before = self._advance()
        if before is None:
            # Nothing was known: a flat belief, as wide as the largest measurement, around what was just seen.
            width = np.full(len(measured), (abs(measured).max() + 100.0 * noise.scale) ** 2)
            before = adaptive.begin(np.zeros(len(measured)), width, np.zeros(len(measured)), 0.0, self._habits)
        self._filter, belief = adaptive.correct(before, measured, noise, self._habits)
        return told(belief)

    def _predict(self) -> Estimate:
        self._filter = self._advance()
        if self._filter is None:
            return nothing_known(self.keys)
        shared = self._filter.response**2 * self._filter.scale_variance
        return told(Belief.gaussian(self._filter.level, self._filter.variance + shared))

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts: dict[str, Any] = {"steps": self._steps, "noise_scale": self._noise_scale}
        now = self._filter
        if now is None:
            return facts, {}
        facts |= {"scale": now.scale, "scale_variance": now.scale_variance}
        arrays: dict[str, NDArray[Any]] = {
            "where": now.where, "weights": now.weights, "level": now.level, "variance": now.variance,
            "chance": now.chance, "response": now.response,
        }  # fmt: skip
        arrays |= {f"calm_{name}": getattr(now.calm, name) for name in _PARTS}
        arrays |= {f"others_{name}": getattr(now.others, name) for name in _PARTS}
        return facts, arrays

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._steps, self._noise_scale = facts["steps"], facts["noise_scale"]
        if not arrays:
            self._filter = None
            return
        calm, others = (Track(*(arrays[f"{kind}_{name}"] for name in _PARTS)) for kind in ("calm", "others"))
        plain = {name: arrays[name] for name in ("where", "weights", "level", "variance", "chance", "response")}
        self._filter = AdaptiveState(
            calm=calm, others=others, scale=facts["scale"], scale_variance=facts["scale_variance"], **plain
        )  # fmt: skip
