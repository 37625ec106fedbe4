"""What a walk down a hierarchy came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hubbub.released.value import Value


@dataclass(frozen=True)
class Found:
    """Noisy counts by context and item, of as many contexts as had enough.

    `shown` and `clicked`, by node and item, are what `ClickRates.of_released` (in `hubbub.personal`) takes, and becomes
    CTRs with intervals and back-off.
    """

    name: str
    counts: Mapping[str, Value]
    """How many entries lie below each node that was asked about, of those who answered in that node's round."""
    shown: Mapping[tuple[str, str], Value]
    clicked: Mapping[tuple[str, str], Value]
    answered: tuple[int, ...]
    """How many clients answered in each round."""
    asked: int
    levels: int
    promise: str
    pruned: frozenset[str] = frozenset()
    """Nodes with too little below: what lies under them was not asked about."""
    left_out: frozenset[str] = frozenset()
    """Nodes with enough below, but a round would have become too long with them."""
    attested: str = ""
    below: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Into which parts each node was divided."""

    def __repr__(self) -> str:
        return f"Found({self.name!r}, {len(self.counts):,} nodes, {len(self.clicked):,} pairs of node and item)"
