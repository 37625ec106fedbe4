"""The servers' side of a walk down a hierarchy: what to ask in each round, and what it came to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

from hubbub.errors import InvalidInput, InvalidParameter, QueryMismatch
from hubbub.exact import Exact, exact, positive, whole
from hubbub.gather.noise import NAMED_DELTA
from hubbub.gather.opened import Opened
from hubbub.gather.prio3 import L1BoundSum
from hubbub.gather.query import Protects, Query
from hubbub.gather.top_down.consistent import Count, consistent
from hubbub.gather.top_down.found import Found
from hubbub.gather.top_down.round import Round
from hubbub.gather.top_down.tree import ContextTree, TreeNode, nodes_below
from hubbub.privacy.guarantee import WEAKEST_EPSILON
from hubbub.privacy.rounding import at_most
from hubbub.privacy.zcdp import epsilon_of_rho
from hubbub.released import Cost
from hubbub.released.value import Value

Items = Sequence[str] | Callable[[str], Sequence[str]]
LONGEST_NAME = 100
REACH = 2.24
"""In so many errors lie 95 of 100 sums of noises, whichever noise (as `Opened.values`)."""


class Account(Protocol):
    """Whoever keeps the budget, such as `hubbub.privacy.Account`; it refuses by raising."""

    def charge(self, tick: int, cost: Cost) -> None: ...


class TopDown:
    """Counts by context and item, down a hierarchy, a level a round (Goetz 2012, Algorithm 8).

    A round asks of each node that is still in the walk how often each of its items was shown and clicked, and of each
    node in the level below how many entries lie there. A node goes on if that noisy count is at least `min_support`;
    under the others nothing is asked. `depths` are the levels, the top being 0: the fewer, the less noise. `items` are
    the same everywhere, or a function of a node's name; they are public. `weights` divide the budget among the rounds;
    without them noise has the same size in all.

    Guarantee
        Protected: what one client answers, in all rounds together (or, with protects="presence", whether it does).
        Neighbours differ in the answers of one client to all rounds; in each round its numbers add up to at most
        2 max_items (max_items in a round that asks about items or about counts alone), which Prio3 proves.
        Formula: pure epsilon, the levels' epsilons adding up to it; or zCDP, their rhos adding up. What a round asks
        follows from what earlier ones released.
        Must be enforced by the caller: one report a client and round; each sum opened once.
        Not covered: who answers, and in which rounds; what other queries ask of the same clients.
        Reference: Goetz 2012, Corollary 2, with corrections (docs/errata.md).
        Proof: docs/proofs/gather.md, "A walk down a hierarchy" (proved).

    >>> from hubbub.personal import Categories
    >>> town = Categories({"town": None, "park": "town", "port": "town"})
    >>> walk = TopDown(town, name="ice", items=["vanilla", "lemon"], max_items=2, clients=5000, minimum=1000,
    ...                min_support=200, epsilon=1)
    >>> asked, query = walk.ask()
    >>> query.noise.epsilon, asked.length, walk.cost
    (Fraction(2, 3), 6, Cost(epsilon=1))
    >>> walk.promise
    'What one client answers in all 2 rounds together changes the probability of any result by at most a factor e^1...'
    """

    def __init__(
        self,
        tree: ContextTree,
        *,
        name: str,
        items: Items = (),
        max_items: int,
        clients: int,
        minimum: int,
        min_support: float,
        epsilon: Exact | None = None,
        rho: Exact | None = None,
        depths: Sequence[int] = (0, 1),
        weights: Sequence[Exact] | None = None,
        picks: bool = False,
        lying: int | None = None,
        protects: Protects = "answer",
        verify_key: bytes | None = None,
        longest_round: int = 4096,
        account: Account | None = None,
        tick: int = 0,
        allow_weak: bool = False,
    ) -> None:
        if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise InvalidParameter(f"A walk's name has 1 to {LONGEST_NAME} printable characters.")
        if (epsilon is None) == (rho is None):
            raise InvalidParameter("Give one of `epsilon` and `rho`.", "epsilon=1 is usual.")
        if not math.isfinite(min_support) or min_support < 1:
            raise InvalidParameter(f"`min_support` is a number of entries, from 1 on; got {min_support}.")
        self.tree, self.name, self.picks, self.protects = tree, name, picks, protects
        self.max_items, self.min_support = whole(max_items, "max_items"), float(min_support)
        self.longest_round = whole(longest_round, "longest_round")
        self.depths = _depths(depths, picks)
        # Where only nodes are counted, the last level has nothing to ask of its own.
        self.rounds = len(self.depths) - (not callable(items) and not items)
        self._items: Callable[[str], Sequence[str]] = items if callable(items) else lambda _: items
        self._pure = epsilon is not None
        self.total = positive(epsilon, "epsilon") if epsilon is not None else positive(rho, "rho")  # type: ignore[arg-type]
        if self.strength > WEAKEST_EPSILON and not allow_weak:
            raise InvalidParameter(
                f"All rounds together promise an epsilon of {at_most(self.strength)}: above {WEAKEST_EPSILON} it is "
                "practically nothing.",
                "Values from 0.1 to 5 are usual. If you mean it, say allow_weak=True.",
            )
        self.parts = _parts(self.total, self._even_noise() if weights is None else weights, self.rounds)
        self._plan: dict[str, Any] = {
            "clients": clients, "minimum": minimum, "lying": lying, "protects": protects, "verify_key": verify_key,
            "allow_weak": allow_weak,
        }  # fmt: skip
        self._account, self._tick = account, tick
        self._asked: tuple[Round, Query] | None = None
        self._level, self._nodes = 0, [tree.root]
        self._opened: list[Opened] = []
        self._values: dict[str, tuple[Value, int]] = {}
        self._shown: dict[tuple[str, str], Value] = {}
        self._clicked: dict[tuple[str, str], Value] = {}
        self._below: dict[str, tuple[str, ...]] = {}
        self._pruned: set[str] = set()
        self._left_out: set[str] = set()
        self._first = self._planned()  # what cannot be planned is refused before anything is charged

    @property
    def strength(self) -> Fraction:
        """The epsilon of all rounds together, at a delta of 1e-6 with `rho`."""
        return self.total if self._pure else epsilon_of_rho(self.total, NAMED_DELTA)

    @property
    def cost(self) -> Cost:
        """What the whole walk takes, also if it ends early: for the account or the ledger, before the first round."""
        return Cost(epsilon=self.total) if self._pure else Cost(rho=self.total)

    @property
    def promise(self) -> str:
        """In words, for whoever is asked, and beside the result."""
        presence = self.protects == "presence"
        what = "Whether and what one client answers" if presence else "What one client answers"
        delta = "" if self._pure else f" but for a chance of 1e-06 (rho {at_most(self.total)})"
        lying = "" if self._plan["lying"] is None else (
            f", if of at least {self._plan['minimum']:,} clients in a sum at most {self._plan['lying']:,} lie about "
            "their noise"
        )  # fmt: skip
        hidden = "" if presence else " Who answers, and in which rounds, is not hidden."
        return (
            f"{what} in all {self.rounds} rounds together changes the probability of any result by at most a "
            f"factor e^{at_most(self.strength)}{delta}{lying}.{hidden}"
        )

    def _even_noise(self) -> list[int]:
        """The last round counts nothing below: a client moves its numbers by half as much (in squares, a quarter)."""
        if self.rounds < len(self.depths) or self.rounds == 1:
            return [1] * self.rounds
        return [2 if self._pure else 4] * (self.rounds - 1) + [1]

    # ── rounds ───────────────────────────────────────────────────────────────────────────────────────────────────

    def ask(self) -> tuple[Round, Query] | None:
        """The next round and its query, or None when the walk is over. Before the first, everything is charged."""
        if self._asked is None and self._nodes and self._level < self.rounds:
            if self._account is not None and self._level == 0:
                self._account.charge(self._tick, self.cost)
            self._asked = self._planned() if self._level else self._first
        return self._asked

    def take(self, opened: Opened) -> None:
        """What the round came to. It may be told again after a restart: the walk follows from what was opened."""
        if self._asked is None:
            raise InvalidInput("No round is being asked.", "Call `ask` before.")
        asked, query = self._asked
        if opened.query != query.name or len(opened.sums) != asked.length:
            raise QueryMismatch("This result is about another query than the round that is being asked.")
        values = opened.values
        self._opened.append(opened)
        counts = {name: values[place] for name, place in asked.places_below.items()}
        self._values |= {name: (value, opened.reports) for name, value in counts.items()}
        everything = {node: self._everything(node, opened.reports) for node in asked.nodes} if self.picks else {}
        for (node, item), place in asked.places.items():
            self._clicked[node, item] = values[place + asked.outcomes - 1]
            if self.picks:
                self._shown[node, item] = everything[node]
            else:
                self._shown[node, item] = _sum([values[place], values[place + 1]])
        enough = [name for name, value in counts.items() if value.value >= self.min_support]
        self._pruned |= set(counts) - set(enough)
        self._level += 1
        self._asked = None
        self._nodes = []
        if self._level < self.rounds:
            self._nodes = self._that_fit(sorted(enough, key=lambda name: -counts[name].value))

    def replay(self, opened: Iterable[Opened]) -> None:
        """After a restart: all that was opened so far. The walk was charged before it began; give no `account` then."""
        for one in opened:
            self.ask()
            self.take(one)

    def _round(self) -> Round:
        nodes = tuple(node.name for node in self._nodes)
        below: list[str] = []
        for node in self._nodes:
            parts = tuple(one.name for one in self._under(node))
            if parts:
                self._below[node.name] = parts
                below += parts
        return Round(
            self.name, self._level, self.rounds, self.tree.digest, self.max_items, nodes,
            tuple(tuple(self._items(name)) for name in nodes), tuple(below), self.picks,
        )  # fmt: skip

    def _planned(self) -> tuple[Round, Query]:
        asked = self._round()
        if len(asked.places) != sum(map(len, asked.items)):
            raise InvalidParameter("`items` names an item twice for a node.", "Name each once.")
        if not asked.length:
            raise InvalidParameter("There is nothing to ask at the top.", "Give items there, or a level below it.")
        if asked.length > self.longest_round:
            raise InvalidParameter(
                f"A round would ask for {asked.length:,} numbers; at most {self.longest_round:,} were allowed.",
                "Ask for fewer items or a coarser level, or allow more with `longest_round`.",
            )
        amount = self.parts[self._level]
        budget: dict[str, Any] = {"epsilon": amount} if self._pure else {"rho": amount}
        return asked, Query.plan(asked.query_name, L1BoundSum(asked.length, asked.weight), **budget, **self._plan)

    def _under(self, node: TreeNode) -> Iterable[TreeNode]:
        last = self._level + 1 == len(self.depths)
        return () if last else nodes_below(self.tree, node, self.depths[self._level + 1])

    def _that_fit(self, names: Sequence[str]) -> list[TreeNode]:
        """Of these, the largest first, as many as a round has room for."""
        kept, length = [], 0
        for name in names:
            node = self.tree.named(name)
            more = (1 if self.picks else 2) * len(self._items(name)) + sum(1 for _ in self._under(node))
            if length + more > self.longest_round:
                self._left_out.add(name)
            elif more:
                kept.append(node)
                length += more
        return kept

    # ── results ──────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def found(self) -> Found:
        """What all rounds so far came to."""
        return Found(
            self.name, {name: value for name, (value, _) in self._values.items()}, dict(self._shown),
            dict(self._clicked), tuple(one.reports for one in self._opened), self._plan["clients"], self.rounds,
            self.promise, frozenset(self._pruned), frozenset(self._left_out),
            next((one.attested for one in self._opened if one.attested), ""), dict(self._below),
        )  # fmt: skip

    def added_up(self) -> dict[str, Value]:
        """All counts once more, made to add up by least squares: free of charge, and nearer to the truth if the same
        clients, or the like, answered in all rounds. Counts of later rounds are scaled to the first one's reports."""
        scale = self._opened[0].reports if self._opened else 1
        counts: dict[str, Count] = {}
        for name, (value, reports) in self._values.items():
            times = scale / reports
            counts[name] = value.value * times, (value.standard_error * times) ** 2
        below = {name: parts for name, parts in self._below.items() if all(part in counts for part in parts)}
        if not below:
            return {}
        found = consistent(counts, below, self.tree.root.name)
        return {name: _value(value, math.sqrt(variance)) for name, (value, variance) in found.items()}

    def _everything(self, node: str, reports: int) -> Value:
        """How many entries lie below a node, for a round that so many answered."""
        if node in self._values:
            value, before = self._values[node]
            return _value(value.value * reports / before, value.standard_error * reports / before)
        return _sum([self._values[part][0] for part in self._below[node]])

    def __repr__(self) -> str:
        return f"TopDown({self.name!r}, round {min(self._level + 1, self.rounds)} of {self.rounds})"


def _depths(given: Sequence[int], picks: bool) -> tuple[int, ...]:
    depths = tuple(given)
    rising = all(one < other for one, other in pairwise(depths))
    if not depths or not all(type(one) is int for one in depths) or depths[0] != 0 or not rising:
        raise InvalidParameter(f"`depths` begin with 0, the top, and rise; got {depths!r}.", "(0, 1, 2) is usual.")
    if picks and len(depths) < 2:
        raise InvalidParameter(
            "With `picks` at least two depths are asked.", "The level below tells how many there are."
        )
    return depths


def _parts(total: Fraction, weights: Sequence[Exact], levels: int) -> tuple[Fraction, ...]:
    """The budget of each round, exactly."""
    shares = [exact(weight, "weights") for weight in weights]
    if not levels:
        raise InvalidParameter("There is nothing to ask: no items, and no level below.", "Give `items`.")
    if len(shares) != levels or min(shares) <= 0:
        raise InvalidParameter(f"`weights` has one number above 0 for each of the {levels} rounds.")
    return tuple(total * share / sum(shares) for share in shares)


def _value(number: float, error: float) -> Value:
    reach = math.ceil(REACH * error)
    return Value(float(number), error, number - reach, number + reach)


def _sum(values: Sequence[Value]) -> Value:
    return _value(sum(one.value for one in values), math.sqrt(sum(one.standard_error**2 for one in values)))
