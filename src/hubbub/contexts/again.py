"""Planning again when days were added, and what earlier plans gave away to who knows the newer habits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.compiled import Compiled
from hubbub.contexts.hybrid import Hybrid
from hubbub.contexts.policy import Policy
from hubbub.contexts.secret import Secret
from hubbub.contexts.worst import keeps_promise, largest_rise
from hubbub.exact import Exact


@dataclass(frozen=True)
class Hindsight:
    """What a plan gives away at worst, to somebody who holds a newer chain for true.

    `rise` is over all outputs that the newer chain allows, rounded up; each day under that plan is within it.
    """

    policy: Policy
    rise: float
    keeps: bool
    """Whether the plan's own promise is sure to hold for her as well, each secret with its own delta."""


@dataclass(frozen=True)
class Replanned:
    """The plan from now on, and how the earlier ones look from here."""

    policy: Policy
    before: tuple[Hindsight, ...]

    @property
    def worst(self) -> float:
        """The largest rise of a belief about a single day, for who knows the newest chain: earlier days and days to
        come. No sum: days are independent (docs/proofs/contexts.md, 6 and 10)."""
        return max([*(past.rise for past in self.before), float(max(self.policy.deltas))])


def hindsight(past: Compiled | Policy, chain: ContextChain, secrets: Sequence[Secret] | None = None) -> Hindsight:
    """What a plan gives away to who holds `chain` for true; `secrets` are the plan's own unless others are given.

    >>> mine = ContextChain(("s", "x"), ("1/2", "1/2"), [])
    >>> plan = Hybrid.plan(mine, [Secret("s")], "1/4", levels=3, exact=True)
    >>> past = hindsight(plan, ContextChain(("s", "x"), ("3/10", "7/10"), []))
    >>> round(past.rise, 4), past.keeps
    (0.2625, False)
    """
    table = past.compile() if isinstance(past, Policy) else past
    if secrets is None:
        secrets = past.secrets if isinstance(past, Policy) else ()
    found = table.policy(chain, secrets)
    return Hindsight(found, largest_rise(found, chain), keeps_promise(found, chain))


def plan_again(
    days: Sequence[Sequence[str]],
    secrets: Sequence[Secret],
    delta: Exact,
    before: Sequence[Compiled | Policy] = (),
    *,
    smoothing: float = 1.0,
    unseen: float = 1.0,
    levels: int = 10,
) -> Replanned:
    """Learn from all `days` so far, plan anew, and look back at the plans `before`.

    Each earlier day was covered for who took *its* chain for true. Who knows the newer one may come to believe more:
    how much at worst is told for each plan. Nothing can be promised beforehand about a chain that is not known yet; a
    plan for several chains (`ForSeveral`) holds for each of those that are.
    """
    names = list(dict.fromkeys(name for past in before for name in _contexts(past)))
    known = sorted({*names, *(name for day in days for name in day)})
    chain = ContextChain.fit(days, contexts=known, smoothing=smoothing, unseen=unseen)
    policy = Hybrid.plan(chain, secrets, delta, levels=levels)
    return Replanned(policy, tuple(hindsight(past, chain, secrets) for past in before))


def _contexts(past: Compiled | Policy) -> tuple[str, ...]:
    return past.chain.contexts if isinstance(past, Policy) else tuple(past.table["contexts"])
