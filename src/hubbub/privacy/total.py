"""What several promises about the same people say together, and what they do not.

| symbol | meaning |
|---|---|
| u | the unit about which something is said |
| v | the unit that another promise protects |
| k | `steps`: how many units v must come or go between a world with one u and the world without it |

Proof of every line: docs/proofs/grants.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from hubbub.privacy.guarantee import Guarantee
from hubbub.privacy.promise import NAMED_DELTA
from hubbub.privacy.unit import Event, Session, Unit, User, Window
from hubbub.privacy.zcdp import epsilon_of_rho


def steps(unit: Unit, protected: Unit, *, same_ticks: bool = True) -> int | None:
    """k for a stream that protects `protected`: what it promises about one `unit` is k times as weak (rho: k^2).

    None where nothing follows: a session may hold any number of events. `same_ticks` says whether both count on the
    same clock, which windows need.

    >>> from datetime import timedelta
    >>> visit, person = Session(20, timedelta(minutes=30)), User(horizon=365)
    >>> steps(visit, visit), steps(visit, person), steps(Event(), visit), steps(person, visit)
    (1, 2, 3, None)
    """
    match unit, protected:
        case (Event(), Event()) | (User(), User()):
            return 1
        case Window(), Window():
            return 1 if same_ticks and unit.max_ticks == protected.max_ticks else None
        case Session(timeout=one), Session(timeout=other):
            if type(unit) is not type(protected):
                return None  # a trip and a visit have nothing to do with each other
            if one == other:
                return 1
            # A visit that is cut sooner lies within one that is cut later, whose rest is one visit or two.
            return 3 if one is not None and other is not None and one < other else None
        case Event(), Session():
            return 3
        case (Event() | Session() | Window(), User()):
            return 2  # the person goes, and comes back without it
    return None


def together(unit: Unit, promised: Iterable[tuple[Guarantee, int]]) -> Guarantee | None:
    """What all of these, each with its `steps`, promise about one `unit` that may meet every one of them.

    Pure epsilons add up, and so do rhos. Where kinds are mixed the sum is told with a delta, in the tighter of two
    ways: pure promises as rho = epsilon^2/2, or added to the epsilon of the others. What may slip adds up by itself.
    None where nothing is left of it.

    >>> from hubbub.privacy.unit import Event
    >>> together(Event(), [(Guarantee.pure(Event(), "2/3"), 1), (Guarantee.pure(Event(), "1/3"), 1)]).epsilon
    Fraction(1, 1)
    >>> mixed = together(Event(), [(Guarantee.pure(Event(), "1/10"), 1), (Guarantee.zcdp(Event(), "1/200"), 1)])
    >>> mixed.kind, float(mixed.epsilon)
    ('approximate', 0.66...)
    """
    given = list(promised)
    if len(given) == 1 and given[0][1] == 1:
        return given[0][0]
    pure = rho = pure_as_rho = slips = Fraction(0)
    plain, chance = Fraction(0), Fraction(0)  # epsilon and delta that are added as they are
    deltas: list[Fraction] = []
    for guarantee, k in given:
        if guarantee.kind == "pure":
            pure += k * guarantee.budget
            pure_as_rho += (k * guarantee.budget) ** 2 / 2
        elif guarantee.delta and k > 1:
            several = guarantee.promise.of(k)  # a delta is not kept by rho at every order, as groups would need
            assert several.epsilon is not None
            plain, chance = plain + several.epsilon, chance + several.delta
        else:
            rho += k * k * guarantee.budget
            slips += guarantee.slips
            deltas += [guarantee.delta - guarantee.aside] if guarantee.kind == "approximate" else []
    if chance + slips >= 1:
        return None
    if not rho and not chance:
        return Guarantee(unit, epsilon=pure)
    if not pure and not chance and not deltas:
        return Guarantee(unit, rho=rho, delta=slips)
    epsilon = pure + plain
    if rho:
        delta = max(deltas, default=NAMED_DELTA)
        chance += delta + slips
        added, through_rho = (epsilon_of_rho(each, delta, whole_orders=True) for each in (rho, rho + pure_as_rho))
        epsilon = plain + min(pure + added, through_rho)
    return Guarantee(unit, epsilon=epsilon, delta=chance) if chance < 1 else None
