"""The most that a policy gives away, over all outputs: to whom it was made for, or to somebody with another chain."""

from __future__ import annotations

from fractions import Fraction

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.coins import CoinPolicy
from hubbub.contexts.secret import SMALLEST, Secret, targets
from hubbub.contexts.walk import holds
from hubbub.errors import InvalidParameter

_STEPS = 17


def largest_rise(policy: CoinPolicy, chain: ContextChain | None = None) -> float:
    """By how much belief in any of the secrets may rise, rounded up to 1/100,000; of those who hold `chain` for true.

    The deltas of secrets count for nothing here. For secrets about a stretch of time it is an upper bound.

    >>> from hubbub.contexts import Probabilistic
    >>> mine = ContextChain(("s", "x"), ("1/2", "1/2"), [])
    >>> policy = Probabilistic.plan(mine, [Secret("s")], "1/4", levels=3, exact=True)
    >>> theirs = ContextChain(("s", "x"), ("3/10", "7/10"), [])
    >>> round(largest_rise(policy), 4), round(largest_rise(policy, theirs), 4)
    (0.25, 0.2625)
    """
    if not isinstance(policy, CoinPolicy):
        raise InvalidParameter(
            "The largest rise is reckoned for policies of coins only.",
            "Take `chosen` of a hybrid; ask an `Adversary` about single outputs of a simulatable one.",
        )
    chain = policy.chain if chain is None else chain
    if chain.contexts != policy.chain.contexts or chain.ticks != policy.chain.ticks:
        raise InvalidParameter("The chain must have the contexts and ticks of the policy's.", "Fit both on one list.")
    secrets = [
        Secret(*s.contexts, first=s.first, last=s.last, together=s.together, sometime=s.sometime)
        for s in policy.secrets
    ]

    def within(rise: Fraction) -> bool:
        return holds(chain.steps, targets(chain, chain.steps, secrets, rise), policy.levels, policy.parts)

    low, high = Fraction(0), Fraction(1)
    for _ in range(_STEPS):
        middle = max(SMALLEST, (low + high) / 2)
        low, high = (low, middle) if within(middle) else (middle, high)
    return float(high)
