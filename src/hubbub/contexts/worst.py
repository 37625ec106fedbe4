"""The most that a policy gives away, over all outputs: to whom it was made for, or to somebody with another chain."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial

import numpy as np

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.coins import CoinPolicy
from hubbub.contexts.hybrid import Hybrid
from hubbub.contexts.pieces import Ground, Numbers, Pieces
from hubbub.contexts.policy import Policy
from hubbub.contexts.remembering import Remembering
from hubbub.contexts.secret import SMALLEST, Secret, Targets, targets
from hubbub.contexts.simulatable import Simulatable
from hubbub.contexts.walk import holds
from hubbub.errors import InvalidParameter

_STEPS = 17
_SMALL = 200


def largest_rise(policy: Policy, chain: ContextChain | None = None) -> float:
    """By how much belief in any of the secrets may rise, rounded up to 1/100,000; of those who hold `chain` for true.

    The deltas of secrets count for nothing here. For secrets about a stretch of time it is an upper bound; so it is for
    policies other than coins, since what silence tells in the middle of a day is counted too.

    >>> from hubbub.contexts import Probabilistic
    >>> mine = ContextChain(("s", "x"), ("1/2", "1/2"), [])
    >>> policy = Probabilistic.plan(mine, [Secret("s")], "1/4", levels=3, exact=True)
    >>> theirs = ContextChain(("s", "x"), ("3/10", "7/10"), [])
    >>> round(largest_rise(policy), 4), round(largest_rise(policy, theirs), 4)
    (0.25, 0.2625)
    """
    chosen, chain = _fitting(policy, chain)
    secrets = [
        Secret(*s.contexts, first=s.first, last=s.last, together=s.together, sometime=s.sometime)
        for s in policy.secrets
    ]

    # Asked again for every rise that is tried: what it says about itself is written down once.
    table = cache(partial(_chances, chosen))

    low, high = Fraction(0), Fraction(1)
    for _ in range(_STEPS):
        middle = max(SMALLEST, (low + high) / 2)
        kept = _keeps(chosen, chain, targets(chain, chain.steps, secrets, middle), table)
        low, high = (low, middle) if kept else (middle, high)
    return float(high)


def keeps_promise(policy: Policy, chain: ContextChain | None = None) -> bool:
    """Whether no belief rises by more than its own delta, for those who hold `chain` for true.

    The planner's check, at delta itself. True is sure: the margin against rounding lies on that side, so that False may
    also mean that a rise comes within a billionth of its delta. Coins on small chains are then asked in fractions.
    """
    chosen, chain = _fitting(policy, chain)
    bounds = targets(chain, chain.steps, policy.secrets, policy.delta)
    if _keeps(chosen, chain, bounds, cache(partial(_chances, chosen))):
        return True
    if not isinstance(chosen, CoinPolicy) or chain.ticks * chain.size**2 > _SMALL:
        return False
    steps = chain.exact_steps
    return holds(steps, targets(chain, steps, policy.secrets, policy.delta), chosen.levels, chosen.parts)


def _fitting(policy: Policy, chain: ContextChain | None) -> tuple[CoinPolicy | Simulatable | Remembering, ContextChain]:
    chosen = policy.chosen if isinstance(policy, Hybrid) else policy
    if not isinstance(chosen, CoinPolicy | Simulatable | Remembering):
        raise InvalidParameter("The largest rise is reckoned for Hubbub's policies only.", "Make one with Hybrid.plan.")
    chain = policy.chain if chain is None else chain
    if chain.contexts != policy.chain.contexts or chain.ticks != policy.chain.ticks:
        raise InvalidParameter("The chain must have the contexts and ticks of the policy's.", "Fit both on one list.")
    return chosen, chain


def _keeps(
    chosen: CoinPolicy | Simulatable | Remembering,
    chain: ContextChain,
    bounds: Targets,
    table: Callable[[int, int], Numbers],
) -> bool:
    if isinstance(chosen, CoinPolicy):
        return holds(chain.steps, bounds, chosen.levels, chosen.parts)
    return pieces_hold(Ground(chain.steps, bounds), table)


def _chances(policy: Policy, began: int, context: int) -> Numbers:
    """[ticks since, k]: how likely k is suppressed after `context` was shown at `began`."""
    chain, last = policy.chain, -1 if began < 0 else context
    found = np.ones((chain.ticks - began - 1, chain.size))
    for since, row in enumerate(found):
        row[:] = [float(policy.suppression(began + 1 + since, k, began, last)) for k in range(chain.size)]
    return found


def pieces_hold(ground: Ground, chances_of: Callable[[int, int], Numbers]) -> bool:
    """Whether every piece that can begin keeps all bounds: at each of its ends, and in silence at each tick.

    `chances_of(t, i)` are the chances of suppression after i was shown at t, a row for each tick that follows.
    """
    steps = ground.steps
    can_begin = {(-1, 0)}
    for began in range(-1, steps.ticks - 1):
        contexts = sorted(context for tick, context in can_begin if tick == began)
        if not contexts:
            continue
        if began >= 0 and not ground.showable[began][contexts].all():
            return False
        pieces = Pieces(ground, began, np.array(contexts))
        tables = np.array([chances_of(began, context) for context in contexts])
        for tick in range(began + 1, steps.ticks):
            chances = tables[:, tick - began - 1]
            shown = pieces.possible & (chances < 1)
            if (shown & ~pieces.free()).any() or not pieces.silent(pieces.conditions(), chances).all():
                return False
            can_begin |= {(tick, int(k)) for k in np.flatnonzero(shown.any(axis=0))}
            if tick < steps.ticks - 1:
                pieces.advance(chances)
    last = [context for tick, context in can_begin if tick == steps.ticks - 1]
    return bool(ground.showable[-1][last].all())
