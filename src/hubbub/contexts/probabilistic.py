"""Coins for each state, as rarely suppressing as the promise allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.coins import CoinPolicy
from hubbub.contexts.covering import SEARCHES
from hubbub.contexts.likeliest import likeliest
from hubbub.contexts.policy import check_secrets
from hubbub.contexts.secret import Secret, check_delta, targets
from hubbub.contexts.walk import forward, holds, mirrored
from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, whole

LEVELS = 10
MOST_LEVELS = 65535
ORDERS = ("likeliest", "forward", "backward", "best")


class Probabilistic(CoinPolicy):
    """Each context is suppressed with a chance of its own at each tick (Goetz 2012, 3.4).

    All chances start at 1 and are lowered to multiples of 1/`levels` while the promise holds. In which `order` decides
    how much is shown: "likeliest" takes one state after the other, the most frequent first; "forward" takes one tick
    after the other, as if everything later were suppressed, which is fast and short-sighted; "backward" the same from
    the evening on. "best" makes all three and takes the one that shows most. Within a tick of the latter two
    `search="greedy"` lowers one chance after the other, "linear" solves the tick's linear programme.

    Guarantee
        Protects: for each secret, each tick and each possible output, an adversary's belief rises by at most delta
        (Goetz 2012, Def. 6), if the adversary's chain is this one.
        Enforced here: every piece of output is checked, with a margin that covers rounding. By the caller: that the
        chain is the person's, that days are independent of one another, that nothing else is shown.
        Formula: Pr[X_t = s | output] - Pr[X_t = s] <= delta.
        Not covered: an adversary with another chain (`docs/proofs/contexts.md`, 7), beliefs that *fall*, when an app
        asks, contexts that the chain holds for impossible (they are suppressed).
        Reference: Goetz 2012, Thm 4, without the cache of Lemma 5, which is unsound (docs/errata.md).
        Proof: docs/proofs/contexts.md, sections 2 to 4 (proved).

    >>> chain = ContextChain(("s", "x"), ("1/2", "1/2"), [])
    >>> policy = Probabilistic.plan(chain, [Secret("s")], "1/4", levels=3, exact=True)
    >>> policy.suppression(0, 1, -1, -1), policy.utility
    (Fraction(1, 3), 0.333...)
    """

    name = "probabilistic"

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
    ) -> Probabilistic:
        """`exact` reckons in fractions: slow, for small chains; no margin is needed then."""
        secrets, rise = check_secrets(secrets), check_delta(delta)
        if whole(levels, "levels") > MOST_LEVELS:
            raise InvalidParameter(f"`levels` is at most {MOST_LEVELS}; got {levels}.", "10 is usual.")
        if search not in SEARCHES or order not in ORDERS:
            raise InvalidParameter(
                f"`search` is one of {', '.join(SEARCHES)}, `order` one of {', '.join(ORDERS)}; got {search!r} and "
                f"{order!r}.",
                "Leave them out if unsure.",
            )
        steps = chain.exact_steps if exact else chain.steps
        bounds = targets(chain, steps, secrets, rise)
        plans = [np.full((chain.ticks, chain.size), levels, dtype=np.int64)]
        if order in ("likeliest", "best"):
            found = likeliest(steps, bounds, levels)
            if holds(steps, bounds, found, levels):  # a second look at the whole, for it was made of parts
                plans.append(found)
        if order in ("forward", "best"):
            plans.append(forward(steps, bounds, SEARCHES[search], levels))
        if order in ("backward", "best"):
            turned = forward(steps.backwards(), mirrored(bounds, steps.ticks), SEARCHES[search], levels)[::-1]
            # Bayes' rule has rounded: only what holds for the chain itself is taken.
            if holds(steps, bounds, turned, levels):
                plans.append(turned)
        made = [cls(chain, secrets, rise, found, levels) for found in plans]
        return max(made, key=lambda policy: policy.utility)
