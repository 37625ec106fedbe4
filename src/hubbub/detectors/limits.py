"""Above what a series alarms: a limit that is moved until as many days alarm as should.

No count model fits all series: where a season rises, or holidays come, a fixed limit is exceeded far too often, and
where the noise hides everything never. So each series has its own, begun where noise and chance alone would put it
and moved after each day: up by `STEP * (1 - RATE)` after an alarm, down by `STEP * RATE` after a quiet day. While it
lies between `LOWEST` and `HIGHEST`, the share of days that alarmed is RATE, up to how far the limit moved over `STEP
* days`, whatever the series does (Gibbs & Candès 2021, Proposition 4.1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RATE = 0.035
"""The share of days that should alarm. Outbreaks are among them, so a little more than this are quiet days."""
START = 2.7
STEP = 0.08
LOWEST, HIGHEST = 1.0, 12.0


class Limits:
    """One limit a series; `fixed` is that of all of them, and stays.

    >>> limits = Limits(2)
    >>> limits.learn(np.array([5.0, 0.0]))
    >>> limits.now.round(4).tolist()
    [2.7772, 2.6972]
    """

    def __init__(self, series: int, fixed: float | None = None) -> None:
        self.now: Array = np.full(series, START if fixed is None else fixed)
        self._fixed = fixed is not None

    def learn(self, statistic: Array) -> None:
        """The next day's limits, after a day with these statistics; one without a statistic (NaN) teaches nothing."""
        if self._fixed:
            return
        moved = self.now + STEP * ((statistic > self.now) - RATE)
        self.now = np.where(np.isnan(statistic), self.now, np.clip(moved, LOWEST, HIGHEST))
