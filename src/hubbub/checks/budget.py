"""Nobody is ever charged more than was promised."""

from __future__ import annotations

from fractions import Fraction

from hubbub.checks.failure import expect
from hubbub.checks.subject import Subject, counts
from hubbub.errors import HorizonReached
from hubbub.mechanism import OnlineMechanism
from hubbub.privacy import Event, Guarantee, Session, Unit, User, Window
from hubbub.released import Cost, Tick

_LONG = 120
_SLIPS = Fraction(1, 10**6)


def never_charges_more_than_stated(subject: Subject) -> None:
    """The costs that releases state, added up independently for the worst-placed unit, stay within the guarantee.

    So does what they may slip. A mechanism with a threshold is given promises that have something set aside for that.
    """
    slips = subject.make(Guarantee.zcdp(Session(max_ticks=3), "1/2", delta=_SLIPS)).traits.slips
    for unit in (
        Event(),
        Session(max_ticks=3),
        Session(max_ticks=4, max_items=2),
        Window(5),
        User(2, 40),
        User(None, 30),
    ):
        for guarantee in _slipping(unit) if slips else _usual(unit):
            _replay(subject.make(guarantee), guarantee)


def _usual(unit: Unit) -> tuple[Guarantee, ...]:
    return Guarantee.pure(unit, 1), Guarantee.zcdp(unit, "1/2"), Guarantee.approximate(unit, 1, "1e-9")


def _slipping(unit: Unit) -> tuple[Guarantee, ...]:
    return (
        Guarantee.zcdp(unit, "1/2", delta=_SLIPS),
        Guarantee.approximate(unit, 1, 2 * _SLIPS, aside=_SLIPS),
    )


def _replay(releaser: OnlineMechanism, guarantee: Guarantee) -> None:
    horizon = guarantee.unit.horizon
    charged: list[Fraction] = []
    slipped: list[Fraction] = []
    measured = 0
    for tick in range(_LONG if horizon is None else horizon):
        foreseen = releaser.cost(Tick(tick))
        release = releaser.release(counts(tick, keys=releaser.keys))
        expect(
            all(getattr(release.cost, name) <= getattr(foreseen, name) for name in ("epsilon", "rho", "delta")),
            f"Tick {tick} was announced to cost {foreseen} at most and cost {release.cost}.",
        )
        expect(
            release.is_predicted or not release.cost.is_free, f"Tick {tick} was measured, but is said to cost nothing."
        )
        measured += not release.is_predicted
        charged.append(_amount(release.cost, guarantee))
        worst = _worst(charged, guarantee.unit)
        expect(worst <= guarantee.budget, f"By tick {tick} a unit was charged {worst} of {guarantee.budget}.")
        expect(releaser.spent >= worst, f"At tick {tick} the account says {releaser.spent}, the releases {worst}.")
        expect(releaser.spent <= guarantee.budget, f"The account is overdrawn: {releaser.spent} of {guarantee.budget}.")
        slipped.append(release.cost.delta)
        if any(slipped):
            _check_slips(tick, _worst(slipped, guarantee.unit), releaser.slipped, guarantee.slips)
    expect(measured > 0, "Not one tick was measured.")
    if horizon is not None:
        _ends(releaser, horizon)


def _check_slips(tick: int, worst: Fraction, kept: Fraction, most: Fraction) -> None:
    expect(worst <= most, f"By tick {tick} a unit was charged {worst} of {most} for slips.")
    expect(kept >= worst, f"At tick {tick} the account says that {kept} may have slipped, the releases {worst}.")
    expect(kept <= most, f"The account of slips is overdrawn: {kept} of {most}.")


def _ends(releaser: OnlineMechanism, horizon: int) -> None:
    spent = releaser.spent
    try:
        releaser.release(counts(horizon, keys=releaser.keys))
    except HorizonReached:
        expect(releaser.spent == spent, "The refusal at the horizon was charged for.")
    else:
        expect(False, f"Tick {horizon} lies beyond the horizon and was released.")


def _amount(cost: Cost, guarantee: Guarantee) -> Fraction:
    if guarantee.kind == "pure":
        expect(not cost.rho, "A pure guarantee was charged in rho.")
        return cost.epsilon
    return cost.rho + cost.epsilon**2 / 2


def _worst(charged: list[Fraction], unit: Unit) -> Fraction:
    """Written apart from `Account` on purpose: a mistake there must not hide here."""
    if isinstance(unit, Window):
        return max(sum(charged[i : i + unit.ticks], Fraction(0)) for i in range(len(charged)))
    return sum(sorted(charged)[-unit.max_ticks :], Fraction(0))
