"""Nodes with parents: a country, its regions, their towns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.released.domain import Domain
from hubbub.released.keys import listed

_TOP = -1


class Hierarchy(Domain):
    """A public tree, or several: each node's name with that of its parent, or None at the top.

    Every node is a key of its own. If `nested`, what counts in a node counts in all nodes above it too, so the unit's
    `max_items` must allow for the whole `depth`, or no mechanism takes it. Otherwise each thing counts in one node
    alone, and `totals` of what was released adds them up, free of charge.

    >>> tree = Hierarchy({"country": None, "north": "country", "south": "country", "harbour": "north"})
    >>> tree.depth, tree.path("harbour"), [tree.names[i] for i in tree.leaves]
    (3, ('country', 'north', 'harbour'), ['south', 'harbour'])
    >>> tree.totals([0, 1, 2, 4]).tolist()  # the leaves' own counts, added up to the top
    [7, 5, 2, 4]
    """

    kind: ClassVar[str] = "hierarchy"

    def __init__(self, parents: Mapping[str, str | None], *, nested: bool = True) -> None:
        self.nested = nested
        self._names, self._positions = listed(parents)
        for name, parent in parents.items():
            if parent is not None and parent not in self._positions:
                raise InvalidParameter(
                    f"The parent {parent!r} of {name!r} is no node of the hierarchy.",
                    "List it too, with None as its parent if it is at the top.",
                )
        above = (_TOP if parent is None else self._positions[parent] for parent in parents.values())
        self.parents: NDArray[np.int64] = np.fromiter(above, dtype=np.int64, count=len(self._names))
        self.parents.setflags(write=False)
        self._levels  # noqa: B018 - refuses a circle now

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def position(self, name: str) -> int:
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            raise self.unknown(name) from None

    @property
    def noun(self) -> str:
        return "node"

    @cached_property
    def _levels(self) -> NDArray[np.int64]:
        """How many nodes stand on the way from the top to each, itself included."""
        levels = np.where(self.parents == _TOP, 1, 0)
        while (levels == 0).any():
            known = (levels == 0) & (levels[self.parents] > 0)
            if not known.any():
                lost = self._names[int(np.argmax(levels == 0))]
                raise InvalidParameter(
                    f"The hierarchy runs in a circle: {lost!r} has no way to the top.",
                    "Every node's parents must end at one whose parent is None.",
                )
            levels[known] = levels[self.parents[known]] + 1
        return levels

    @property
    def reach(self) -> int:
        return self.depth if self.nested else 1

    @property
    def depth(self) -> int:
        """How many keys one leaf can count in, itself included."""
        return int(self._levels.max())

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """Where the nodes without children stand."""
        inner = np.unique(self.parents[self.parents != _TOP])
        return np.setdiff1d(np.arange(len(self)), inner)

    def path(self, name: str) -> tuple[str, ...]:
        """The names from the top down to this node."""
        at, path = self.position(name), []
        while at != _TOP:
            path.append(self._names[at])
            at = int(self.parents[at])
        return tuple(reversed(path))

    def totals(self, values: Any) -> NDArray[Any]:
        """Each node's own value plus those of all below it."""
        sums = np.array(values)
        for level in range(self.depth, 1, -1):
            at = np.flatnonzero(self._levels == level)
            np.add.at(sums, self.parents[at], sums[at])
        return sums

    def to_dict(self) -> dict[str, Any]:
        above = [None if parent == _TOP else self._names[parent] for parent in self.parents.tolist()]
        apart = {} if self.nested else {"nested": False}
        return {"kind": self.kind, "names": list(self._names), "parents": above, **apart}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Hierarchy:
        return cls(dict(zip(facts["names"], facts["parents"], strict=True)), nested=facts.get("nested", True))

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self):,} nodes, {self.depth} levels)"
