"""Somebody who sees all that is sent, knows the cuts, and reasons without a mistake."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.personal.cut import Cut
from hubbub.personal.hierarchy import ContextHierarchy
from hubbub.personal.node import Node
from hubbub.personal.prior import Prior
from hubbub.personal.sensitive import Sensitive

MOST = 2_000_000


class Observer:
    """Counts contexts one by one: slow, exact, and with no theorem inside. For checks, and for the Lab.

    >>> from hubbub.personal.categories import Categories
    >>> town = Categories.of_grid(4, 4)
    >>> cut = Cut.plan(town, ["1,1"], leaves=4)
    >>> Observer(town).largest_rise(Sensitive("1,1"), cut)
    Fraction(3, 16)
    """

    def __init__(self, hierarchy: ContextHierarchy, prior: Prior | None = None) -> None:
        if hierarchy.contexts > MOST:
            raise InvalidParameter(
                f"An observer counts every context; {hierarchy.contexts:,} are too many.",
                "Use a smaller hierarchy to check with; the proof does not depend on its size.",
            )
        self.hierarchy = hierarchy
        self.prior = Prior(hierarchy) if prior is None else prior
        self._leaves = list(hierarchy.leaves())
        self._weights = [self.prior.mass(leaf) for leaf in self._leaves]

    def belief(self, sensitive: Sensitive, seen: Iterable[tuple[Cut, str]] = ()) -> Fraction:
        """In a sensitive thing, after having seen what these cuts sent for one and the same context."""
        within = sensitive.within(self.hierarchy)
        observed = list(seen)
        possible = [
            (leaf, weight)
            for leaf, weight in zip(self._leaves, self._weights, strict=True)
            if all(cut.node_of(leaf.first).name == name for cut, name in observed)
        ]
        total = sum((weight for _, weight in possible), Fraction(0))
        if not total:
            raise InvalidInput("Nobody can have sent this.", "Give names that these cuts send for one context.")
        return sum((weight for leaf, weight in possible if within.inside(leaf)), Fraction(0)) / total

    def largest_rise(self, sensitive: Sensitive, *cuts: Cut) -> Fraction:
        """Over all contexts: by how much belief rises when each of these cuts has sent its node for it."""
        within = sensitive.within(self.hierarchy)
        inside: dict[tuple[str, ...], Fraction] = {}
        whole: dict[tuple[str, ...], Fraction] = {}
        for leaf, weight in zip(self._leaves, self._weights, strict=True):
            sent = tuple(cut.node_of(leaf.first).name for cut in cuts)
            whole[sent] = whole.get(sent, Fraction(0)) + weight
            if within.inside(leaf):
                inside[sent] = inside.get(sent, Fraction(0)) + weight
        total = sum(whole.values(), Fraction(0))
        before = sum(inside.values(), Fraction(0)) / total
        rises = [part / whole[sent] - before for sent, part in inside.items() if whole[sent]]
        return max(rises, default=Fraction(0))

    def left(self, *seen: tuple[Cut, str]) -> list[Node]:
        """The contexts that are still possible."""
        return [
            leaf
            for leaf in self._leaves
            if self.prior.mass(leaf) and all(cut.node_of(leaf.first).name == name for cut, name in seen)
        ]


def sent_by(cuts: Sequence[Cut], context: object) -> list[tuple[Cut, str]]:
    """What each cut sends for one context."""
    return [(cut, cut.generalise(context).name) for cut in cuts]
