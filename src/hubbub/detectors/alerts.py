"""An EARS detector that reads one release a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from hubbub.detectors.days import Days
from hubbub.detectors.ears import BASELINE, EarsSettings, ears_statistics
from hubbub.released import Domain, Release, Tick


@dataclass(frozen=True, slots=True)
class Alert:
    """A day that is far above what came before, with the reason in words."""

    key: str
    tick: Tick
    kind: str
    value: float
    statistic: float
    limit: float

    @property
    def reason(self) -> str:
        daily = self.tick.length == timedelta(days=1)  # without dates nobody said that ticks are days
        sums = f" (three {'days' if daily else 'ticks'} together)" if self.kind == "C3" else ""
        before = "in the week" if daily else f"in the {BASELINE} ticks"
        return (
            f"{self.kind} is {self.statistic:.1f}{sums}, above {self.limit:g}: {self.value:,.0f} was measured, "
            f"far more than {before} of its baseline"
        )

    def __str__(self) -> str:
        return f"{self.key}, tick {self.tick}: {self.reason}."


class EarsDetector:
    """Keeps the last days of every key and tells which of them alarm today.

    It reads the noisy measurement, with its known noise, where a release has one: an estimator would smooth the very
    onset that is looked for. A day that was only predicted shows nothing new: it has no statistic, and in later
    baselines its estimate stands in.

    >>> from hubbub.released import Keys
    >>> detector = EarsDetector(Keys(["flu"]), EarsSettings("C1"))
    >>> def day(t, count):
    ...     one = np.array([float(count)])
    ...     return Release(Tick(t), Keys(["flu"]), one, one * 0 + 2.8, one, one, np.array([count]), 8.0)
    >>> for t, count in enumerate([20, 22, 19, 21, 18, 20, 23, 21, 60]):
    ...     for alert in detector.see(day(t, count)):
    ...         print(alert)
    flu, tick 8: C1 is 9.9, above 3: 60 was measured, far more than in the 7 ticks of its baseline.
    """

    def __init__(self, keys: Domain, settings: EarsSettings | None = None) -> None:
        self.keys = keys
        self.settings = settings or EarsSettings()
        self._days = Days(keys, self.settings.days + 1)

    def see(self, release: Release) -> list[Alert]:
        """The alerts of the release's day."""
        self._days.add(release)
        if release.measurements is None:
            return []
        statistic = ears_statistics(self._days.values, self.settings, self._days.noise)[-1]
        limit = self.settings.limit
        return [
            Alert(
                self.keys.names[int(i)],
                release.tick,
                self.settings.kind,
                float(release.measurements[i]),
                float(statistic[i]),
                limit,
            )
            for i in np.flatnonzero(statistic > limit)
        ]
