"""What a query came to."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hubbub.released.value import Value


@dataclass(frozen=True)
class Opened:
    """The noisy sums, with how many answered, what the noise may have done, and what was promised.

    >>> Opened("colours", [12, -1], reports=20, asked=30, variance=8.0, promise="").values[0].interval
    '95 of 100 times between 5.0 and 19.0'
    """

    query: str
    sums: list[int]
    reports: int
    asked: int
    variance: float
    promise: str
    attested: str = ""
    """What nobody has checked, where something was not."""

    @property
    def values(self) -> list[Value]:
        """Each sum with its error. Noise is never rounded away: a sum may be below zero."""
        error = math.sqrt(self.variance)
        # Noises here stay within 2.24 errors at least 19 of 20 times; they are whole numbers, so the next one counts.
        reach = math.ceil(2.24 * error)
        return [Value(float(one), error, one - reach, one + reach) for one in self.sums]
