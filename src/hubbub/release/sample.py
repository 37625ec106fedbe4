"""Sample and hold: measure now and then, repeat the last value in between."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.mechanism import Estimate, Measurement, Option, Traits
from hubbub.mechanism.kinds import Whole
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee, Window
from hubbub.release.lpa import as_measured, held
from hubbub.release.releaser import Releaser
from hubbub.released import Cost, Domain, Tick

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
    >>> from hubbub.released import Keys
    >>> sample = Sample(Keys(["flu"]), Guarantee.pure(User(horizon=100), 1), samples=4)
    >>> print(sample.guarantee)
    Each person's presence changes any output's probability by at most a factor e^1 = 2.72, over all 100 ticks ...
    >>> from hubbub.confidential import Counts
    >>> [sample.release(Counts.of(sample.keys, Tick(t), [1699])).cost for t in (0, 1, 25)]
    [Cost(epsilon=1/4), Cost(nothing), Cost(epsilon=1/4)]
    """

    name: ClassVar[str] = "sample"
    traits: ClassVar[Traits] = Traits(even_cost=False)

    samples: Option[int | None] = Option(
        Whole(), None, "How many ticks of the horizon or window are measured; left out: a tenth of them."
    )

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        samples = self.samples
        span = guarantee.unit.horizon or (guarantee.unit.max_ticks if isinstance(guarantee.unit, Window) else None)
        if span is None:
            if samples is not None:
                raise InvalidParameter(
                    f"`samples` are spread over a horizon or a window; a {guarantee.unit.noun} has neither.",
                    "Leave it out: every tick is sampled, at the same cost.",
                )
            span = samples = guarantee.unit.max_ticks
        number = max(span // PRACTICAL_SHARE, 1) if samples is None else samples
        if number > span:
            raise InvalidParameter(
                f"`samples` must be at most the {span:,} ticks there are; got {number:,}.", f"Use {span}."
            )
        self._decide(Sample.samples, number)
        self.gap = math.ceil(span / number)
        # Rounding the gap up can leave fewer samples than were asked for: then each may cost more.
        self._price = guarantee.budget / min(math.ceil(span / self.gap), guarantee.unit.max_ticks)
        self._last = np.zeros(len(keys))
        self._due = 0

    def cost(self, tick: Tick) -> Cost:
        if tick.index < self._due:
            return Cost.nothing()
        return Cost(epsilon=self._price) if self.guarantee.kind == "pure" else Cost(rho=self._price)

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:
        if measurement is None:
            return held(self._last)
        # A gap in the data must not pull samples together: the next one is a full gap away.
        self._due = tick.index + self.gap
        estimate = as_measured(measurement)
        self._last = estimate.values.copy()
        return estimate

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"due": self._due}, {"last": self._last}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._due, self._last = facts["due"], arrays["last"]
