"""Which budgets a plan tries where nobody has named one."""

from __future__ import annotations

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact
from hubbub.privacy import Guarantee, Unit
from hubbub.privacy.guarantee import KINDS
from hubbub.privacy.promise import NAMED_DELTA

EPSILONS = ("0.01", "0.03", "0.1", "0.3", "1", "3")

RHOS = ("0.00005", "0.0005", "0.005", "0.05", "0.5", "2")
"""From what an epsilon of 0.01 implies, rho = epsilon^2/2, to that of 2."""


def usual_budgets(unit: Unit, kind: str | None = None, delta: Exact | None = None) -> list[Guarantee]:
    """Promises about `unit` from strong to weak, all of one kind: `pure`, `approximate` (with this `delta`, or 1e-9)
    or `zcdp`. A delta alone says which.

    >>> from hubbub.privacy import Event
    >>> [str(promise.rho) for promise in usual_budgets(Event(), "zcdp")][-2:]
    ['1/2', '2']
    """
    chosen = kind or ("pure" if delta is None else "approximate")
    if chosen not in KINDS:
        raise InvalidParameter(f"There is no kind of guarantee {kind!r}.", f"Known kinds: {', '.join(KINDS)}.")
    if delta is not None and chosen != "approximate":
        raise InvalidParameter(
            f"A promise of kind {chosen} has no `delta`; got {delta}.", "Leave it out, or plan for `approximate`."
        )
    if chosen == "zcdp":
        return [Guarantee.parse(unit, rho=rho) for rho in RHOS]
    added = (NAMED_DELTA if delta is None else delta) if chosen == "approximate" else None
    return [Guarantee.parse(unit, epsilon=epsilon, delta=added) for epsilon in EPSILONS]
