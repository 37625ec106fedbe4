"""The server's half: results with their rates and bids, answering what clients ask."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import RLock
from typing import Any, Protocol

import numpy as np

from hubbub.errors import InvalidInput, InvalidParameter, TooFine, UnknownKey
from hubbub.personal.choice import Choice
from hubbub.personal.client import LETTERS, NOTHING, VERSION
from hubbub.personal.columns import Columns
from hubbub.personal.hierarchy import ContextHierarchy
from hubbub.personal.node import Node
from hubbub.personal.selector import Selector, check_cost, check_floor, several

MOST_BYTES = 10_000
"""An answer is never longer."""
_KEPT_ANSWERS = 4096
_KEPT_SELECTORS = 1024
_KEPT_CELLS = 2**25
"""Numbers of the selectors that are kept ready: a quarter of a gigabyte, and as much again for their worth."""
_BESIDES = 16
"""What a selector holds of each result besides its rates: its name's place, its sum, its bid."""
_LONGEST_REQUEST = 4096


class Table(Protocol):
    """Rates of results in contexts: a `RateTable`, or a `LearnedTable`."""

    @property
    def hierarchy(self) -> ContextHierarchy: ...

    @property
    def results(self) -> Sequence[str]: ...

    def under(self, node: Node) -> Columns: ...


class Catalogue:
    """Answers requests of clients, who say a node and never a context.

    `bids` by result, 1 where none is given; `floor` the CTR below which nothing is shown; `cost` what each result that
    is sent must bring; `most` the largest k; `min_leaves` how many contexts a node must have: a request that is finer
    is refused, for who sends it may have sent more than was meant. Safe for threads. What was asked last (nodes, no
    context, nobody's name) stays in memory, within bounds, so that it need not be chosen again.
    """

    def __init__(
        self,
        table: Table,
        *,
        bids: Mapping[str, float] | None = None,
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
        self._banned: set[str] = set()
        self._selectors: OrderedDict[str, tuple[Selector, Columns]] = OrderedDict()
        self._cells = 0
        self._answers: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._lock = RLock()
        for name, bid in (bids or {}).items():
            self.set_bid(name, bid)

    def set_bid(self, result: str, bid: float) -> None:
        """Change a bid: what is kept is changed in place."""
        if result not in self._bids:
            raise UnknownKey("There is no result of that name.", "See `catalogue.table.results`.")
        with self._lock:
            Selector([result], [[0.0]], bids=bid)  # refuses a bid that cannot be before anything is changed
            self._bids[result] = float(bid)
            for selector, _ in self._selectors.values():
                selector.set_bid(result, bid)
            self._answers.clear()

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
        return self._answers.get(_read(request))

    def answer(self, request: bytes) -> bytes:
        """A request of a client, `{"node", "k"}`, and what it gets; both are JSON. What was sent is not repeated in
        errors."""
        name, k = _read(request)
        with self._lock:
            kept = self._answers.get((name, k))
            if kept is not None:
                self._answers.move_to_end((name, k))
                return kept
            choice, columns = self.choose(name, k)
            made = _written(self.table.hierarchy.digest, name, choice, columns)
            self._answers[name, k] = made
            if len(self._answers) > _KEPT_ANSWERS:
                self._answers.popitem(last=False)
            return made

    def _selector(self, node: Node) -> tuple[Selector, Columns]:
        kept = self._selectors.get(node.name)
        if kept is not None:
            self._selectors.move_to_end(node.name)
            return kept
        columns = self.table.under(node)
        bids = np.array([self._bids[name] for name in self.table.results])
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

    def _held(self, selector: Selector) -> int:
        return (selector.contexts + _BESIDES) * len(self._bids)

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


def _read(request: bytes) -> tuple[str, int]:
    try:
        if len(request) > _LONGEST_REQUEST:
            raise ValueError
        facts = json.loads(request, object_pairs_hook=_once)
        if set(facts) != {"node", "k"}:  # anything else might be what the person keeps to themselves
            raise ValueError
        name, k = facts["node"], facts["k"]
        if not isinstance(name, str) or isinstance(k, bool) or not isinstance(k, int):
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        raise InvalidInput(
            "A request is a JSON object with `node` and `k`, and nothing else.", 'Send {"node": "town", "k": 10}.'
        ) from None
    return name, k


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of two fields of one name only the last would be looked at, and the first would have been sent all the same."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _written(tree: str, name: str, choice: Choice, columns: Columns) -> bytes:
    """The answer; where it would be too long, contexts that are rarely met are shown nothing."""
    letters = [NOTHING if place < 0 else LETTERS[place] for place in choice.best.tolist()]
    shares = columns.chances / columns.chances.sum()
    kept = len(columns.chances)
    order = np.argsort(-shares, kind="stable")
    while True:
        known = set(order[:kept].tolist())
        lengths: list[int] = []
        best: list[str] = []
        for length, column in columns.runs:
            letter = letters[column] if column in known else NOTHING
            if best and best[-1] == letter:
                lengths[-1] += length
            else:
                lengths.append(length)
                best.append(letter)
        facts = {
            "version": VERSION,
            "hierarchy": tree,  # runs go by the numbers of contexts, which another hierarchy gives to other contexts
            "node": name,
            "results": list(choice.results),
            "lengths": lengths,
            "best": "".join(best),
            "value": choice.value,
            "bound": choice.bound,
            "left_out": float(shares[order[kept:]].sum()),
        }
        text = json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()
        if len(text) <= MOST_BYTES:
            return text
        if not kept:
            raise InvalidParameter(
                f"The names of {len(choice.results)} results alone are longer than {MOST_BYTES:,} bytes.",
                "Give results short names, and keep what they stand for elsewhere.",
            )
        kept //= 2
