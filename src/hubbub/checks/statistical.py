"""The black-box audit of a method by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hubbub.exact import Exact, whole
from hubbub.mechanism import read_options
from hubbub.methods import make_mechanism, method_named
from hubbub.privacy import Guarantee, Unit
from hubbub.privacy.audit import Finding, neighbours
from hubbub.privacy.audit import audit as audit_mechanism
from hubbub.released import Keys

SHORT = 3
"""Ticks of the streams that are run: an audit sees most in few."""


def audit(
    method: str = "lpa",
    *,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    rho: Exact | None = None,
    unit: Unit | str = "session",
    max_ticks: int | None = None,
    max_items: int = 1,
    horizon: int | None = None,
    ticks: int = SHORT,
    keys: int = 2,
    runs: int = 20_000,
    confidence: float = 0.999,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Finding:
    """Run a method on two neighbouring streams many times, and bound its epsilon (or rho) from below.

    `finding.accepted` is False if the promise is broken. True says that this audit found nothing; the proof of the
    guarantee lies in docs/proofs. Without a budget, epsilon is 1.

    >>> audit("lpa", epsilon=1, runs=400).accepted
    True
    """
    guarantee = promised(
        unit,
        ticks,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        max_ticks=max_ticks,
        max_items=max_items,
        horizon=horizon,
    )
    settings = read_options(method_named(method), options or {})
    domain = Keys([f"key {i}" for i in range(whole(keys, "keys"))])
    pair = neighbours(guarantee.unit, domain, ticks)
    make_mechanism(method, domain, guarantee, **settings)  # what is refused is refused before anything runs
    done = 0

    def step(steps: int) -> None:
        nonlocal done
        done += steps
        if progress is not None:
            progress(done, runs)

    return audit_mechanism(
        lambda: make_mechanism(method, domain, guarantee, **settings),
        pair.with_unit,
        pair.without,
        runs=runs,
        confidence=confidence,
        progress=step,
    )


def promised(
    unit: Unit | str,
    ticks: int,
    *,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    rho: Exact | None = None,
    max_ticks: int | None = None,
    max_items: int = 1,
    horizon: int | None = None,
) -> Guarantee:
    """The promise that is audited: epsilon 1 and units of one tick, unless something else is said. A person's budget
    lasts for the `ticks` that are run.

    >>> promised("user", 20, rho="1/2", max_items=2).unit
    User(max_ticks=1, ticks=20, max_items=2)
    """
    bound = 1 if max_ticks is None and isinstance(unit, str) and unit != "event" else max_ticks
    protected = Unit.parse(
        unit,
        max_ticks=bound,
        max_items=max_items,
        horizon=ticks if horizon is None and unit == "user" else horizon,
    )
    usual = 1 if epsilon is None and rho is None else epsilon
    return Guarantee.parse(protected, epsilon=usual, delta=delta, rho=rho)
