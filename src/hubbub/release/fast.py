"""FAST: filtering and adaptive sampling for one long series (Fan 2014, chapter 3)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.filters import particle
from hubbub.filters.noise_shape import NoiseShape
from hubbub.mechanism import Estimate, Measurement, Option, Traits
from hubbub.mechanism.kinds import Number, Record, Whole, Word
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.pid import PidSampler, PidSettings
from hubbub.release.releaser import Releaser
from hubbub.released import Cost, Domain, Tick

TABLE_3_1: dict[str, Any] = {
    "process_variance": 1e5,
    "noise_variance": 1e6,
    "particles": 1000,
    "control": PidSettings(),
}
"""The paper's defaults by our names. Its R = 10^6 is tuned to its own data at epsilon = 1: leave it out elsewhere."""

_NORMAL = 1.959963984540054
_SMALLEST = 1.0
"""The paper's delta: feedback errors are relative to at least one person."""


class Fast(Releaser):
    """At most `samples` noisy measurements, a random-walk filter between them, and a controller that spaces them.

    | paper | here | default |
    |---|---|---|
    | Kalman or particle filter | `filter` | "kalman" |
    | Q | `process_variance` | 10^5 |
    | R | `noise_variance` | the true one of the noise: the paper only says "proportional" |
    | N | `particles` | 1000 |
    | M | `samples` | 15 % of the ticks (Kalman), 25 % (particles): section 3.3.2 |
    | fixed or adaptive sampling | `sampling` | "pid", or "fixed" |

    Left open by the paper and decided here: the first value is the measurement itself, with its own variance; the
    first particles are spread evenly around it with the variance of the noise; the first T_i intervals are
    `control.first_gap`; intervals are rounded to the nearest tick; the feedback error of several keys is their mean.
    Units without a horizon are sampled at every tick, at the even cost (the paper's chapter 4).
    At a tick without a sample the variance grows to the prior's (the paper keeps it, and is too sure after a gap).

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: discrete Laplace of scale min(samples, max_ticks) max_items / epsilon a sample (or Gaussian of variance
        min(samples, max_ticks) max_items / (2 rho)); when to sample follows from released values.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Fan 2014, Thm 3.5; Rogers, Roth, Ullman & Vadhan 2016, Thm 3.1 for the adaptive times.
        Proof: docs/proofs/fast.md (proved).

    >>> from hubbub.privacy import User
    >>> from hubbub.released import Keys
    >>> fast = Fast(Keys(["flu"]), Guarantee.pure(User(horizon=200), 1))
    >>> print(fast.guarantee)
    Each person's presence changes any output's probability by at most a factor e^1 = 2.72, over all 200 ticks ...
    >>> fast.samples, fast.cost(Tick(0))
    (30, Cost(epsilon=1/30))
    """

    name: ClassVar[str] = "fast"

    traits: ClassVar[Traits] = Traits(even_cost=False)

    filter: Option[str] = Option(Word("kalman", "particle"), "kalman", "What estimates between samples.")
    sampling: Option[str] = Option(
        Word("fixed", "pid"), "pid", "When to sample: at equal gaps, or more often when the filter is surprised."
    )
    samples: Option[int | None] = Option(
        Whole(), None, "M: how many ticks of the horizon are measured; left out: 15 % (kalman) or 25 % (particle)."
    )
    process_variance: Option[float] = Option(Number(above=0.0), 1e5, "Q: by how much a count moves from tick to tick.")
    noise_variance: Option[float | None] = Option(
        Number(above=0.0), None, "R: what the Kalman filter takes the noise for; left out: what it is."
    )
    particles: Option[int] = Option(Whole(most=1_000_000), 1000, "N: how many particles, with filter=particle.")
    control: Option[PidSettings] = Option(Record(PidSettings), PidSettings(), "The controller of sampling=pid.")
    seed: Option[int] = Option(Whole(0), 0, "Of the particles' own randomness, which touches released values only.")

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        horizon = guarantee.unit.horizon
        self._with_particles = self.filter == "particle"
        self._decide(Fast.samples, self._number_of_samples(self.samples, 0.25 if self._with_particles else 0.15))
        self._fixed_gap = 1 if self.samples is None or horizon is None else math.ceil(horizon / self.samples)
        if self.sampling == "pid" and self.samples is not None:
            self._fixed_gap = 0
        self._control = PidSampler(self.control)
        most = guarantee.unit.max_ticks
        self._price = guarantee.budget / (most if self.samples is None else min(self.samples, most))
        self._taken, self._due, self._clock = 0, 0, 0
        self._mean, self._variance = np.zeros(len(keys)), np.full(len(keys), np.inf)
        self._cloud: NDArray[np.float64] | None = None

    def _number_of_samples(self, given: int | None, share: float) -> int | None:
        horizon, noun = self.guarantee.unit.horizon, self.guarantee.unit.noun
        if horizon is None:
            if given is not None:
                raise InvalidParameter(
                    f"`samples` are spread over a horizon, and a stream that protects each {noun} has none.",
                    "Leave it out: every tick is sampled, as in chapter 4 of the paper.",
                )
            return None
        number = max(round(share * horizon), 1) if given is None else given
        if number > horizon:
            raise InvalidParameter(
                f"`samples` must be at most the horizon of {horizon:,} ticks; got {number:,}.", f"Use {horizon}."
            )
        return number

    def cost(self, tick: Tick) -> Cost:
        """The price of a sample if one is due and left; nothing otherwise."""
        if tick.index < self._due or (self.samples is not None and self._taken >= self.samples):
            return Cost.nothing()
        return Cost(epsilon=self._price) if self.guarantee.kind == "pure" else Cost(rho=self._price)

    # ── estimation ───────────────────────────────────────────────────────────────────────────────────────────────

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:  # noqa: ARG002 - it has a clock
        if measurement is None or measurement.values is None:
            return self._predicted()
        at, raw, noise = self._clock, measurement.values.astype(np.float64), measurement.variance
        first = self._taken == 0
        if first:
            self._begin(raw, noise)
            error = 0.0
        else:
            self._walk()
            prior = self._mean
            self._absorb(raw, measurement)
            moved = np.abs(self._mean - prior) / np.maximum(self._mean, _SMALLEST)
            error = float(moved.mean())
        self._clock += 1
        self._taken += 1
        gap = self._fixed_gap or (self._control.settings.first_gap if first else self._control.after(at, error))
        self._due = at + gap
        return self._believed()

    def _predicted(self) -> Estimate:
        if self._taken:
            self._walk()
        self._clock += 1
        return self._believed()

    def _begin(self, raw: NDArray[np.float64], noise: float | NDArray[np.float64]) -> None:
        self._mean, self._variance = raw, np.full(len(raw), noise)
        if self._with_particles:
            self._cloud = particle.scatter(raw, np.sqrt(3 * noise), self.particles, self._randomness())

    def _walk(self) -> None:
        self._variance = self._variance + self.process_variance
        if self._cloud is not None:
            self._cloud = particle.predict(self._cloud, self.process_variance, self._randomness())
            self._mean, self._variance = self._cloud.mean(axis=1), self._cloud.var(axis=1)

    def _absorb(self, raw: NDArray[np.float64], measurement: Measurement) -> None:
        noise = measurement.variance
        if self._cloud is not None:
            gaussian = measurement.is_gaussian
            shape = NoiseShape(np.atleast_1d(np.sqrt(noise if gaussian else noise / 2)), gaussian)
            weights = particle.weigh(self._cloud, raw, shape)
            self._mean = (weights * self._cloud).sum(axis=1)
            self._variance = (weights * (self._cloud - self._mean[:, None]) ** 2).sum(axis=1)
            start = float(self._randomness(1).uniform())
            self._cloud = particle.resample(self._cloud, weights, start)
            return
        gain = self._variance / (self._variance + (self.noise_variance or noise))
        self._mean = self._mean + gain * (raw - self._mean)
        self._variance = (1 - gain) * self._variance

    def _randomness(self, turn: int = 0) -> np.random.Generator:  # not for privacy
        # One generator a tick: a restored filter goes on with the same draws. They touch released values only.
        return np.random.default_rng((self.seed, self._clock, turn))  # not for privacy

    def _believed(self) -> Estimate:
        error = np.sqrt(self._variance)
        with np.errstate(invalid="ignore"):
            low, high = self._mean - _NORMAL * error, self._mean + _NORMAL * error
        return Estimate(np.maximum(self._mean, 0.0), error, np.maximum(low, 0.0), np.maximum(high, 0.0))

    # ── state ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts = {"taken": self._taken, "due": self._due, "clock": self._clock, "control": self._control.state()}
        arrays = {"mean": self._mean, "variance": self._variance}
        return facts, arrays if self._cloud is None else {**arrays, "cloud": self._cloud}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._taken, self._due, self._clock = facts["taken"], facts["due"], facts["clock"]
        self._control.restore(facts["control"])
        self._mean, self._variance = arrays["mean"], arrays["variance"]
        self._cloud = arrays.get("cloud")
