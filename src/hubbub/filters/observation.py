"""What one noisy value says about a Gaussian belief, for the noise as it really is.

| symbol | here | meaning |
|---|---|---|
| mu, P | `mean`, `variance` | the belief before the measurement, x ~ N(mu, P) |
| b | `scale` | of the Laplace noise; its variance is 2 b^2 |
| d | z - mu | the innovation |
| g | `pull` | first derivative of log p(z) by mu |
| h | `grip` | minus its second derivative |

For any noise whatever, the belief after the measurement has mean mu + P g and variance P - P^2 h (Masreliez 1975).
For Gaussian noise that is the Kalman filter; for Laplace noise g and h have the closed forms below. At low gain a
Laplace measurement is worth two Gaussian ones of the same variance, since its Fisher information is 1/b^2 and not
1/(2 b^2): the ordinary filter leaves half of what was paid for unused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

Array = NDArray[np.float64]

FLAT = 50.0
"""From this ratio of prior deviation to noise scale on, the prior is flat and the closed form only loses digits."""
_LOG_ROOT = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """How a measurement pulls at each belief (`pull`), how firmly (`grip`), and how likely it was (`log_density`)."""

    pull: Array
    grip: Array
    log_density: Array


def observe_gaussian(mean: Array, variance: Array, measured: Array, noise_variance: float | Array) -> Observation:
    """The measurement z = x + N(0, noise_variance).

    >>> seen = observe_gaussian(np.array([0.0]), np.array([1.0]), np.array([2.0]), 3.0)
    >>> seen.pull.tolist(), seen.grip.tolist()
    ([0.5], [0.25])
    """
    total = variance + noise_variance
    grip = 1.0 / total
    away = measured - mean
    pull = away * grip
    return Observation(pull, grip, -0.5 * (away * pull + np.log(total)) - _LOG_ROOT)


def observe_laplace(mean: Array, variance: Array, measured: Array, scale: float | Array) -> Observation:
    """The measurement z = x + Laplace(scale), exactly.

    Below z the density of x is a Gaussian moved by +P/b and cut at z, above it one moved by -P/b; with r = sqrt(P)/b
    and u = d/sqrt(P) their weights are A = exp(r^2/2 - r u) Phi(u - r) and B = exp(r^2/2 + r u) Phi(-u - r). Then
    p(z) = (A + B)/(2 b), g = (A - B)/((A + B) b) and h = 2 phi(u)/((A + B) b sqrt(P)) - (1 - (g b)^2)/b^2.

    >>> seen = observe_laplace(np.array([0.0]), np.array([1e-9]), np.array([30.0]), 2.0)  # far off: pulls by 1/b
    >>> seen.pull.round(6).tolist(), seen.grip.round(6).tolist()
    ([0.5], [0.0])
    """
    deviation = np.sqrt(np.clip(variance, 1e-12 * scale * scale, (FLAT * scale) ** 2))
    ratio = deviation / scale
    away = measured - mean
    unit = away / deviation
    half = 0.5 * ratio * ratio
    lean = ratio * unit
    below = half - lean + log_ndtr(unit - ratio)
    above = half + lean + log_ndtr(-unit - ratio)
    both = np.logaddexp(below, above)
    tilt = np.tanh(0.5 * (below - above))
    kink = np.exp(-0.5 * unit * unit - _LOG_ROOT - both)
    grip = 2.0 * kink / (scale * deviation) - (1.0 - tilt * tilt) / (scale * scale)
    seen = Observation(tilt / scale, np.clip(grip, 0.0, 1.0 / (deviation * deviation)), both - np.log(2.0 * scale))
    flat = variance > (FLAT * scale) ** 2
    if flat.any():
        plain = observe_gaussian(mean, variance, measured, 2.0 * scale * scale)
        seen.pull[flat] = plain.pull[flat]
        seen.grip[flat] = plain.grip[flat]
        seen.log_density[flat] = plain.log_density[flat]
    return seen
