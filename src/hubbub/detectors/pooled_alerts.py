"""A detector that reads one release a day and pools the last days."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np

from hubbub.detectors.days import Days
from hubbub.detectors.limits import Limits
from hubbub.detectors.pooled import BASELINE, PooledSettings, pooled_statistics
from hubbub.released import Domain, Release, Tick


@dataclass(frozen=True, slots=True)
class PooledAlert:
    """Days that together are above what came before, with the reason in words."""

    key: str
    tick: Tick
    days: int
    usual: float
    excess: float
    statistic: float
    limit: float

    @property
    def reason(self) -> str:
        daily = self.tick.length == timedelta(days=1)  # without dates nobody said that ticks are days
        noun, now = ("day", "today") if daily else ("tick", "in this tick")
        when = now if self.days == 1 else f"in the last {self.days} {noun}s together"
        before = "in the month before" if daily else f"in the {BASELINE} before"
        return (
            f"{self.excess:,.0f} more than usual were measured {when}, {self.statistic:.1f} usual deviations "
            f"(alarm above {self.limit:.3g}); about {self.usual:,.0f} a {noun} were usual {before}"
        )

    def __str__(self) -> str:
        return f"{self.key}, tick {self.tick}: {self.reason}."


class PooledDetector:
    """Keeps the last days of every key and tells which of them alarm today.

    It reads measurements with their known noise, as `EarsDetector` does. A day that was only predicted never alarms;
    for later days its estimate stands in, without noise.

    >>> from hubbub.released import Keys
    >>> detector = PooledDetector(Keys(["flu"]))
    >>> def day(t, count):
    ...     one = np.array([float(count)])
    ...     return Release(Tick(t), Keys(["flu"]), one, one * 0 + 2.8, one, one, np.array([count]), 8.0)
    >>> for t in range(43):
    ...     for alert in detector.see(day(t, 20 + t % 3 + (13 if t > 40 else 0))):
    ...         print(alert)
    flu, tick 41: 14 more than usual were measured in this tick, 2.8 usual deviations (alarm above 2.67); about 21 ...
    flu, tick 42: 26 more than usual were measured in the last 2 ticks together, 3.6 usual deviations (alarm ...
    """

    def __init__(self, keys: Domain, settings: PooledSettings | None = None) -> None:
        self.keys = keys
        self.settings = settings or PooledSettings()
        self._days = Days(keys, self.settings.days + 1)
        # Limits learn from every day there was, not from those that are still remembered: they are kept here.
        self._of_days = replace(self.settings, threshold=0.0)
        self._limits = Limits(len(keys), self.settings.threshold)

    def see(self, release: Release) -> list[PooledAlert]:
        """The alerts of the release's day."""
        self._days.add(release)
        if release.measurements is None:
            return []
        pooled = pooled_statistics(self._days.values, self._of_days, self._days.noise, laplace=not release.cost.rho)
        statistic, limit = pooled.statistic[-1], self._limits.now
        self._limits.learn(statistic)
        return [
            PooledAlert(
                self.keys.names[int(i)],
                release.tick,
                int(pooled.span[-1, i]),
                float(pooled.usual[-1, i]),
                float(pooled.excess[-1, i]),
                float(statistic[i]),
                float(limit[i]),
            )
            for i in np.flatnonzero(statistic > limit)
        ]
