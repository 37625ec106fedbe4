"""What a query came to."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hubbub.errors import InvalidInput
from hubbub.released.value import Value

LARGEST = 2**128
"""No element of any field is larger."""


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

    def __post_init__(self) -> None:
        """A result comes over the wire: whoever shows it need not doubt what it is made of."""
        words = all(isinstance(one, str) for one in (self.query, self.promise, self.attested))
        sums = isinstance(self.sums, list) and all(type(one) is int and abs(one) < LARGEST for one in self.sums)
        counts = all(type(one) is int and 0 <= one < LARGEST for one in (self.reports, self.asked))
        variance = type(self.variance) is float and 0 <= self.variance < math.inf
        if not (words and sums and counts and variance):
            raise InvalidInput("This is no result.", "Was it changed on the way?")

    @property
    def values(self) -> list[Value]:
        """Each sum with its error. Noise is never rounded away: a sum may be below zero."""
        error = math.sqrt(self.variance)
        # Noises here stay within 2.24 errors at least 19 of 20 times; they are whole numbers, so the next one counts.
        reach = math.ceil(2.24 * error)
        return [Value(float(one), error, one - reach, one + reach) for one in self.sums]
