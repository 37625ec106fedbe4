"""What somebody believes before anything is sent."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import accumulate
from typing import Any

from hubbub.errors import InvalidParameter, UnknownKey
from hubbub.exact import Exact, exact
from hubbub.personal.hierarchy import ContextHierarchy
from hubbub.personal.node import Node
from hubbub.personal.sensitive import Within


class Prior:
    """How likely each context is held to be: weights for some of them, and `unseen` that is added to every context.

    Weights go by context: a mapping, or pairs of context and weight, which add up (contexts of several attributes are
    mappings, and no keys). A context's node name, or its number, does as well. Without weights all are alike.
    Probabilities of all contexts need unseen=0: with 1 added to each, they would hardly count. Sums are exact.

    >>> from hubbub.personal.categories import Categories
    >>> town = Categories({"town": None, "clinic": "town", "park": "town"})
    >>> Prior(town, {"park": 8}).of(town.named("clinic"))
    Fraction(1, 10)
    """

    def __init__(
        self,
        hierarchy: ContextHierarchy,
        weights: Mapping[Any, Exact] | Iterable[tuple[Any, Exact]] | None = None,
        *,
        unseen: Exact = 1,
    ) -> None:
        self.hierarchy, self.unseen = hierarchy, exact(unseen, "unseen")
        given: dict[int, Fraction] = {}
        for context, weight in _pairs(weights):
            leaf = _leaf(hierarchy, context)
            given[leaf] = given.get(leaf, Fraction(0)) + exact(weight, "weight")
        if self.unseen < 0 or any(weight < 0 for weight in given.values()):
            raise InvalidParameter("Weights are at least 0.", "Give counts, or probabilities.")
        self._leaves = sorted(given)
        self._given = given
        self._sums = [Fraction(0), *accumulate(given[leaf] for leaf in self._leaves)]
        self.total = self.mass(hierarchy.root)
        if not self.total:
            raise InvalidParameter("All weights are 0: nobody could be anywhere.", "Leave `unseen` above 0.")

    @property
    def is_uniform(self) -> bool:
        return not self._leaves

    def mass(self, node: Node) -> Fraction:
        """The weight of all contexts below a node."""
        first, last = (bisect_left(self._leaves, at) for at in (node.first, node.first + node.leaves))
        return self._sums[last] - self._sums[first] + self.unseen * node.leaves

    def mass_within(self, sensitive: Within, node: Node) -> Fraction:
        """The weight of the sensitive contexts below a node."""
        found = self.unseen * sensitive.inside(node)
        first, last = (bisect_left(self._leaves, at) for at in (node.first, node.first + node.leaves))
        for leaf in self._leaves[first:last]:
            if sensitive.inside(self.hierarchy.way(leaf)[-1]):
                found += self._given[leaf]
        return found

    def of(self, node: Node) -> Fraction:
        """How likely it is to be below a node."""
        return self.mass(node) / self.total

    def of_sensitive(self, sensitive: Within) -> Fraction:
        return self.mass_within(sensitive, self.hierarchy.root) / self.total


def _pairs(weights: Mapping[Any, Exact] | Iterable[tuple[Any, Exact]] | None) -> list[tuple[Any, Exact]]:
    if isinstance(weights, Mapping):
        return list(weights.items())
    if weights is not None and (isinstance(weights, str | bytes) or not isinstance(weights, Iterable)):
        raise _no_weights()
    found = []
    for pair in () if weights is None else weights:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise _no_weights()
        found.append((pair[0], pair[1]))
    return found


def _no_weights() -> InvalidParameter:
    return InvalidParameter(
        "Weights are a mapping from contexts, or pairs of a context and its weight.", 'Give {"park": 8}.'
    )


def _leaf(hierarchy: ContextHierarchy, context: Any) -> int:
    """By number, by context, or by the name of the node that is the context."""
    if isinstance(context, int) and not isinstance(context, bool):
        if not 0 <= context < hierarchy.contexts:
            raise InvalidParameter(
                f"There are {hierarchy.contexts:,} contexts, numbered from 0; a weight is given to another.",
                "Name contexts as the hierarchy does.",
            )
        return context
    try:
        return hierarchy.leaf(context)
    except UnknownKey:
        if isinstance(context, str):
            node = hierarchy.named(context)
            if hierarchy.is_context(node):
                return node.first
        raise
