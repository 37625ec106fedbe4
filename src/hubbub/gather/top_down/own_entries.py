"""A client's side of a walk down a hierarchy: which of its entries it gives, and how much it has answered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any

from hubbub.errors import BudgetExceeded, QueryMismatch, ReportReplayed
from hubbub.exact import Exact, positive, whole
from hubbub.gather.noise import NAMED_DELTA, NoisePlan, ServersGaussian
from hubbub.gather.query import Query
from hubbub.gather.top_down.tree import ContextTree
from hubbub.privacy.guarantee import WEAKEST_EPSILON
from hubbub.privacy.rounding import at_most
from hubbub.privacy.zcdp import epsilon_of_rho

if TYPE_CHECKING:
    from hubbub.gather.top_down.round import Round


@dataclass(frozen=True, slots=True)
class Entry:
    """An item was shown to somebody in a context, and clicked or not."""

    context: Any
    item: str
    clicked: bool = False


class OwnEntries:
    """Chooses up to `max_items` of a client's entries, once, by chance and without looking at anybody else's; then
    answers rounds about these.

    Guarantee
        Protected: what this client answers, in all rounds together, as the queries say; it answers as long as that
        promises an epsilon of at most `epsilon`, and each query once.
        Must be enforced by the caller: one such object for a client and a walk, kept while the walk lasts.
        Not covered: that it answers, and in which rounds; that is seen by the servers.
        Proof: docs/proofs/gather.md, "A walk down a hierarchy" (proved).

    >>> from hubbub.gather.top_down import TopDown
    >>> from hubbub.personal import Categories
    >>> town = Categories({"town": None, "park": "town", "port": "town"})
    >>> walk = TopDown(town, name="ice", items=["vanilla"], max_items=2, clients=9, minimum=1, min_support=1, epsilon=1)
    >>> mine = OwnEntries(town, [Entry("park", "vanilla", clicked=True), Entry("port", "lemon")], max_items=2)
    >>> asked, query = walk.ask()
    >>> asked.below, mine.answer(asked, query)
    (('park', 'port'), [0, 1, 1, 1])
    """

    def __init__(
        self,
        tree: ContextTree,
        entries: Iterable[Entry],
        *,
        max_items: int,
        epsilon: Exact = WEAKEST_EPSILON,
        random: Random | None = None,
    ) -> None:
        everything = list(entries)
        most = min(whole(max_items, "max_items"), len(everything))
        # In random order, so that a round that takes fewer takes some of them by chance too.
        self._chosen = (SystemRandom() if random is None else random).sample(everything, most)
        for entry in self._chosen:
            tree.path(entry.context)  # what is no context is refused before anything is answered
        self._tree = tree
        self._most = positive(epsilon, "epsilon")
        self._answered: dict[bytes, NoisePlan] = {}

    def __len__(self) -> int:
        return len(self._chosen)

    @property
    def answered(self) -> Fraction:
        """The epsilon that the queries answered so far promise together (see `together`)."""
        return together(list(self._answered.values()))

    def answer(self, asked: Round, query: Query) -> list[int]:
        """The measurement to be sent for this query; refused if it is another round's, or was answered before, or if
        all answers together would promise too little."""
        asked.expect(query)
        if asked.tree != self._tree.digest:
            raise QueryMismatch("This round is about another hierarchy than the client's.", "Both must have the same.")
        if query.digest in self._answered:
            raise ReportReplayed("This query was answered before.", "If a report was lost, send the same bytes again.")
        total = together([*self._answered.values(), query.noise])
        if total > self._most:
            raise BudgetExceeded(
                f"All answers together would promise an epsilon of {at_most(total)}; this client answers up to "
                f"{at_most(self._most)}.",
                "Do not answer, or allow more.",
            )
        self._answered[query.digest] = query.noise
        return asked.vector(self._tree, self._chosen)

    def __repr__(self) -> str:
        return f"OwnEntries({len(self._answered)} rounds answered)"


def together(plans: list[NoisePlan]) -> Fraction:
    """The epsilon of several answers to queries with these plans.

    Where all noise is the servers' Gaussian, rhos add up, and it holds at a delta of 1e-6; otherwise epsilons add up,
    and each plan that has a delta brings its own 1e-6.
    """
    gaussian = [plan for plan in plans if isinstance(plan, ServersGaussian)]
    if plans and len(gaussian) == len(plans):
        return epsilon_of_rho(sum((plan.rho for plan in gaussian), Fraction(0)), NAMED_DELTA)
    return sum((plan.strength for plan in plans), Fraction(0))
