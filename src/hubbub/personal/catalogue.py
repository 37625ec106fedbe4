"""The server's half: results with their rates and bids, answering what clients ask."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import RLock
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter, TooFine, UnknownKey
from hubbub.personal.choice import Choice
from hubbub.personal.client import LETTERS
from hubbub.personal.columns import Below, Columns
from hubbub.personal.hierarchy import ContextHierarchy
from hubbub.personal.node import Node
from hubbub.personal.rates import children_of
from hubbub.personal.selector import Selector, check_cost, check_floor, several
from hubbub.personal.wire import read_request, written

_KEPT_ANSWERS = 4096
_KEPT_SELECTORS = 1024
_KEPT_CELLS = 2**25
"""Numbers of the selectors that are kept ready: a quarter of a gigabyte, and as much again for their worth."""
_BESIDES = 16
"""What a selector holds of each result besides its rates: its name's place, its sum, its bid."""


Bid: TypeAlias = float | Mapping[str, float]
"""What a result pays: in every context, or by the name of a node."""


class Table(Protocol):
    """Rates of results in contexts: a `RateTable`, or a `LearnedTable`."""

    @property
    def hierarchy(self) -> ContextHierarchy: ...

    @property
    def results(self) -> Sequence[str]: ...

    def under(self, node: Node, apart: Below = ...) -> Columns: ...


class Catalogue:
    """Answers requests of clients, who say a node and never a context.

    `bids` by result, 1 where none is given; or by result and node, {"bar": {"north": 5}}: in each context that of the
    lowest node that has one, 0 where it must not be shown. `floor` the CTR below which nothing is shown; `cost` what
    each result that is sent must bring; `most` the largest k; `min_leaves` how many contexts a node must have: a
    request that is finer is refused, for who sends it may have sent more than was meant. Safe for threads. What was
    asked last (nodes, no context, nobody's name) stays in memory, within bounds, so that it need not be chosen again.
    """

    def __init__(
        self,
        table: Table,
        *,
        bids: Mapping[str, Bid] | None = None,
        floor: float = 0.0,
        cost: float = 0.0,
        most: int = 20,
        min_leaves: int = 1,
    ) -> None:
        if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= len(LETTERS):
            raise InvalidParameter(f"`most` lies between 1 and {len(LETTERS)}; got {most!r}.", "10 or 20 is usual.")
        if isinstance(min_leaves, bool) or not isinstance(min_leaves, int) or min_leaves < 1:
            raise InvalidParameter(f"`min_leaves` is a whole number from 1 on; got {min_leaves!r}.")
        self.table, self.floor, self.cost = table, check_floor(floor), check_cost(cost)
        self.most, self.min_leaves = most, min_leaves
        self._bids = dict.fromkeys(table.results, 1.0)
        self._by_node: dict[str, dict[Node, float]] = {}
        self._apart: Below = {}
        self._banned: set[str] = set()
        self._selectors: OrderedDict[str, tuple[Selector, Columns]] = OrderedDict()
        self._cells = 0
        self._answers: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._lock = RLock()
        for name, bid in (bids or {}).items():
            self.set_bid(name, bid)

    def set_bid(self, result: str, bid: Bid) -> None:
        """Change what a result pays; one number is changed in place in what is kept."""
        if result not in self._bids:
            raise UnknownKey("There is no result of that name.", "See `catalogue.table.results`.")
        by_node: dict[Node, float] = {}
        for name, one in bid.items() if isinstance(bid, Mapping) else ():
            Selector([result], [[0.0]], bids=one)  # refuses a bid that cannot be before anything is changed
            by_node[self._place(name)] = float(one)
        if not isinstance(bid, Mapping):
            Selector([result], [[0.0]], bids=bid)
        with self._lock:
            self._bids[result] = 1.0 if isinstance(bid, Mapping) else float(bid)
            if by_node or result in self._by_node:  # contexts are divided into other columns
                self._by_node.pop(result, None)
                self._by_node.update({result: by_node} if by_node else {})
                names = {node.name for nodes in self._by_node.values() for node in nodes}
                self._apart = children_of(self.table.hierarchy, names)
                self._selectors.clear()
                self._cells = 0
            for selector, _ in self._selectors.values():
                selector.set_bid(result, self._bids[result])
            self._answers.clear()

    def _place(self, name: str) -> Node:
        try:
            return self.table.hierarchy.named(name)
        except UnknownKey:
            raise UnknownKey(
                "A bid names a node that the hierarchy does not have.", "Name a context, or a node above it."
            ) from None

    def ban(self, results: Iterable[str]) -> None:
        """Leave these results out from now on, and no others."""
        names = set(several(results))
        if not names <= set(self._bids):
            raise UnknownKey("There is no result of that name.", "See `catalogue.table.results`.")
        with self._lock:
            self._banned = names
            self._answers.clear()

    def choose(self, name: str, k: int) -> tuple[Choice, Columns]:
        """What is sent for a node."""
        node = self.table.hierarchy.named(name)
        if node.leaves < self.min_leaves:
            raise TooFine(
                f"A request must leave at least {self.min_leaves} contexts open; this one leaves fewer.",
                "Plan a coarser cut, and send what it says.",
            )
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= self.most:
            raise InvalidParameter(f"`k` lies between 1 and {self.most}.", "10 is usual.")
        with self._lock:
            selector, columns = self._selector(node)
            return selector.choose(k, cost=self.cost, ban=self._banned), columns

    def kept(self, request: bytes) -> bytes | None:
        """The answer, if it was given before and nothing has changed; without waiting for anybody."""
        return self._answers.get(read_request(request))

    def answer(self, request: bytes) -> bytes:
        """A request of a client, `{"node", "k"}`, and what it gets; both are JSON. What was sent is not repeated in
        errors."""
        name, k = read_request(request)
        with self._lock:
            kept = self._answers.get((name, k))
            if kept is not None:
                self._answers.move_to_end((name, k))
                return kept
            choice, columns = self.choose(name, k)
            made = written(self.table.hierarchy.digest, name, choice, columns)
            self._answers[name, k] = made
            if len(self._answers) > _KEPT_ANSWERS:
                self._answers.popitem(last=False)
            return made

    def _selector(self, node: Node) -> tuple[Selector, Columns]:
        kept = self._selectors.get(node.name)
        if kept is not None:
            self._selectors.move_to_end(node.name)
            return kept
        columns = self.table.under(node, self._apart)
        bids = np.array([self._bids[name] for name in self.table.results])
        if any(one.shared(node) for nodes in self._by_node.values() for one in nodes):
            bids = self._by_column(bids, node, columns)
        made = (
            Selector(self.table.results, columns.rates, bids=bids, chances=columns.chances, floor=self.floor),
            columns,
        )
        self._selectors[node.name] = made
        self._cells += self._held(made[0])
        while len(self._selectors) > 1 and (self._cells > _KEPT_CELLS or len(self._selectors) > _KEPT_SELECTORS):
            _, (old, _) = self._selectors.popitem(last=False)
            self._cells -= self._held(old)
        return made

    def _by_column(self, bids: NDArray[np.float64], node: Node, columns: Columns) -> NDArray[np.float64]:
        """bids[result][column]: all contexts of a column have the same, since `_apart` divides them."""
        table = np.repeat(bids[:, None], len(columns.chances), axis=1)
        firsts = columns.firsts() + node.first
        for place, name in enumerate(self.table.results):
            for one, bid in sorted(self._by_node.get(name, {}).items(), key=lambda pair: pair[0].depth):
                table[place, (firsts >= one.first) & (firsts < one.first + one.leaves)] = bid
        return table

    def _held(self, selector: Selector) -> int:
        return ((2 if self._by_node else 1) * selector.contexts + _BESIDES) * len(self._bids)

    def about(self) -> dict[str, Any]:
        """What anybody may know: which hierarchy clients must have, and the limits."""
        return {
            "hierarchy": self.table.hierarchy.digest,
            "contexts": self.table.hierarchy.contexts,
            "results": len(self._bids),
            "most": self.most,
            "min_leaves": self.min_leaves,
        }

    def __repr__(self) -> str:
        return f"Catalogue({len(self._bids):,} results, {self.table.hierarchy!r})"
