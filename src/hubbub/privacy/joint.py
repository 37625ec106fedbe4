"""One promise kept by two mechanisms: how a budget is divided, and what two parts promise together."""

from __future__ import annotations

from fractions import Fraction

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, exact
from hubbub.privacy.guarantee import Guarantee


def divide(whole: Guarantee, share: Exact) -> tuple[Guarantee, Guarantee]:
    """Two guarantees about the same unit that together give `whole`; the second has `share` of the budget, exactly.

    >>> from hubbub.privacy import Session
    >>> first, second = divide(Guarantee.pure(Session(max_ticks=20), 1), "1/3")
    >>> first.epsilon, second.epsilon
    (Fraction(2, 3), Fraction(1, 3))
    """
    part = exact(share, "share")
    if not 0 < part < 1:
        raise InvalidParameter(f"`share` must lie between 0 and 1; got {share}.", "1/2 gives both parts the same.")
    if whole.kind == "approximate":
        raise InvalidParameter(
            "A guarantee with a delta cannot be divided exactly.", "Give it as Guarantee.pure or Guarantee.zcdp."
        )
    first, second = (_of(whole, whole.budget * p) for p in (1 - part, part))
    return first, second


def together(first: Guarantee, *others: Guarantee) -> Guarantee:
    """What mechanisms with these guarantees promise about one unit, if all of them see it: the sum.

    Pure epsilons add up, and so do rhos (basic composition: docs/proofs/pair.md).

    >>> from hubbub.privacy import Event
    >>> together(Guarantee.pure(Event(), "2/3"), Guarantee.pure(Event(), "1/3")).epsilon
    Fraction(1, 1)
    """
    for other in others:
        if other.unit != first.unit or {first.kind, other.kind} not in ({"pure"}, {"zcdp"}):
            raise InvalidParameter(
                "Only guarantees of one kind, pure or zCDP, about the same unit add up to one.",
                "Give both parts the same unit and the same kind.",
            )
    return _of(first, sum((other.budget for other in others), first.budget)) if others else first


def _of(like: Guarantee, budget: Fraction) -> Guarantee:
    """`like` with another budget. What is too weak was refused when the whole was made."""
    return Guarantee(like.unit, epsilon=budget) if like.kind == "pure" else Guarantee(like.unit, rho=budget)
