"""The total of a range, and how wrong it may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hubbub.released import Value


@dataclass(frozen=True, slots=True, eq=False)
class RangeAnswer(Value):
    """How often `key` occurred from tick `first` to tick `last`, both included.

    `value` is unbiased (and so may be negative); `lower` to `upper` covers the truth in at least 95 of 100 cases and is
    cut at zero. `missing` ticks inside the range were never measured: what happened in them is not in the total.

    >>> print(RangeAnswer(812.4, 28.3, 752.0, 872.0, "front", 10, 19))
    front, ticks 10 to 19: 812 ± 28
    """

    key: str
    first: int
    last: int
    missing: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        where = {"key": self.key, "first": self.first, "last": self.last}
        return {**where, **Value.to_dict(self), "missing": self.missing}

    def __str__(self) -> str:
        gaps = f" ({self.missing:,} ticks were not measured)" if self.missing else ""
        return f"{self.key}, ticks {self.first} to {self.last}: {self.text}{gaps}"


@dataclass(frozen=True, slots=True, eq=False)
class PairAnswer(Value):
    """The total of some keys from tick `first` to `last`, both included, from both streams of a pair.

    `value`, `lower`, `upper` and `missing` as in `RangeAnswer`, but a tick is missing only where neither stream has
    measured it. `weight` is the part that the range stream has in the answer; the live measurements have the rest.
    """

    first: int
    last: int
    missing: int
    weight: float
