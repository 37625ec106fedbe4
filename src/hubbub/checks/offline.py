"""What applies to a mechanism that needs the whole series at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hubbub.checks.failure import expect
from hubbub.checks.secrecy import PLANTED, shows
from hubbub.checks.statement import states_its_guarantee
from hubbub.checks.subject import KEYS, counts
from hubbub.confidential import Counts
from hubbub.errors import TickOutOfOrder, UnknownKey, WrongUse
from hubbub.mechanism import OfflineMechanism
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, User
from hubbub.released import Domain, Keys

OfflineFactory: TypeAlias = Callable[..., OfflineMechanism]
"""Called as `factory(keys, guarantee, source=source)`; a mechanism's class is one."""

_TICKS = 40
_PROMISE = Guarantee.pure(User(horizon=_TICKS), 1)


def check_offline(factory: OfflineFactory) -> None:
    """Run all checks of offline mechanisms on a class or a factory; the first promise not kept raises `CheckFailed`.

    >>> from hubbub.release import Dft
    >>> check_offline(Dft)
    """
    mechanism = factory(KEYS, _PROMISE)
    states_its_guarantee(type(mechanism))
    expect(mechanism.guarantee == _PROMISE, "It promises something else than it was made with.")
    _charges_once_and_before(factory)
    _refuses_for_nothing(factory)
    _keeps_counts_inside(factory)


def _series(ticks: int = _TICKS, keys: Domain = KEYS) -> list[Counts]:
    return [counts(tick, keys=keys) for tick in range(ticks)]


def _charges_once_and_before(factory: OfflineFactory) -> None:
    mechanism = factory(KEYS, _PROMISE)
    seen = []
    honest = mechanism._measure

    def watched(series: list[Counts], cost: object) -> object:
        seen.append(mechanism.spent)
        return honest(series, cost)  # type: ignore[arg-type]

    mechanism._measure = watched  # type: ignore[method-assign, assignment]
    releases = mechanism.release_series(_series())
    expect(seen == [_PROMISE.budget], f"When it looked at the counts, {seen} of {_PROMISE.budget} was charged.")
    total = sum(release.cost.epsilon for release in releases)
    expect(total == _PROMISE.budget == mechanism.spent, f"Its releases say they cost {total}, its account otherwise.")
    expect(len(releases) == _TICKS, f"{_TICKS} ticks gave {len(releases)} releases.")
    try:
        mechanism.release_series(_series())
    except WrongUse:
        expect(mechanism.spent == _PROMISE.budget, "A refused second series was charged for.")
    else:
        expect(False, "A second series was released under the same budget.")


def _refuses_for_nothing(factory: OfflineFactory) -> None:
    mechanism = factory(KEYS, _PROMISE)
    others = Keys(["x", "y", "z"])
    attempts: list[tuple[str, type[WrongUse], list[Counts]]] = [
        ("too few ticks", TickOutOfOrder, _series(_TICKS - 1)),
        ("too many ticks", TickOutOfOrder, _series(_TICKS + 1)),
        ("ticks in another order", TickOutOfOrder, _series()[::-1]),
        ("other keys", UnknownKey, _series(keys=others)),
    ]
    for what, error, series in attempts:
        try:
            mechanism.release_series(series)
        except error:
            expect(mechanism.spent == 0, f"{what} was refused and charged for.")
        except Exception as other:
            expect(False, f"{what} ended in {type(other).__name__} instead of {error.__name__}.")
        else:
            expect(False, f"{what} was accepted.")


def _keeps_counts_inside(factory: OfflineFactory) -> None:
    with simulation(3) as source:
        mechanism = factory(KEYS, _PROMISE, source=source)
        releases = mechanism.release_series([counts(tick, PLANTED) for tick in range(_TICKS)])
    told = f"{mechanism!r} {mechanism} {mechanism.options} {[release.to_dict() for release in releases]}"
    expect(not shows(told), "A confidential count was found in what it lets out.")
