"""The total of a range, and how wrong it may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hubbub.released import plus_minus


@dataclass(frozen=True, slots=True)
class RangeAnswer:
    """How often `key` occurred from tick `first` to tick `last`, both included.

    `value` is unbiased (and so may be negative); `lower` to `upper` covers the truth in at least 95 of 100 cases and is
    cut at zero. `missing` ticks inside the range were never measured: what happened in them is not in the total.

    >>> print(RangeAnswer("front", 10, 19, 812.4, 28.3, 752.0, 872.0))
    front, ticks 10 to 19: 812 ± 28
    """

    key: str
    first: int
    last: int
    value: float
    standard_error: float
    lower: float
    upper: float
    missing: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        gaps = f" ({self.missing:,} ticks were not measured)" if self.missing else ""
        return f"{self.key}, ticks {self.first} to {self.last}: {plus_minus(self.value, self.standard_error)}{gaps}"
