"""The default: a model of navigation that gives way when the crowd does something else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.filters import Links, adaptive, kin
from hubbub.filters.adaptive import AdaptiveState
from hubbub.filters.belief import Belief
from hubbub.filters.habits import Habits
from hubbub.filters.noises import GaussianNoise, LaplaceNoise, Noise
from hubbub.filters.track import Track
from hubbub.filters.wary import Wary
from hubbub.mechanism import Estimate, Measurement, Option
from hubbub.mechanism.kinds import Number, Record, Truth
from hubbub.models import NavigationModel
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.heritage import inherit
from hubbub.release.model import Model
from hubbub.release.releaser import Releaser
from hubbub.release.ukf import nothing_known, told
from hubbub.released import Domain, Tick

_ARRIVE = 0.4
_ALONE = Habits(churn=_ARRIVE)
"""Without a model: each tick this part of a page's visitors is new, and how many that are is learned page by page."""
_PARTS = ("level", "drift", "level_variance", "covariance", "drift_variance")


class Navigation(Releaser):
    """Counts that move along links and arrive at a learned rate, estimated under the noise as it is.

    X(k+1) = M X(k) + a + w. The process noise cov(w) = diag(M x + a) - M diag(x) M' follows from the model and is not
    tuned. Where measurements contradict the model, page by page or for the site as a whole, the filter learns the new
    inflow from them (`hubbub.filters.adaptive`). Without a `model` all is learned from the released values: how many
    arrive on each page, and how large pages are altogether, which decides what is told of those that the noise hides.

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
    >>> from hubbub.released import Keys
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
    state_version: ClassVar[int] = 2

    model: Option[NavigationModel | None] = Option(Model(), None, "How visitors move, learned from public sessions.")
    adaptive: Option[bool] = Option(Truth(), True, "false believes the model whatever happens: for comparison.")
    scale_error: Option[float] = Option(
        Number(least=0.0, most=10.0),
        0.0,
        "How far off the size of the live site may be from what the model expects; 0.5 is a half more or less.",
    )
    habits: Option[Habits | None] = Option(Record(Habits), None, "How the filter adapts.")

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        model = self.model
        self._model = None if model is None else model.expect(keys)
        given = self.habits or (_ALONE if model is None else Habits())
        self._habits = replace(given, adaptive=self.adaptive and given.adaptive)
        self._decide(Navigation.habits, given)
        self._links = Links.staying(len(keys), 1.0 - _ARRIVE) if model is None else Links.of(model.matrix)
        self._arrivals = np.zeros(len(keys)) if model is None else model.arrivals
        # Until something is measured: what noise at the even cost is like.
        variance = self._perturbation.variance(self._even_cost)
        expected = Measurement(Tick(0), keys, None, variance, self._even_cost, self._noise)
        self._noise_scale = float(_noise_of(expected).scale)
        self._filter: AdaptiveState | None = None
        self._kin = kin.begin()
        self._steps = 0

    def _advance(self) -> AdaptiveState | None:
        """The belief at the coming tick: the start, or one step on. None while nothing at all is known."""
        if self._filter is None:
            if self._model is None:
                return None
            first, doubt = self._model.initial, self._model.initial_errors
            return adaptive.begin(
                first, first + doubt**2, self._model.errors**2, self.scale_error**2, self._habits
            )  # fmt: skip
        opening = None if self._model is None else self._model.opening
        extra = opening[self._steps] if opening is not None and self._steps < len(opening) else None
        self._steps += 1
        signed = self._model is None
        return adaptive.predict(
            self._filter, self._links, self._arrivals, self._noise_scale, self._habits, extra, signed=signed
        )

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:  # noqa: ARG002
        if measurement is None or measurement.values is None:
            return self._predicted()
        noise = _noise_of(measurement)
        self._noise_scale = float(np.mean(noise.scale))
        measured = measurement.values.astype(np.float64)
        before = self._advance()
        if before is None:
            # Nothing was known: a flat belief, as wide as the largest measurement, around what was just seen.
            width = np.full(len(measured), (abs(measured).max() + 100.0 * self._noise_scale) ** 2)
            before = adaptive.begin(np.zeros(len(measured)), width, _ARRIVE**2 * width, 0.0, self._habits, _ARRIVE)
        self._filter, belief = adaptive.correct(before, measured, noise, self._habits)
        if self._model is None:
            self._kin = kin.learn(self._kin, self._filter.level, self._filter.variance)
        return told(self._like_its_kind(belief))

    def _like_its_kind(self, belief: Belief) -> Belief:
        """Without a model, what the noise hides of a key is told as the other keys suggest."""
        if self._model is not None or self._filter is None:
            return belief
        values = np.maximum(kin.tell(self._kin, self._filter.level, self._filter.variance), 0.0)
        return Belief(values, belief.errors, np.minimum(belief.lower, values), np.maximum(belief.upper, values))

    def _predicted(self) -> Estimate:
        self._filter = self._advance()
        if self._filter is None:
            return nothing_known(self.keys)
        return told(self._like_its_kind(adaptive.expect(self._filter, self._habits)))

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts: dict[str, Any] = {"steps": self._steps, "noise_scale": self._noise_scale}
        now = self._filter
        if now is None:
            return facts, {}
        facts |= {"scale": now.scale, "scale_variance": now.scale_variance}
        arrays: dict[str, NDArray[Any]] = {
            "where": now.where, "weights": now.weights, "level": now.level, "variance": now.variance,
            "chance": now.chance, "response": now.response, "wary": now.wary.level, "wary_variance": now.wary.variance,
        }  # fmt: skip
        arrays["kin"] = self._kin
        arrays |= {f"calm_{name}": getattr(now.calm, name) for name in _PARTS}
        arrays |= {f"others_{name}": getattr(now.others, name) for name in _PARTS}
        return facts, arrays

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._steps, self._noise_scale = facts["steps"], facts["noise_scale"]
        if not arrays:
            self._filter = None
            return
        self._kin = arrays["kin"]
        calm, others = (Track(*(arrays[f"{kind}_{name}"] for name in _PARTS)) for kind in ("calm", "others"))
        plain = {name: arrays[name] for name in ("where", "weights", "level", "variance", "chance", "response")}
        self._filter = AdaptiveState(
            calm=calm, others=others, scale=facts["scale"], scale_variance=facts["scale_variance"],
            wary=Wary(arrays["wary"], arrays["wary_variance"]), **plain,
        )  # fmt: skip

    def _inherit(self, before: Domain, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        known = inherit(before, self.keys, arrays["level"], arrays["variance"]) if arrays else None
        if known is None or self._model is not None:  # a model knows its keys, and has a start of its own
            return
        self._noise_scale = facts["noise_scale"]
        drift = _ARRIVE**2 * known.variance
        self._filter = adaptive.begin(known.level, known.variance, drift, 0.0, self._habits, _ARRIVE)
        self._kin = arrays["kin"]


def _noise_of(measurement: Measurement) -> Noise:
    return GaussianNoise(measurement.variance) if measurement.is_gaussian else LaplaceNoise(measurement.scale)
