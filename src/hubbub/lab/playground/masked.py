"""What each policy shows of some days, and what somebody believes then: the Contexts page's work."""

from __future__ import annotations

from random import Random
from typing import Any

from hubbub.contexts import (
    Adversary,
    Belief,
    ContextChain,
    Hybrid,
    MaskSensitive,
    Policy,
    Probabilistic,
    Remembering,
    Secret,
    Simulatable,
    ceiling,
    largest_rise,
)
from hubbub.contexts.device import Mask
from hubbub.contexts.remembering import MANNERS
from hubbub.lab.context_people import Days
from hubbub.lab.playground.asked import ContextsAsked
from hubbub.lab.playground.observed import Observed

POLICIES = (MaskSensitive.name, Simulatable.name, Probabilistic.name, Remembering.name)
SHOWN_DAYS = 10
FEW_MANNERS = 3
_QUICK, _SLOW = 2e6, 3e8
"""How many comparisons a plan may take until it is made in fewer manners, and until it is left out: beyond the second
it would take minutes, which is for the command line."""


class Masked:
    """One person, one choice of what is sensitive: planned policy by policy, so that the page can show each at once.

    Coins are drawn from a seed: what is shown here is a picture, and never to be published.
    """

    def __init__(self, observed: Observed, asked: ContextsAsked) -> None:
        self._asked = asked
        self.chain = ContextChain.fit(observed.days, contexts=observed.contexts, smoothing=asked.smoothing)
        self.secret = Secret(
            *dict.fromkeys(asked.sensitive),
            first=asked.first,
            last=asked.last,
            together=asked.together,
            sometime=asked.sometime,
        )
        self._when = self.secret.ticks(self.chain)
        for name in self.secret.contexts:
            self.chain.number(name)
        self._days = _chosen(observed.days, set(self.secret.contexts), Random(asked.draw))
        self.made: dict[str, Policy] = {}

    def scene(self) -> dict[str, Any]:
        """The days, and what is believed before anything is shown."""
        masking = self._plan(MaskSensitive.name)
        assert masking is not None
        return {
            "contexts": list(self.chain.contexts),
            "ticks": self.chain.ticks,
            "delta": float(masking.delta),
            "days": [[self.chain.number(name) for name in day] for day in self._days],
            "bounds": [
                {
                    "contexts": [self.chain.number(name) for name in group],
                    "first": self._when.start,
                    "last": self._when[-1],
                    "sometime": self.secret.sometime,
                    "prior": [_rounded(belief.prior) for belief in beliefs],
                }
                for group, beliefs in _grouped(Adversary(masking).about([])).items()
            ],
        }

    def policy(self, name: str) -> dict[str, Any]:
        """What it shows of each day, and all beliefs after the day."""
        policy = self._plan(name)
        if policy is None:
            return {"name": name, "left_out": True}
        self.made[name] = policy
        data, random = policy.compile().to_bytes(), Random(self._asked.draw)
        adversary = Adversary(policy)
        outputs, beliefs, breached = [], [], []
        for day in self._days:
            mask = Mask(data, random.randrange)
            shown = [mask.offer(tick, context) for tick, context in enumerate(day)]
            outputs.append([-1 if seen is None else self.chain.number(seen) for seen in shown])
            groups = _grouped(adversary.about(shown))
            beliefs.append([[_rounded(belief.posterior) for belief in group] for group in groups.values()])
            over = _grouped(adversary.breaches(shown))
            breached.append([[belief.tick for belief in over.get(group, [])] for group in groups])
        return {
            "name": name,
            "private": policy.private,
            "shows": policy.utility / self.chain.ticks,
            "worst": None if policy.private else largest_rise(policy),
            "outputs": outputs,
            "beliefs": beliefs,
            "breaches": breached,
        }

    def result(self) -> dict[str, Any]:
        """What hybrid takes, what it promises, and what nothing can exceed."""
        made = self.made
        simulatable, coins = made[Simulatable.name], made.get(Probabilistic.name)
        chosen: Policy = simulatable
        if isinstance(simulatable, Simulatable) and isinstance(coins, Probabilistic):
            remembering = made.get(Remembering.name)
            kept = remembering if isinstance(remembering, Remembering) else None
            chosen = Hybrid(simulatable, coins, kept).chosen
        # The ceiling looks at single ticks: of "at any time" it knows nothing.
        most = None if self.secret.sometime else ceiling(self.chain, [self.secret], chosen.delta) / self.chain.ticks
        return {"chosen": chosen.name, "words": chosen.words, "ceiling": most}

    def _plan(self, name: str) -> Policy | None:
        chain, secrets, delta = self.chain, [self.secret], self._asked.delta
        if name == MaskSensitive.name:
            return MaskSensitive.plan(chain, secrets, delta)
        if name == Simulatable.name:
            return Simulatable.plan(chain, secrets, delta)
        effort = self._effort()
        if effort > _SLOW:
            return None
        if name == Probabilistic.name:
            return Probabilistic.plan(chain, secrets, delta)
        made = self.made.get(Probabilistic.name)
        coins = [made.levels] if isinstance(made, Probabilistic) else []
        manners = MANNERS if effort <= _QUICK else MANNERS[:FEW_MANNERS]
        return Remembering.plan(chain, secrets, delta, coins=coins, manners=manners)

    def _effort(self) -> float:
        states = int((self.chain.steps.prior > 0).sum())
        return float(states) ** 2 * len(self._when) * len(self.secret.contexts)


def _chosen(days: Days, sensitive: set[str], random: Random) -> Days:
    """Some days by lot, in turn one with something sensitive in it and one without, as far as there are both."""
    mixed = random.sample(days, len(days))
    sides = [[day for day in mixed if sensitive & set(day)], [day for day in mixed if not sensitive & set(day)]]
    found: Days = []
    while any(sides) and len(found) < SHOWN_DAYS:
        side = sides[len(found) % 2] or sides[1 - len(found) % 2]
        found.append(side.pop())
    return found


def _grouped(beliefs: list[Belief]) -> dict[tuple[str, ...], list[Belief]]:
    groups: dict[tuple[str, ...], list[Belief]] = {}
    for belief in beliefs:
        groups.setdefault(belief.contexts, []).append(belief)
    return groups


def _rounded(number: Any) -> float:
    return round(float(number), 5)
