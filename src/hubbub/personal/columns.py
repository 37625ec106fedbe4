"""The contexts below a node, as columns of a table of rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import InvalidParameter
from hubbub.personal.hierarchy import ContextHierarchy
from hubbub.personal.node import Node
from hubbub.personal.rates import ClickRates
from hubbub.personal.selector import check_chances, check_rates

Below: TypeAlias = Mapping[str, Mapping[str, Node]]

UNSEEN = 1.0
"""The weight of all contexts together that have no row in the log, below the node that is asked for: one event, of
which each has the same part."""


@dataclass(frozen=True, eq=False)
class Columns:
    """`runs` say, context after context, to which column so many of them belong."""

    rates: NDArray[np.float64]
    chances: NDArray[np.float64]
    runs: tuple[tuple[int, int], ...]

    def firsts(self) -> NDArray[np.int64]:
        """The first context of each column, counted from the first of the node."""
        found = np.full(len(self.chances), -1, dtype=np.int64)
        at = 0
        for length, column in self.runs:
            if found[column] < 0:
                found[column] = at
            at += length
        return found


class RateTable:
    """A CTR for each result and context, given as a table: rates[result][context], contexts by their numbers."""

    def __init__(
        self,
        hierarchy: ContextHierarchy,
        results: Sequence[str],
        rates: ArrayLike,
        chances: ArrayLike | None = None,
    ) -> None:
        self.hierarchy, self.results = hierarchy, tuple(results)
        self.rates = check_rates(rates, len(self.results))
        if self.rates.shape[1] != hierarchy.contexts:
            raise InvalidParameter(
                f"The hierarchy has {hierarchy.contexts:,} contexts, and the table {self.rates.shape[1]:,} columns.",
                "Give one column for each context, in the order of `hierarchy.leaves()`.",
            )
        self.chances = check_chances(chances, hierarchy.contexts)

    def under(self, node: Node, apart: Below = MappingProxyType({})) -> Columns:
        del apart  # here every context has a column of its own
        some = slice(node.first, node.first + node.leaves)
        chances = self.chances[some]
        even = np.ones(node.leaves) if not chances.sum() > 0 else chances
        return Columns(self.rates[:, some], even, tuple((1, column) for column in range(node.leaves)))


class LearnedTable:
    """What `ClickRates` know: a column for each context that was seen, and one for the others below each node.

    A context weighs as often as it occurs in the log. All others below the requested node weigh one event together,
    however many they are and however deep: what is expected comes from where people were seen.
    """

    def __init__(self, rates: ClickRates) -> None:
        self._learned = rates
        self.hierarchy, self.results = rates.hierarchy, rates.results
        self._own: dict[str, tuple[bool, NDArray[np.intp], NDArray[np.float64]]] = {}
        self._places = {result: place for place, result in enumerate(self.results)}
        self._below = {
            name: sorted(children.values(), key=lambda child: child.first) for name, children in rates.below.items()
        }

    def under(self, node: Node, apart: Below = MappingProxyType({})) -> Columns:
        """`apart`: children, by their parent's name, that have columns of their own though nobody was seen there."""
        way = self.hierarchy.way(node.first)
        vector = np.zeros(len(self.results))
        for above in way[: node.depth + 1]:
            vector = self._sharpened(vector, above)
        columns: list[NDArray[np.float64]] = []
        chances: list[float] = []
        unseen: list[int] = []
        runs: list[tuple[int, int]] = []
        self._walk(node, vector, apart, columns, chances, unseen, runs)
        whole = sum(unseen)
        parts = [number / whole if whole else 0.0 for number in unseen]
        weights = np.array(chances) + UNSEEN * np.array(parts)
        return Columns(np.stack(columns, axis=1), weights if weights.sum() > 0 else np.ones(len(weights)), tuple(runs))

    def _sharpened(self, vector: NDArray[np.float64], node: Node) -> NDArray[np.float64]:
        """The rates of a node: its own where it has enough, those from above otherwise."""
        if node.name not in self._learned.tallies:  # and of such nothing is kept: there may be 10^10 of them
            return vector
        if node.name not in self._own:
            self._own[node.name] = self._rates_of(node.name)
        entire, places, rates = self._own[node.name]
        sharp = np.zeros_like(vector) if entire else vector.copy()
        sharp[places] = rates
        return sharp

    def _rates_of(self, name: str) -> tuple[bool, NDArray[np.intp], NDArray[np.float64]]:
        """Whether a node knows every result, and the rates that it has of its own."""
        learned = self._learned
        found = {
            self._places[result]: min(1.0, tally.clicked / tally.shown)
            for result in learned.tallies.get(name, {})
            if (tally := learned.supports(name, result)) is not None
        }
        places = np.fromiter(found, dtype=np.intp, count=len(found))
        return learned.knows_all(name), places, np.fromiter(found.values(), dtype=float, count=len(found))

    def _walk(
        self,
        node: Node,
        vector: NDArray[np.float64],
        apart: Below,
        columns: list[NDArray[np.float64]],
        chances: list[float],
        unseen: list[int],
        runs: list[tuple[int, int]],
    ) -> None:
        """Columns, how often their contexts occurred, and how many contexts of each never did."""
        children = self._below.get(node.name, [])
        if node.name in apart:
            both = {child.name: child for child in [*children, *apart[node.name].values()]}
            children = sorted(both.values(), key=lambda child: child.first)
        rest = -1
        at = node.first
        for child in [*children, None]:
            end = node.first + node.leaves if child is None else child.first
            if end > at:
                if rest < 0:
                    rest = len(columns)
                    columns.append(vector)
                    chances.append(0.0)
                    unseen.append(0)
                if node.leaves == 1 and node.first in self._learned.events:
                    chances[rest] = self._learned.events[node.first]
                else:
                    unseen[rest] += end - at
                runs.append((end - at, rest))
            if child is not None:
                self._walk(child, self._sharpened(vector, child), apart, columns, chances, unseen, runs)
                at = child.first + child.leaves
