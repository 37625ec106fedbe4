"""A part of a hierarchy of contexts: all the contexts below it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Node:
    """The contexts number `first` to `first + leaves - 1`. One with a single context is that context.

    `depth` counts from the top, which has 0. `parts` are the nodes of the single attributes, where several are
    combined.

    >>> Node("town", first=4, leaves=3, depth=1).covers(6)
    True
    """

    name: str
    first: int
    leaves: int
    depth: int
    parts: tuple[Node, ...] = field(default=(), compare=False)

    def covers(self, leaf: int) -> bool:
        return self.first <= leaf < self.first + self.leaves

    def shared(self, other: Node) -> int:
        """How many contexts lie below both."""
        last = min(self.first + self.leaves, other.first + other.leaves)
        return max(0, last - max(self.first, other.first))
