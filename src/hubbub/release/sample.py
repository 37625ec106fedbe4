"""Sample and hold: measure now and then, repeat the last value in between."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee, Window
from hubbub.release.lpa import CONFIDENCE
from hubbub.release.releaser import Estimate, Releaser
from hubbub.released import Cost, Keys, Tick

PRACTICAL_SHARE = 10
"""Without knowing the series, one look in so many ticks: between "every tick" and "once"."""


class Sample(Releaser):
    """`samples` evenly spaced measurements, each held until the next. A baseline that is hard to beat.

    For a person's horizon the samples are spread over it; for a `Window` over any window. Events and sessions gain
    nothing from pauses, so every tick of theirs is sampled. How many samples are best depends on the series; the
    default of a tenth of the ticks looks at nothing.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: discrete Laplace of scale samples max_items / epsilon (or Gaussian of variance samples max_items /
        (2 rho)) at every sampled tick; `samples` counts only up to `max_ticks`.
        Not covered: when releases appear, and what side knowledge tells about several units at once.
        Reference: Dwork, McSherry, Nissim & Smith 2006, Prop. 1.
        Proof: docs/proofs/fast.md (proved).

    >>> from hubbub.privacy import User
    >>> sample = Sample(Keys(["flu"]), Guarantee.pure(User(horizon=100), 1), samples=4)
    >>> print(sample.guarantee)
    Each person's presence changes any output's probability by at most a factor e^1 = 2.72, over all 100 ticks ...
    >>> from hubbub.confidential import Counts
    >>> [sample.release(Counts.of(sample.keys, Tick(t), [1699])).cost for t in (0, 1, 25)]
    [Cost(epsilon=1/4), Cost(nothing), Cost(epsilon=1/4)]
    """

    name: ClassVar[str] = "sample"

    def __init__(
        self, keys: Keys, guarantee: Guarantee, *, samples: int | None = None, source: ByteSource | None = None
    ) -> None:
        super().__init__(keys, guarantee, source=source)
        span = guarantee.unit.horizon or (guarantee.unit.max_ticks if isinstance(guarantee.unit, Window) else None)
        if span is None:
            if samples is not None:
                raise InvalidParameter(
                    f"`samples` are spread over a horizon or a window; a {guarantee.unit.noun} has neither.",
                    "Leave it out: every tick is sampled, at the same cost.",
                )
            span = samples = guarantee.unit.max_ticks
        self.samples = max(span // PRACTICAL_SHARE, 1) if samples is None else whole(samples, "samples")
        if self.samples > span:
            raise InvalidParameter(
                f"`samples` must be at most the {span:,} ticks there are; got {self.samples:,}.", f"Use {span}."
            )
        self.gap = math.ceil(span / self.samples)
        # Rounding the gap up can leave fewer samples than were asked for: then each may cost more.
        self._price = guarantee.budget / min(math.ceil(span / self.gap), guarantee.unit.max_ticks)
        self._last = np.zeros(len(keys))
        self._due = 0

    def cost(self, tick: Tick) -> Cost:
        if tick.index < self._due:
            return Cost.nothing()
        return Cost(epsilon=self._price) if self.guarantee.kind == "pure" else Cost(rho=self._price)

    def _correct(self, measurements: NDArray[np.int64], cost: Cost) -> Estimate:
        # A gap in the data must not pull samples together: the next one is a full gap away.
        self._due = self._next - 1 + self.gap
        noise = self._perturbation.noise(cost)
        reach = float(noise.quantile(Fraction(1 + Fraction(str(CONFIDENCE)), 2)))
        raw = measurements.astype(np.float64)
        self._last = np.maximum(raw, 0.0)
        error = np.full(len(self.keys), math.sqrt(noise.variance))
        return Estimate(self._last.copy(), error, np.maximum(raw - reach, 0.0), np.maximum(raw + reach, 0.0))

    def _predict(self) -> Estimate:
        nothing = np.full(len(self.keys), np.inf)
        return Estimate(self._last.copy(), nothing, np.zeros(len(self.keys)), nothing.copy())

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"due": self._due}, {"last": self._last}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._due, self._last = facts["due"], arrays["last"]
