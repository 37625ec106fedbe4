"""What somebody believes who knows the chain, the policy, and everything that was shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.policy import Policy
from hubbub.contexts.secret import Secret
from hubbub.contexts.steps import Array, Steps
from hubbub.errors import InvalidInput, InvalidParameter

SUPPRESSED = None
"""What is shown in place of a context that is not."""


@dataclass(frozen=True)
class Belief:
    """In one secret at one tick (`tick` is its last one if the secret is about a stretch of time)."""

    secret: Secret
    contexts: tuple[str, ...]
    tick: int
    prior: float | Fraction
    posterior: float | Fraction

    @property
    def rise(self) -> float | Fraction:
        return self.posterior - self.prior


class Adversary:
    """Bayesian reasoning about a day from what was shown (Goetz 2012, Prop. 1, 2 and 5, Eq. 3.3).

    `chain` may differ from the policy's own: an adversary who knows less, or more. Outputs may stop before the day
    ends: then only what was shown so far is known. `exact` reckons in fractions.

    >>> from hubbub.contexts import MaskSensitive, Secret
    >>> chain = ContextChain(("call", "desk"), ("1/2", "1/2"), [])
    >>> policy = MaskSensitive.plan(chain, [Secret("call")], "1/4")
    >>> Adversary(policy).beliefs([SUPPRESSED])[0]
    {'call': 1.0, 'desk': 0.0}
    >>> Adversary(policy).about([SUPPRESSED])[0].rise
    0.5
    """

    def __init__(self, policy: Policy, chain: ContextChain | None = None, *, exact: bool = False) -> None:
        self.policy, self.chain = policy, policy.chain if chain is None else chain
        if self.chain.contexts != policy.chain.contexts or self.chain.ticks != policy.chain.ticks:
            raise InvalidParameter(
                "The adversary's chain must have the contexts and ticks of the policy's.", "Fit both on the same names."
            )
        self._steps: Steps = self.chain.exact_steps if exact else self.chain.steps

    def beliefs(self, outputs: Sequence[str | None]) -> list[dict[str, float | Fraction]]:
        """For every tick of the day, how likely each context is."""
        table = self._posterior(self._likelihoods(outputs))
        return [dict(zip(self.chain.contexts, row, strict=True)) for row in table.tolist()]

    def about(self, outputs: Sequence[str | None]) -> list[Belief]:
        """Belief in each of the policy's secrets, before and after."""
        likelihoods = self._likelihoods(outputs)
        prior, posterior = self._steps.prior, self._posterior(likelihoods)
        found = []
        for secret in self.policy.secrets:
            ticks = secret.ticks(self.chain)
            groups = [secret.contexts] if secret.together else [(name,) for name in secret.contexts]
            for names in groups:
                places = [self.chain.number(name) for name in names]
                if secret.sometime:
                    before = 1 - self._avoiding(self._nothing(), ticks, places)
                    after = 1 - self._avoiding(likelihoods, ticks, places)
                    found.append(Belief(secret, names, ticks[-1], self._plain(before), self._plain(after)))
                    continue
                for tick in ticks:
                    pair = prior[tick, places].sum(), posterior[tick, places].sum()
                    found.append(Belief(secret, names, tick, *map(self._plain, pair)))
        return found

    def breaches(self, outputs: Sequence[str | None]) -> list[Belief]:
        """Where belief rose by more than the policy's delta."""
        spare = self._steps.margin
        return [belief for belief in self.about(outputs) if belief.rise > self._delta(belief.secret) + spare]

    def plot(self, path: str | Path, outputs: Sequence[str | None], day: Sequence[str] | None = None) -> None:
        """A picture as one SVG file: what was shown (and the day, if it is given), and belief in each secret then."""
        from hubbub.contexts.picture import belief_picture  # pictures know adversaries

        belief_picture(self, outputs, day).save(path)

    def __repr__(self) -> str:
        knows = "the policy's chain" if self.chain is self.policy.chain else "another chain"
        return f"Adversary(who knows {knows} and {self.policy!r})"

    def _delta(self, secret: Secret) -> float | Fraction:
        return self._steps.number(self.policy.delta if secret.delta is None else secret.delta)

    def _plain(self, belief: float | Fraction) -> float | Fraction:
        """Python's own number in place of NumPy's: people print it."""
        return belief if self._steps.exact else float(belief)

    def _nothing(self) -> Array:
        return self._steps.zeros(self.chain.ticks, self.chain.size) + 1

    def _likelihoods(self, outputs: Sequence[str | None]) -> Array:
        """[t, i]: how likely the output of tick t is for who is in i then, after the outputs before it."""
        if len(outputs) > self.chain.ticks:
            raise InvalidInput(
                f"A day has {self.chain.ticks} ticks; got {len(outputs)} outputs.", "Look at one day at a time."
            )
        found = self._nothing()
        last_tick, last_context = -1, -1
        for tick, output in enumerate(outputs):
            hidden = [
                self.policy.suppression(tick, context, last_tick, last_context) for context in range(self.chain.size)
            ]
            if output is SUPPRESSED:
                found[tick] = [self._steps.number(chance) for chance in hidden]
            else:
                last_tick, last_context = tick, self.chain.number(output)
                found[tick] = self._steps.zeros(self.chain.size)
                found[tick, last_context] = self._steps.number(1 - hidden[last_context])
        return found

    def _posterior(self, likelihoods: Array) -> Array:
        """Forward and backward (Eq. 3.3); rows are scaled, so that no long day underflows."""
        steps, ticks = self._steps, self.chain.ticks
        ahead, behind = [steps.first * likelihoods[0]], [steps.zeros(self.chain.size) + 1]
        for tick in range(1, ticks):
            ahead.append((_scaled(ahead[-1]) @ steps.moves[tick - 1]) * likelihoods[tick])
        for tick in range(ticks - 1, 0, -1):
            behind.append(_scaled(steps.moves[tick - 1] @ (behind[-1] * likelihoods[tick])))
        joint = np.array(ahead) * np.array(behind[::-1])
        total = joint.sum(axis=1, keepdims=True)
        if not (total > 0).all():
            raise InvalidInput(
                "This output cannot happen: the policy never shows it, or the chain never walks that way.",
                "Give the outputs of one day of this policy, suppressed ticks as None.",
            )
        return joint / total  # type: ignore[no-any-return]

    def _avoiding(self, likelihoods: Array, ticks: range, members: list[int]) -> float | Fraction:
        """The belief that the day was in none of `members` at any of `ticks`."""
        steps = self._steps
        both = [steps.first, steps.first]  # all days, and those that avoid
        for tick in range(self.chain.ticks):
            both = [here * likelihoods[tick] for here in both]
            if tick in ticks:
                both[1] = both[1].copy()
                both[1][members] = steps.zeros(1)[0]
            scale = both[0].max()
            both = [here / scale for here in both]
            if tick < self.chain.ticks - 1:
                both = [here @ steps.moves[tick] for here in both]
        return both[1].sum() / both[0].sum()  # type: ignore[no-any-return]


def _scaled(row: Array) -> Array:
    most = row.max()
    return row / most if most > 0 else row
