"""Policies that toss a coin for each context, whatever was shown before."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.policy import Policy
from hubbub.contexts.secret import Secret
from hubbub.errors import InvalidParameter
from hubbub.exact import Exact


class CoinPolicy(Policy):
    """Suppress context i at tick t with chance levels[t, i] / parts."""

    def __init__(
        self, chain: ContextChain, secrets: Sequence[Secret], delta: Exact, levels: NDArray[np.int64], parts: int
    ) -> None:
        if levels.shape != (chain.ticks, chain.size) or levels.min() < 0 or levels.max() > parts:
            raise InvalidParameter(
                f"`levels` are whole numbers from 0 to {parts}, a row for each tick, a column for each context.",
                "Make the policy with `plan`.",
            )
        self.levels, self.parts = levels.astype(np.int64), parts
        self.levels.setflags(write=False)
        shown = (chain.steps.prior * (1 - self.levels / parts)).sum()
        super().__init__(chain, secrets, delta, float(shown))

    def suppression(self, tick: int, context: int, last_tick: int, last_context: int) -> Fraction:  # noqa: ARG002
        return Fraction(int(self.levels[tick, context]), self.parts)


class MaskSensitive(CoinPolicy):
    """Suppress the sensitive contexts and nothing else: what most software does, and no protection.

    Guarantee
        None. Whoever knows the person's habits reads most suppressed contexts from their neighbours (Goetz 2012,
        3.7.2: half of them). It stands here to be compared with.

    >>> chain = ContextChain(("call", "desk"), ("1/2", "1/2"), [])
    >>> MaskSensitive.plan(chain, [Secret("call")], "1/4").private
    False
    """

    name = "mask-sensitive"

    @classmethod
    def plan(cls, chain: ContextChain, secrets: Sequence[Secret], delta: Exact) -> MaskSensitive:
        levels = np.zeros((chain.ticks, chain.size), dtype=np.int64)
        for secret in secrets:
            when = secret.ticks(chain)
            for context in secret.contexts:
                levels[when.start : when.stop, chain.number(context)] = 1
        return cls(chain, secrets, delta, levels, 1)

    @property
    def private(self) -> bool:
        return False
