"""Decisions that everybody could have made: they never look at the current context."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.frontier import Frontier
from hubbub.contexts.policy import Policy, check_secrets
from hubbub.contexts.secret import Secret, check_delta, targets
from hubbub.exact import Exact

NEVER = -1


class Simulatable(Policy):
    """After a context was shown, the next one is shown at the first tick at which *every* context that is possible
    then could be shown (Goetz 2012, 3.5).

    When that is depends on what was shown last and when, so the whole policy is a small table: `following[t + 1, i]`
    is the next tick that is shown after i at t (row 0: after nothing), or -1; `expected[t + 1, i]` are the contexts
    that may come then. One that the chain held for impossible is suppressed, and so is the rest of its day.

    Guarantee
        Protects: for each secret, each tick and each possible output, an adversary's belief rises by at most delta
        (Goetz 2012, Def. 6), if the adversary's chain is this one.
        Enforced here: each possible next release is checked before, with a margin that covers rounding. By the
        caller: that the chain is the person's, that days are independent of one another, that nothing else is shown.
        Formula: Pr[X_t = s | X_t1 = i, X_t2 = j] - Pr[X_t = s] <= delta for released neighbours i and j.
        Not covered: an adversary with another chain (`docs/proofs/contexts.md`, 7), beliefs that *fall*, when an app
        asks, contexts that the chain holds for impossible (they are suppressed).
        Reference: Goetz 2012, Thm 5, Alg. 5.
        Proof: docs/proofs/contexts.md, section 5 (proved).

    >>> chain = ContextChain(("s", "x"), ("1/2", "1/2"), [[(0, 1), (0, 1)]])
    >>> policy = Simulatable.plan(chain, [Secret("s")], "1/4")
    >>> policy.utility, int(policy.following[0, 0])
    (1.0, 1)
    """

    name = "simulatable"

    def __init__(
        self,
        chain: ContextChain,
        secrets: Sequence[Secret],
        delta: Exact,
        following: NDArray[np.int64],
        expected: NDArray[np.bool_],
        utility: float,
    ) -> None:
        self.following, self.expected = following, expected
        super().__init__(chain, secrets, delta, utility)

    @classmethod
    def plan(cls, chain: ContextChain, secrets: Sequence[Secret], delta: Exact, *, exact: bool = False) -> Simulatable:
        """`exact` reckons in fractions: slow, for small chains; no margin is needed then."""
        secrets, rise = check_secrets(secrets), check_delta(delta)
        steps = chain.exact_steps if exact else chain.steps
        frontier = Frontier(steps, targets(chain, steps, secrets, rise), steps.margin)
        following = np.full((chain.ticks + 1, chain.size), NEVER, dtype=np.int64)
        expected = np.zeros((chain.ticks + 1, chain.size, chain.size), dtype=bool)
        shown = np.zeros((chain.ticks + 1, chain.size))  # the chance that a row begins with this context
        shown[0] = 1.0
        always = steps.zeros(chain.size) + 1
        for tick in range(chain.ticks):
            ready = ~np.asarray(frontier.closing().any(axis=1))
            began: NDArray[np.bool_] = np.zeros(chain.size, dtype=bool)
            for row in np.flatnonzero(ready):
                start = frontier.began[row] + 1, (slice(None) if frontier.began[row] < 0 else frontier.context[row])
                following[start], expected[start] = tick, frontier.possible[row]
                here = np.asarray(frontier.here[row], dtype=float)
                chance = shown[start][0] if frontier.began[row] < 0 else shown[start]
                shown[tick + 1] += chance * here / here.sum()
                began |= frontier.possible[row]
            if tick < chain.ticks - 1:
                frontier.advance(always, began, drop=ready)
        return cls(chain, secrets, rise, following, expected, float(shown[1:].sum()))

    def suppression(self, tick: int, context: int, last_tick: int, last_context: int) -> Fraction:
        start = last_tick + 1, max(last_context, 0)
        return Fraction(int(self.following[start] != tick or not self.expected[(*start, context)]))
