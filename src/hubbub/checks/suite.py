"""All checks by name, and the one function that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from hubbub.checks import budget, coverage, domain, gaps, refusals, secrecy, state, statement
from hubbub.checks.replay.conformance import neighbours_look_the_same
from hubbub.checks.subject import Factory, Subject
from hubbub.errors import InvalidParameter

CHECKS: Mapping[str, Callable[[Subject], None]] = MappingProxyType(
    {
        check.__name__: check
        for check in (
            statement.guarantee_is_stated,
            statement.guarantee_is_kept_as_given,
            statement.guarantee_survives_an_audit,
            neighbours_look_the_same,
            budget.never_charges_more_than_stated,
            state.restore_gives_the_same_future,
            state.memory_is_bounded,
            gaps.missing_ticks_are_predicted,
            gaps.predictions_come_before_any_release,
            gaps.lost_ticks_stay_charged,
            coverage.intervals_cover,
            secrecy.confidential_values_stay_inside,
            refusals.bad_input_spends_nothing,
            domain.other_keys_cost_nothing,
        )
    }
)
"""One function a promise; each raises `CheckFailed`."""


def check_releaser(subject: Factory | Subject, only: Iterable[str] | None = None) -> list[str]:
    """Run the checks (or `only` some) on a releaser's class, a factory or a `Subject`; the names of those that ran.

    The first promise that is not kept raises `CheckFailed`. In a test suite of your own, run them one by one:

        @pytest.mark.parametrize("name", hubbub.checks.CHECKS)
        def test_my_releaser(name):
            hubbub.checks.check_releaser(MyReleaser, only=[name])

    >>> from hubbub.release import Lpa
    >>> check_releaser(Lpa, only=["guarantee_is_stated"])
    ['guarantee_is_stated']
    """
    names = list(CHECKS) if only is None else list(only)
    for name in names:
        if name not in CHECKS:
            raise InvalidParameter(f"There is no check {name!r}.", f"Known checks: {', '.join(CHECKS)}.")
    chosen = subject if isinstance(subject, Subject) else Subject(subject)
    for name in names:
        CHECKS[name](chosen)
    return names
