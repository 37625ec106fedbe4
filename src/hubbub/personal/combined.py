"""Several attributes at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, ClassVar

from hubbub.errors import InvalidParameter
from hubbub.personal.hierarchy import ContextHierarchy, check_words, hierarchy_from, unknown_context, unknown_node
from hubbub.personal.node import Node

MOST_CONTEXTS = 2**53 - 1
"""Numbers of contexts are exact in JavaScript up to here."""


class Combined(ContextHierarchy):
    """One context of each attribute, made coarser one attribute at a time (Goetz 2012, 4.4.1).

    `order` says which attribute becomes finer at each step from the top down. Attributes that are left out become
    finer at the end, in the order in which they are given. A node's name is a JSON list of the attributes' nodes.

    >>> from hubbub.personal.categories import Categories
    >>> place = Categories({"town": None, "north": "town", "south": "town"})
    >>> query = Categories({"food": None, "tea": "food", "pizza": "food", "sushi": "food"})
    >>> both = Combined({"place": place, "query": query}, order=("query", "place"))
    >>> [node.name for node in both.path({"place": "south", "query": "tea"})]
    ['["town","food"]', '["town","tea"]', '["south","tea"]']
    >>> both.contexts
    6
    """

    kind: ClassVar[str] = "combined"

    def __init__(self, attributes: Mapping[str, ContextHierarchy], order: Sequence[str] = ()) -> None:
        self.attributes = dict(attributes)
        sound = all(isinstance(part, ContextHierarchy) and not isinstance(part, Combined) for part in
                    self.attributes.values())  # fmt: skip
        if not self.attributes or not sound:
            raise InvalidParameter(
                "Hierarchies are combined by name, at least one, none of them combined itself.",
                'Give {"place": Decimals(…), "query": Categories(…)}.',
            )
        check_words(self.attributes)
        unknown = [name for name in order if name not in self.attributes]
        if unknown:
            raise InvalidParameter(
                f"`order` names {unknown[0]!r}, which is no attribute.", f"There are {', '.join(self.attributes)}."
            )
        self._parts = tuple(self.attributes.values())
        if self.contexts > MOST_CONTEXTS:
            raise InvalidParameter(
                f"Together the attributes have {self.contexts:,} contexts, 2^53 or more.",
                "Leave out decimals, or attributes.",
            )
        places = {name: place for place, name in enumerate(self.attributes)}
        self.order = tuple(order)
        self._steps = tuple(places[name] for name in order)

    @property
    def root(self) -> Node:
        return _joined(tuple(part.root for part in self._parts), 0, 0)

    def _step(self, parts: Sequence[Node]) -> int:
        """Which attribute becomes finer next: its depth tells how often it has; -1 at a context."""
        ahead = [part.depth for part in parts]
        for place in self._steps:
            if ahead[place]:
                ahead[place] -= 1
            elif not self._parts[place].is_context(parts[place]):
                return place
        return next((i for i, part in enumerate(parts) if not self._parts[i].is_context(part)), -1)

    def is_context(self, node: Node) -> bool:
        return self._step(node.parts) < 0

    def children(self, node: Node) -> Sequence[Node]:
        place = self._step(node.parts)
        if place < 0:
            return []
        return [self._finer(node, place, child) for child in self._parts[place].children(node.parts[place])]

    def _finer(self, node: Node, place: int, child: Node) -> Node:
        before = node.parts[place]
        parts = (*node.parts[:place], child, *node.parts[place + 1 :])
        others = node.leaves // before.leaves
        return _joined(parts, node.first + (child.first - before.first) * others, node.depth + 1)

    def path(self, context: Any) -> tuple[Node, ...]:
        """`context` is a mapping from each attribute to its context."""
        if not isinstance(context, Mapping) or set(context) != set(self.attributes):
            raise unknown_context()
        return self._down([part.path(context[name]) for name, part in self.attributes.items()])

    def _down(self, ways: Sequence[tuple[Node, ...]]) -> tuple[Node, ...]:
        node = self.root
        found = [node]
        while (place := self._step(node.parts)) >= 0:
            node = self._finer(node, place, ways[place][node.parts[place].depth + 1])
            found.append(node)
        return tuple(found)

    def way(self, leaf: int) -> tuple[Node, ...]:
        range(self.contexts)[leaf]
        node = self.root
        found = [node]
        while (place := self._step(node.parts)) >= 0:
            before, others = node.parts[place], node.leaves // node.parts[place].leaves
            inside = before.first + (leaf - node.first) // others
            child = self._parts[place].way(inside)[before.depth + 1]
            node = self._finer(node, place, child)
            found.append(node)
        return tuple(found)

    def named(self, name: str) -> Node:
        try:
            names = json.loads(name)
            parts = [part.named(one) for part, one in zip(self._parts, names, strict=True)]
        except (TypeError, ValueError, RecursionError):  # UnknownKey is a ValueError too
            raise unknown_node() from None
        ways = [part.way(node.first) for part, node in zip(self._parts, parts, strict=True)]
        found = next((node for node in self._down(ways) if node.name == name), None)
        if found is None:
            raise unknown_node()
        return found

    def to_dict(self) -> dict[str, Any]:
        attributes = [[name, part.to_dict()] for name, part in self.attributes.items()]
        return {"kind": self.kind, "attributes": attributes, "order": list(self.order)}

    @classmethod
    def _from(cls, facts: Mapping[str, Any]) -> Combined:
        return cls({name: hierarchy_from(part) for name, part in facts["attributes"]}, tuple(facts["order"]))

    @property
    def contexts(self) -> int:
        return prod(part.contexts for part in self._parts)

    def __repr__(self) -> str:
        return f"Combined({', '.join(self.attributes)}: {self.contexts:,} contexts)"


def _joined(parts: tuple[Node, ...], first: int, depth: int) -> Node:
    name = json.dumps([part.name for part in parts], ensure_ascii=False, separators=(",", ":"))
    return Node(name, first, prod(part.leaves for part in parts), depth, parts)
