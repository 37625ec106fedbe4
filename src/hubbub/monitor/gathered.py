"""What two servers add up without seeing, on the books of a store: paid for before anybody is asked, then published."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from hubbub.errors import InvalidParameter, TickTaken
from hubbub.exact import Exact
from hubbub.gather.noise import LaplaceShares, ServersGaussian, ServersLaplace
from hubbub.gather.opened import Opened
from hubbub.gather.plan import Plan
from hubbub.gather.prio3_scheme import Prio3Scheme
from hubbub.mechanism import Measurement, read_options
from hubbub.mechanism.measurement import NoiseKind
from hubbub.methods import make_mechanism, method_named
from hubbub.privacy import Grant, Guarantee, User
from hubbub.privacy.rounding import at_most
from hubbub.released import Cost, Keys, Tick
from hubbub.store import Store
from hubbub.store.awaiting import AwaitingCurator


class GatheredStream:
    """The book of a plan (`hubbub.gather.leader_desk.Book`): one tick a round, all under one promise.

    Every round is debited before its first report is taken, whether or not it comes to anything. Its noisy sums are a
    measurement that arrives noisy: a mechanism that only estimates turns them into a release. Without a `grant` the
    stream has one of its own, for as many rounds as the plan has.

    Guarantee
        Protects: one client over all rounds of all streams under the grant, in what the store publishes.
        Enforced by the caller: that a client answers a round once (tickets), and, under the homomorphic scheme, that
        clients do not lie; the noise is that of the plan (docs/proofs/gather.md).
        Formula: each round costs the plan's epsilon (rho); rounds add up over the horizon of the promise.
        Not covered: who answers, which the two servers see; how many did, which is told with each round.
        Reference: none; the argument is our own.
        Proof: docs/proofs/gather.md, section 9 (proved, given sections 3 and 4).
    """

    def __init__(
        self,
        store: Store,
        name: str,
        plan: Plan,
        *,
        grant: Grant | None = None,
        share: Exact = 1,
        method: str = "lpa",
        options: dict[str, Any] | None = None,
    ) -> None:
        self.plan = plan
        self._cost, own = price(plan)
        part = (grant or Grant(name, own)).part(share, max_ticks=plan.ticks if grant else None)
        keys = Keys(plan.labels)
        mechanism = make_mechanism(method, keys, part.guarantee, **read_options(method_named(method), options or {}))
        self._gaussian = self._cost.rho > 0
        if not (mechanism.traits.plain and mechanism.traits.even_cost):
            raise InvalidParameter(
                f"`{method}` measures more than counts plus noise: it takes no sums from elsewhere.",
                "Use lpa, or a filter such as navigation or ukf.",
            )
        even = mechanism.cost(self._tick(0))
        if (even.rho if self._gaussian else even.epsilon) < (self._cost.rho if self._gaussian else self._cost.epsilon):
            raise InvalidParameter(
                f"A round costs {_amount(self._cost)}; this part of the grant leaves {_amount(even)} for each of "
                f"{part.guarantee.unit.max_ticks:,} rounds.",
                "Plan with a smaller epsilon, for fewer rounds, or draw a larger share.",
            )
        self._curator = store.curate(name, mechanism, {"attested": attested(plan)}, part=part, kind=AwaitingCurator)
        self.name = name

    def open(self, tick: int) -> None:
        """Debit a round before anybody is asked; raises what a ledger refuses."""
        self._curator.debit(self._tick(tick))

    def publish(self, tick: int, opened: Opened) -> bool:
        """Release what came out; whether it is done. A round waits for those before it."""
        if not self._is_next(tick):
            return tick not in self._curator.awaited
        values = np.array(opened.sums, dtype=np.int64)
        kind: NoiseKind = "gaussian" if self._gaussian else "laplace"
        measured = Measurement(self._tick(tick), self._curator.keys, values, opened.variance, self._cost, kind)
        with suppress(TickTaken):  # another curator took it for lost: it stays so
            self._curator.accept(measured)
        return True

    def lose(self, tick: int) -> bool:
        """The round came to nothing, and stays charged if it was ever paid for."""
        if not self._is_next(tick):
            return tick not in self._curator.awaited
        self._curator.give_up(self._tick(tick))
        return True

    def close(self) -> None:
        self._curator.close()

    def _is_next(self, tick: int) -> bool:
        return self._curator.awaited[:1] == (tick,)

    def _tick(self, tick: int) -> Tick:
        return Tick(tick, self.plan.begins(tick), self.plan.every)


def price(plan: Plan) -> tuple[Cost, Guarantee]:
    """What a round costs, and the promise of a plan that stands alone."""
    noise, unit = plan.query.noise, User(horizon=plan.ticks)
    if isinstance(noise, ServersLaplace | LaplaceShares):
        return Cost(noise.epsilon, Fraction(0)), Guarantee.pure(unit, noise.epsilon * plan.ticks, allow_weak=True)
    if isinstance(noise, ServersGaussian):
        return Cost(Fraction(0), noise.rho), Guarantee.zcdp(unit, noise.rho * plan.ticks)
    raise InvalidParameter(f"A ledger adds up epsilons or rhos; {noise.kind} has neither.", "Plan with epsilon or rho.")


def attested(plan: Plan) -> dict[str, str]:
    """What the promise rests on beside the code, in words for those who read it."""
    facts = {
        "identity": "A client is one person, and answers a round once: "
        + ("it spends a ticket, which whoever gives them gives once." if plan.issuer else "the owner says so."),
        "gathered": "No server saw an answer: two that do not work together added them up, each with noise that "
        "suffices alone. Both see who answers, and how many did is told with each round."
        if not plan.query.noise.from_clients
        else "The noise was added by the clients, of whom some may have left it out: " + plan.query.noise.promise + ".",
    }
    if plan.scheme != Prio3Scheme.name:
        facts["bounds"] = "Nobody could check that a client added no more than one honest answer."
    return facts


def _amount(cost: Cost) -> str:
    return f"rho {at_most(cost.rho)}" if cost.rho else f"epsilon {at_most(cost.epsilon)}"
