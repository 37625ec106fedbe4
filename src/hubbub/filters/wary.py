"""What the measurements alone say of a count, when a model that is wrong could go unnoticed.

It takes about 2/d^2 ticks to see a change of d noise scales, so a model that is wrong by less than the noise is
believed for long. No filter can know better; an interval can say so. So each key has, besides its hypotheses, a *wary*
belief about its level: that it wanders, as much as the model lets it, but by no less than what the noise would hide. It
is moved by the measurements of its own key and by nothing else, neither by links nor by other keys. And it never strays
far from what the hypotheses say: what is larger than that, they notice.

The interval that is told holds both the hypotheses' and this one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.filters.belief import Belief
from hubbub.filters.habits import Habits
from hubbub.filters.noises import Noise
from hubbub.filters.observation import Observation

Array = NDArray[np.float64]
_ENDS = (0.05, 0.95)
_REACH = 1.6448536269514722
"""A change is missed to one side only, so 5 % on each side are 95 % of changes."""
_NARROW = 0.6
"""In noise scales: a belief narrower than this before a measurement is nearly normal after it."""
_TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Wary:
    """A level and its variance a key, from the measurements of that key alone."""

    level: Array
    variance: Array

    def moved(self, base: Array, noise_scale: float, habits: Habits) -> Wary:
        """One tick on: `base` is how the model lets the count vary within a tick."""
        return Wary(self.level, self.variance + np.maximum(base, (habits.wary * noise_scale) ** 2))

    def corrected(self, seen: Observation, around: Array, reach: float | Array) -> Wary:
        """After a measurement; no further than `reach` from the level that is told."""
        level = np.clip(self.level + self.variance * seen.pull, around - reach, around + reach)
        return Wary(level, np.maximum(self.variance * (1.0 - self.variance * seen.grip), _TINY))

    def ends(self) -> tuple[Array, Array]:
        """Its own interval, as if it were normal."""
        reach = _REACH * np.sqrt(self.variance)
        return self.level - reach, self.level + reach

    def widened(self, belief: Belief, low: Array, high: Array) -> Belief:
        """The belief with an interval, and an error, that hold for this one too."""
        away = self.level - belief.values
        errors = np.sqrt(np.maximum(belief.errors**2, self.variance + away * away))
        return Belief.cut(belief.values, errors, np.minimum(belief.lower, low), np.maximum(belief.upper, high))


def correct(
    wary: Wary, measured: Array, noise: Noise, belief: Belief, level: Array, habits: Habits
) -> tuple[Wary, Belief]:
    """The wary belief after a measurement, and what is told, widened by it."""
    seen = noise.observe(wary.level, wary.variance, measured)
    after = wary.corrected(seen, level, habits.leash * noise.scale)
    low, high = after.ends()
    wide = np.flatnonzero(wary.variance > (_NARROW * noise.scale) ** 2)
    if len(wide):  # the belief's shape is then that of the noise, no normal one
        ends = noise.at(wide).quantiles(wary.level[wide], wary.variance[wide], measured[wide], _ENDS)
        held = after.level[wide] - (wary.level + wary.variance * seen.pull)[wide]
        low[wide], high[wide] = ends[0] + held, ends[1] + held
    return after, after.widened(belief, low, high)
