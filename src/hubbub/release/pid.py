"""FAST's sampling: a fixed rate, or a controller that samples more often when the filter is surprised."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

from hubbub.errors import InvalidParameter
from hubbub.exact import whole


@dataclass(frozen=True, slots=True)
class PidSettings:
    """Fan 2014, Table 3.1: gains (C_p, C_i, C_d), window T_i, magnitude theta and set point xi.

    `first_gap` is the interval before T_i errors are known, which the paper leaves open; ours is 1.
    """

    proportional: float = 0.9
    integral: float = 0.1
    derivative: float = 0.0
    window: int = 5
    magnitude: float = 10.0
    set_point: float = 0.1
    first_gap: int = 1

    def __post_init__(self) -> None:
        gains = (self.proportional, self.integral, self.derivative)
        if min(gains) < 0 or not math.isclose(sum(gains), 1.0):
            raise InvalidParameter(f"The three gains must be from 0 on and add up to 1; got {gains}.")
        whole(self.window, "window")
        whole(self.first_gap, "first_gap")
        if not (self.magnitude > 0 and self.set_point > 0):
            raise InvalidParameter(
                f"`magnitude` and `set_point` must be above 0; got {self.magnitude} and {self.set_point}."
            )


class PidSampler:
    """The interval to the next sample, from the filter's feedback errors.

    Erratum: Eq. 3.32 as printed, I + theta (1 - exp(-(Delta - xi)/xi)), lengthens the interval when the error is large.
    Here the sign is turned: I' = max(1, I + theta (1 - exp((Delta - xi)/xi))). Intervals are rounded to whole ticks.

    >>> sampler = PidSampler(PidSettings(window=1))
    >>> sampler.after(0, 0.0), sampler.after(6, 0.5)  # no error: wait longer; a large one: look again at once
    (7, 1)
    """

    def __init__(self, settings: PidSettings) -> None:
        self.settings = settings
        self._errors: deque[float] = deque(maxlen=settings.window)
        self._gap = float(settings.first_gap)
        self._last = 0

    def after(self, tick: int, error: float) -> int:
        """Ticks until the next sample, given the feedback error of the sample at `tick`."""
        s = self.settings
        before = self._errors[-1] if self._errors else error
        slope = (error - before) / max(tick - self._last, 1)
        self._errors.append(error)
        self._last = tick
        if len(self._errors) == s.window:
            mean = sum(self._errors) / s.window
            control = s.proportional * error + s.integral * mean + s.derivative * slope
            # The exponent is cut: e^50 ticks are as good as infinity, and below 1 the interval does not go anyway.
            change = s.magnitude * -math.expm1(min((control - s.set_point) / s.set_point, 50.0))
            self._gap = max(1.0, self._gap + change)
        return max(1, math.floor(self._gap + 0.5))

    def state(self) -> dict[str, Any]:
        return {"errors": list(self._errors), "gap": self._gap, "last": self._last}

    def restore(self, state: dict[str, Any]) -> None:
        self._errors = deque(state["errors"], maxlen=self.settings.window)
        self._gap, self._last = state["gap"], state["last"]
