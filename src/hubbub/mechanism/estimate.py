"""What the estimating half of a mechanism says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubbub.released import JointErrors


class Estimate(NamedTuple):
    """What an estimator believes after a tick, one entry per key; `joint` where it knows how errors go together."""

    values: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    joint: JointErrors | None = None
