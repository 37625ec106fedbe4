"""One plan against people with different pictures of the same habits."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

import numpy as np

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.coins import CoinPolicy
from hubbub.contexts.policy import check_secrets
from hubbub.contexts.probabilistic import LEVELS, Probabilistic
from hubbub.contexts.secret import Secret
from hubbub.errors import InvalidParameter
from hubbub.exact import Exact

MOST_PARTS = 65535


class ForSeveral(CoinPolicy):
    """Coins that keep the promise about each of several chains: each state is suppressed as often as the plan says that
    suppresses it most.

    Use it where it is not known which chain somebody has in mind: those of earlier plans and of the present one, or one
    of workdays and one of weekends. The last chain is the person's own: `utility` is about it.

    Guarantee
        Protects: for each secret, each tick and each possible output, an adversary's belief rises by at most delta
        (Goetz 2012, Def. 6), whichever of the chains is the adversary's.
        Enforced here: a plan for each chain, each checked. By the caller: that days are independent of one another,
        that nothing else is shown.
        Formula: Pr_c[X_t = s | output] - Pr_c[X_t = s] <= delta for each chain c.
        Not covered: an adversary with a chain that is not among them; beliefs that *fall*; when an app asks.
        Reference: Goetz 2012, Thm 3; its use for several chains is Hubbub's own.
        Proof: docs/proofs/contexts.md, section 10 (proved).

    >>> mine = ContextChain(("s", "x"), ("1/2", "1/2"), [])
    >>> theirs = ContextChain(("s", "x"), ("3/10", "7/10"), [])
    >>> plan = ForSeveral.plan([theirs, mine], [Secret("s")], "1/4", levels=100)
    >>> round(Probabilistic.plan(mine, [Secret("s")], "1/4", levels=100).utility, 2), round(plan.utility, 2)
    (0.33, 0.32)
    """

    name = "for-several"

    @classmethod
    def plan(
        cls, chains: Sequence[ContextChain], secrets: Sequence[Secret], delta: Exact, *, levels: int = LEVELS
    ) -> ForSeveral:
        """Chains may know different contexts: what one of them does not know cannot occur in it."""
        kept = tuple(chains)
        if not kept or len({chain.ticks for chain in kept}) != 1:
            raise InvalidParameter(
                "A plan for several chains needs at least one, all with the same number of ticks.",
                "Fit them on days that were cut in the same way.",
            )
        secrets = check_secrets(secrets)
        names = list(dict.fromkeys(name for chain in reversed(kept) for name in chain.contexts))
        told = [chain.among(names) for chain in kept]
        return cls.of([Probabilistic.plan(chain, secrets, delta, levels=levels) for chain in told])

    @classmethod
    def of(cls, plans: Sequence[Probabilistic]) -> ForSeveral:
        """From plans for the same contexts, ticks, secrets and delta; the last one's chain is the person's own."""
        if not plans or not all(isinstance(plan, Probabilistic) for plan in plans):
            raise InvalidParameter("Only plans of Probabilistic can be joined.", "Make them with Probabilistic.plan.")
        last = plans[-1]
        for plan in plans:
            same = plan.chain.contexts == last.chain.contexts and plan.chain.ticks == last.chain.ticks
            if not same or plan.secrets != last.secrets or plan.delta != last.delta:
                raise InvalidParameter(
                    "Plans that are joined have the same contexts, ticks, secrets and delta.",
                    "Use ForSeveral.plan with the chains.",
                )
        parts = lcm(*(plan.parts for plan in plans))
        if parts > MOST_PARTS:
            raise InvalidParameter(
                f"The plans' levels come to {parts} together; at most {MOST_PARTS} are possible.",
                "Plan all with the same number of levels.",
            )
        levels = np.max([plan.levels * (parts // plan.parts) for plan in plans], axis=0)
        return cls(last.chain, last.secrets, last.delta, levels, parts)
