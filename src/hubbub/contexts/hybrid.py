"""The best of all policies, chosen before the day."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.policy import Policy
from hubbub.contexts.probabilistic import LEVELS, Probabilistic
from hubbub.contexts.remembering import MOST_LEVELS, Remembering, too_large
from hubbub.contexts.secret import Secret
from hubbub.contexts.simulatable import Simulatable
from hubbub.exact import Exact

_GAIN = 1e-9


class Hybrid(Policy):
    """`Simulatable`, `Probabilistic` or `Remembering`, whichever shows most on average over days of the chain.

    The paper's hybrid (Goetz 2012, 3.6) chooses among the first two; `older` is what it would have chosen. The choice
    depends on the chain, the secrets and delta only, all of which the adversary knows already: it tells nothing about a
    day.

    Guarantee
        Protects: what the policy that it chose protects (`chosen`).
        Enforced here: nothing besides. By the caller: as there.
        Formula: Pr[X_t = s | output] - Pr[X_t = s] <= delta.
        Not covered: as there.
        Reference: Goetz 2012, Thm 6.
        Proof: docs/proofs/contexts.md, section 6 (proved).

    >>> chain = ContextChain(("s", "x"), ("1/2", "1/2"), [[(0, 1), (0, 1)]])
    >>> Hybrid.plan(chain, [Secret("s")], "1/4").chosen
    Probabilistic(delta=0.25, shows 65.0% of 2 ticks)
    """

    name = "hybrid"

    def __init__(
        self, simulatable: Simulatable, probabilistic: Probabilistic, remembering: Remembering | None = None
    ) -> None:
        self.simulatable, self.probabilistic, self.remembering = simulatable, probabilistic, remembering
        self.older: Simulatable | Probabilistic = (
            simulatable if simulatable.utility > probabilistic.utility else probabilistic
        )
        self.chosen: Simulatable | Probabilistic | Remembering = self.older
        # The small tables of the others are kept where remembering gains nothing.
        if remembering is not None and remembering.utility > self.older.utility + _GAIN:
            self.chosen = remembering
        super().__init__(self.chosen.chain, self.chosen.secrets, self.chosen.delta, self.chosen.utility)

    @classmethod
    def plan(
        cls,
        chain: ContextChain,
        secrets: Sequence[Secret],
        delta: Exact,
        *,
        levels: int = LEVELS,
        search: str = "greedy",
        order: str = "best",
        exact: bool = False,
    ) -> Hybrid:
        """`exact` reckons in fractions: slow, for small chains; `Remembering` is left out then, and for large chains
        (of 100 contexts and 96 ticks: it would take many minutes)."""
        simulatable = Simulatable.plan(chain, secrets, delta, exact=exact)
        coins = Probabilistic.plan(chain, secrets, delta, levels=levels, search=search, order=order, exact=exact)
        if exact or levels > MOST_LEVELS or too_large(chain, secrets):
            return cls(simulatable, coins)
        return cls(simulatable, coins, Remembering.plan(chain, secrets, delta, levels=levels, coins=[coins.levels]))

    def suppression(self, tick: int, context: int, last_tick: int, last_context: int) -> Fraction:
        return self.chosen.suppression(tick, context, last_tick, last_context)
