"""How fast probabilities fall: f(k) = exp(-(linear k + square k^2)) for k >= 0."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hubbub.noise.digits import exp_bounds


@dataclass(frozen=True, slots=True)
class Decay:
    """Discrete Laplace has linear = 1/scale, discrete Gaussian square = 1/(2 variance); the other one is 0.

    >>> Decay(Fraction(1, 20), Fraction(0)).bounds(20, 16)
    (24109, 24110)
    """

    linear: Fraction
    square: Fraction

    def bounds(self, k: int, bits: int) -> tuple[int, int]:
        """low <= f(k) 2^bits <= high."""
        return exp_bounds(self.linear * k + self.square * k * k, bits)

    def coarse(self, shift: int) -> Decay:
        """f seen at every 2^shift-th place: k -> f(2^shift k)."""
        width = 1 << shift
        return Decay(self.linear * width, self.square * width * width)

    def weights(self, work: int, reach: int) -> tuple[list[tuple[int, int]], int]:
        """Bounds on f(1) 2^work, f(2) 2^work, ... up to the first below 2^-reach, and one on the sum of all after it.

        Each value comes from the one before by a rounded product, low ones rounded down and high ones up.
        """
        step_low, step_high = exp_bounds(self.linear + self.square, work)
        turn_low, turn_high = exp_bounds(2 * self.square, work)
        low = high = 1 << work
        end = 1 << (work - reach)
        weights = []
        while high >= end:
            low = low * step_low >> work
            high = (high * step_high >> work) + 1
            weights.append((low, high))
            step_low = step_low * turn_low >> work
            step_high = (step_high * turn_high >> work) + 1
        # f(k+1)/f(k) falls with k, so what follows is below a geometric series with the last ratio.
        after = high * step_high // ((1 << work) - step_high) + 1
        return weights, after
