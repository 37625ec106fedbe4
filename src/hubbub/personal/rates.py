"""Click-through rates by context, and where a context has too little, by what lies above it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, sqrt
from types import MappingProxyType
from typing import Any

from hubbub.errors import InvalidInput, InvalidParameter, UnknownKey
from hubbub.personal.hierarchy import ContextHierarchy
from hubbub.personal.node import Node
from hubbub.released import Value

TAIL = 0.025
BOTH_TAILS = 2.4977
"""Standard errors within which each of two noisy counts lies with 98.75 %, if their noise is about normal: so 2.5 % are
for noise, and 2.5 % are left for chance."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a result was shown below a node, and clicked; with standard errors where the counts are noisy.

    The same for a clear log (errors 0) and for counts that were released with noise.
    """

    shown: float
    clicked: float
    shown_error: float = 0.0
    clicked_error: float = 0.0

    def rate(self) -> Value:
        """Clicked of shown, with an interval that holds 95 of 100 times: the binomial's (Clopper and Pearson), at the
        worst of what noise leaves possible.

        >>> print(Tally(200, 30).rate().interval)
        95 of 100 times between 0.104 and 0.207
        """
        from scipy.special import betaincinv  # takes longer to load than all of this room

        few = max(0.0, self.shown - BOTH_TAILS * self.shown_error) if self.shown_error else self.shown
        many = self.shown + BOTH_TAILS * self.shown_error
        least = max(0.0, self.clicked - BOTH_TAILS * self.clicked_error)
        most = min(few, self.clicked + BOTH_TAILS * self.clicked_error)
        part = min(1.0, max(0.0, self.clicked / self.shown))
        tail = TAIL / 2 if self.shown_error or self.clicked_error else TAIL
        lower = float(betaincinv(least, many - least + 1, tail)) if least > 0 else 0.0
        upper = float(betaincinv(most + 1, few - most, 1 - tail)) if few > most else 1.0
        spread = sqrt(max(part * (1 - part), 0.25 / self.shown) / self.shown)
        noise = (self.clicked_error + part * self.shown_error) / self.shown
        return Value(part, spread + noise, min(lower, part), max(upper, part))


@dataclass(frozen=True, slots=True)
class Rate:
    """A CTR, and the node that it was taken from: the context itself, or one above it that has enough."""

    value: Value
    node: Node
    shown: float


class ClickRates:
    """CTR(result | context) with back-off along the hierarchy (Goetz 2012, 4.4.1).

    A context whose own tally of a result has been shown at least `min_support` times has its own rate; otherwise that
    of the lowest node above it that has. Where even the top has too little, the rate is unknown and counts as 0.

    >>> from hubbub.personal.categories import Categories
    >>> town = Categories({"town": None, "park": "town", "port": "town"})
    >>> rows = [("park", "ice cream", 40, 10), ("port", "ice cream", 2, 2)]
    >>> rates = ClickRates.fit(town, rows, min_support=20)
    >>> rates.rate("ice cream", "park").value.value, rates.rate("ice cream", "port").node.name
    (0.25, 'town')
    """

    def __init__(
        self,
        hierarchy: ContextHierarchy,
        tallies: Mapping[str, Mapping[str, Tally]],
        *,
        min_support: float = 20,
        events: Mapping[int, float] | None = None,
        below: Mapping[str, Mapping[str, Node]] | None = None,
    ) -> None:
        if not isfinite(min_support) or min_support < 1:
            raise InvalidParameter(
                f"`min_support` is how often a result must have been shown, from 1 on; got {min_support}.",
                "20 is usual; 2 is what Goetz 2012 took.",
            )
        self.hierarchy, self.min_support = hierarchy, float(min_support)
        self.tallies = {name: dict(tally) for name, tally in tallies.items()}
        for found in self.tallies.values():
            for tally in found.values():
                _check(tally)
        self.events = self._shown_by_context() if events is None else dict(events)
        if not all(isfinite(times) and times >= 0 for times in self.events.values()):
            raise InvalidInput(
                "A context occurs less than 0 times, or no number of times.", "Give how often, by its number."
            )
        self.below = children_of(hierarchy, self.tallies, self.events) if below is None else below
        self.results = tuple(dict.fromkeys(result for found in self.tallies.values() for result in found))
        if not self.results:
            raise InvalidInput("Nothing was shown: there is no rate to learn.", "Give at least one row.")

    @classmethod
    def fit(
        cls, hierarchy: ContextHierarchy, rows: Iterable[tuple[Any, str, int, int]], *, min_support: float = 20
    ) -> ClickRates:
        """From a clear log: rows of context, result, how often it was shown, how often clicked. A row of a result that
        was shown 0 times says nothing, and is passed over."""
        sums: dict[str, dict[str, list[int]]] = {}
        events: dict[int, float] = {}
        below: dict[str, dict[str, Node]] = {}
        for number, row in enumerate(rows, 1):
            context, result, shown, clicked = _row(row, number)
            if not shown:  # reports hold such lines: they tell nothing
                continue
            path = hierarchy.path(context)
            events[path[-1].first] = events.get(path[-1].first, 0) + shown
            _listed(below, path)
            for node in path:
                tally = sums.setdefault(node.name, {}).setdefault(result, [0, 0])
                tally[0] += shown
                tally[1] += clicked
        tallies = {name: {result: Tally(*both) for result, both in found.items()} for name, found in sums.items()}
        return cls(hierarchy, tallies, min_support=min_support, events=events, below=below)

    @classmethod
    def fit_picks(
        cls, hierarchy: ContextHierarchy, rows: Iterable[tuple[Any, str]], *, min_support: float = 20
    ) -> ClickRates:
        """From a log of what people picked out of everything: rows of context and result. Each row showed all results,
        so a result's rate is its part of the picks (Goetz 2012, 4.4.1)."""
        picks: dict[str, dict[str, int]] = {}
        totals: dict[str, int] = {}
        events: dict[int, float] = {}
        below: dict[str, dict[str, Node]] = {}
        for number, (context, result) in enumerate(rows, 1):
            _check_name(result, number)
            path = hierarchy.path(context)
            events[path[-1].first] = events.get(path[-1].first, 0) + 1
            _listed(below, path)
            for node in path:
                totals[node.name] = totals.get(node.name, 0) + 1
                found = picks.setdefault(node.name, {})
                found[result] = found.get(result, 0) + 1
        results = dict.fromkeys(result for found in picks.values() for result in found)
        tallies = {
            name: {result: Tally(totals[name], clicked) for result, clicked in found.items()}
            for name, found in picks.items()
        }
        made = cls(hierarchy, tallies, min_support=min_support, events=events, below=below)
        made._totals, made.results = totals, tuple(results)
        return made

    @classmethod
    def of_released(
        cls,
        hierarchy: ContextHierarchy,
        shown: Mapping[tuple[str, str], Value],
        clicked: Mapping[tuple[str, str], Value],
        *,
        min_support: float = 20,
        events: Mapping[int, float] | None = None,
    ) -> ClickRates:
        """From counts that were released with noise: by (node, result) how often it was shown, and clicked.

        A node supports its rate where even the lower end of `shown` is large enough.
        """
        tallies: dict[str, dict[str, Tally]] = {}
        for (name, result), times in shown.items():
            clicks = clicked.get((name, result))
            if clicks is None or not (times.has_number and clicks.has_number):
                continue
            if times.value > 0:
                tally = Tally(times.value, max(0.0, clicks.value), times.standard_error, clicks.standard_error)
                tallies.setdefault(name, {})[result] = tally
        return cls(hierarchy, tallies, min_support=min_support, events=events)

    _totals: Mapping[str, int] = MappingProxyType({})

    def _shown_by_context(self) -> dict[int, float]:
        """How often each context occurred, as far as tallies of the contexts themselves tell."""
        nodes = ((self.hierarchy.named(name), found) for name, found in self.tallies.items())
        return {
            node.first: sum(tally.shown for tally in found.values())
            for node, found in nodes
            if self.hierarchy.is_context(node)
        }

    def knows_all(self, name: str) -> bool:
        """Whether every result was there to be picked below a node, often enough: then none picked is a rate of 0."""
        return self._totals.get(name, 0) >= self.min_support

    def supports(self, name: str, result: str) -> Tally | None:
        """The tally of a node, if it is large enough."""
        tally = self.tallies.get(name, {}).get(result)
        if tally is None:
            return Tally(self._totals[name], 0) if self.knows_all(name) else None
        return tally if tally.shown - BOTH_TAILS * tally.shown_error >= self.min_support else None

    def rate(self, result: str, context: Any) -> Rate:
        """One CTR, with its interval; `UnknownKey` for a result that was never seen."""
        if result not in self._known:
            raise UnknownKey("There is no result of that name.", "See `rates.results`.")
        path = self.hierarchy.path(context)
        for node in reversed(path):
            tally = self.supports(node.name, result)
            if tally is not None:
                return Rate(tally.rate(), node, tally.shown)
        return Rate(Value(float("nan"), float("inf"), float("nan"), float("nan")), path[0], 0.0)

    @property
    def _known(self) -> frozenset[str]:
        return frozenset(self.results)

    def __repr__(self) -> str:
        return f"ClickRates({len(self.results):,} results, {len(self.tallies):,} nodes)"


def _row(row: tuple[Any, str, int, int], number: int) -> tuple[Any, str, int, int]:
    try:
        context, result, shown, clicked = row
        sound = isfinite(shown) and 0 <= clicked <= shown
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(
            f"Row {number} is not four things: a context, a result, and two numbers.",
            "Give context, result, shown, clicked.",
        ) from None
    if not sound:
        raise InvalidInput(
            f"Row {number} has more clicks than the result was shown, or a negative number.",
            "Give context, result, shown, clicked.",
        )
    _check_name(result, number)
    return context, result, shown, clicked


def _check_name(result: object, number: int) -> None:
    if not isinstance(result, str) or not result:
        raise InvalidInput(f"Row {number} has no name of a result.", "Name each result by a text.")


def _listed(below: dict[str, dict[str, Node]], path: Sequence[Node]) -> None:
    """Under each node those of its children that were seen."""
    for node, child in pairwise(path):
        below.setdefault(node.name, {})[child.name] = child


def children_of(
    hierarchy: ContextHierarchy, names: Iterable[str], contexts: Iterable[int] = ()
) -> dict[str, dict[str, Node]]:
    """Under each node those of its children in or below which one of these nodes or contexts lies."""
    below: dict[str, dict[str, Node]] = {}
    for leaf in contexts:
        _listed(below, hierarchy.way(leaf))
    for name in names:
        node = hierarchy.named(name)
        _listed(below, hierarchy.way(node.first)[: node.depth + 1])
    return below


def _check(tally: Tally) -> None:
    numbers = (tally.shown, tally.clicked, tally.shown_error, tally.clicked_error)
    noisy = tally.shown_error or tally.clicked_error
    if not all(isfinite(number) and number >= 0 for number in numbers) or tally.shown <= 0:
        raise InvalidInput("A tally has a number below 0, or none.", "Give how often a result was shown, and clicked.")
    if tally.clicked > tally.shown and not noisy:
        raise InvalidInput("A tally has more clicks than the result was shown.", "A CTR is never above 1.")
