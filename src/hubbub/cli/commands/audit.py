"""`hubbub audit`: try to break a mechanism's promise by running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.output import Json, MethodOptions, Output
from hubbub.cli.promise import Delta, MaxItems, Rho, UnitName
from hubbub.errors import InvalidParameter

if TYPE_CHECKING:
    from hubbub.checks.response import Step
    from hubbub.privacy import Guarantee
    from hubbub.privacy.audit import Finding


REPLAYED = 20
"""Ticks of a replay: room for gaps and restarts."""


def command(
    method: Annotated[str, typer.Option(help="The mechanism to audit, by name, e.g. lpa.")] = "lpa",
    epsilon: Annotated[
        str | None, typer.Option(help="The epsilon it promises, e.g. 1 or 1/20; 1 unless a rho is given.")
    ] = None,
    delta: Delta = None,
    rho: Rho = None,
    unit: UnitName = "session",
    max_ticks: Annotated[
        int | None,
        typer.Option(help="In how many ticks one unit counts; 1 unless given, where it sees most."),
    ] = None,
    max_items: MaxItems = 1,
    horizon: Annotated[
        int | None,
        typer.Option(help="For a user: over how many ticks the budget must last; the streams' length unless given."),
    ] = None,
    ticks: Annotated[
        int | None,
        typer.Option(
            help="Length of the streams that are run: 3 unless given, with --exact three windows, with --replay 20."
        ),
    ] = None,
    keys: Annotated[int, typer.Option(help="How many keys the streams have.")] = 2,
    runs: Annotated[int, typer.Option(help="Runs on each of the two neighbouring streams.")] = 20_000,
    confidence: Annotated[float, typer.Option(help="How sure the bound is.")] = 0.999,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Compute what the worst unit costs, without drawing: lpa, ukf, mkf, navigation, ranges.",
        ),
    ] = False,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay",
            help="Give neighbours the same noisy values: nothing else may differ. For every method, without chance.",
        ),
    ] = False,
    pairs: Annotated[int, typer.Option(help="With --replay: how many pairs of neighbours.")] = 200,
    window: Annotated[
        int, typer.Option(help="With --exact and --replay: the window of a range stream, in ticks.")
    ] = 48,
    option: MethodOptions = None,
    json: Json = False,
) -> None:
    """Run a mechanism on two neighbouring streams and bound its epsilon from below; compute it with --exact; or check
    with --replay that neighbours which see the same noisy values cannot be told apart.

    Exit code 1 if the bound exceeds what is promised: then the promise is broken. Accepted means that this audit found
    nothing; the proof of the guarantee lies in docs/proofs.
    """
    from hubbub.checks.statistical import SHORT, audit, promised
    from hubbub.exact import whole
    from hubbub.mechanism.option import split

    output = Output(json)
    if exact and replay:
        raise InvalidParameter("Give `--exact` or `--replay`, not both.", "They answer different questions.")
    given = dict(map(split, option or []))
    budget: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho}
    numbers: dict[str, Any] = {"max_ticks": max_ticks, "max_items": max_items, "horizon": horizon}
    if exact or replay:
        usual = 3 * whole(window, "window") if exact else REPLAYED
        length = usual if ticks is None else ticks
        guarantee = promised(unit, length, **budget, **numbers)
        if exact:
            _exact(output, method, guarantee, length, window, given)
        else:
            _replay(output, method, guarantee, keys, length, pairs, window, given)
        return
    with output.steps(f"auditing {method}") as progress:
        finding = audit(
            method,
            **budget,
            **numbers,
            unit=unit,
            ticks=SHORT if ticks is None else ticks,
            keys=keys,
            runs=runs,
            confidence=confidence,
            options=given,
            progress=progress,
        )
    _say_drawn(output, finding)


def _say_drawn(output: Output, finding: Finding) -> None:
    rows = [
        ("promised", f"{finding.currency} = {finding.stated:.4g}"),
        ("found", f"{finding.currency} >= {_at_least(finding.bound)}"),
        ("event", finding.event),
        ("its chance", f">= {_at_least(finding.likelier)} on one stream, <= {_at_most(finding.rarer)} on the other"),
        ("runs", f"{finding.runs:,} on each stream"),
    ]
    for name, text in rows:
        output.text(f"{name:<11} {text}")
    output.text(finding.verdict)
    output.document(finding.to_dict())
    if not finding.accepted:
        raise typer.Exit(1)


def _exact(
    output: Output, method: str, guarantee: Guarantee, ticks: int, window: int, given: Mapping[str, str]
) -> None:
    """Two thirds of the stream in one go, a restart, and the rest tick by tick."""
    from hubbub.checks import read_ranges, read_releaser, sensitivity_of
    from hubbub.mechanism import read_options
    from hubbub.methods import METHODS, make_mechanism, method_named
    from hubbub.ranges import METHODS as WAYS
    from hubbub.ranges import RangeStream

    linear = [name for name, one in METHODS.items() if one.traits.even_cost and one.traits.plain]
    if method in WAYS:
        options = {"window": window, "method": method, **read_options(RangeStream, given)}
        first = 2 * ticks // 3
        script: list[Step] = [("batch", first), ("restart", 0), ("ticks", ticks - first)]
        response = read_ranges(lambda keys: RangeStream(keys, guarantee, **options), script)
    elif method in linear:
        options = read_options(method_named(method), given)
        response = read_releaser(lambda keys: make_mechanism(method, keys, guarantee, **options), ticks)
    else:
        raise InvalidParameter(
            f"`--exact` needs a mechanism that is linear in its counts, which {method!r} is not known to be.",
            f"Use {', '.join(linear)} or a method of ranges ({', '.join(WAYS)}); or leave `--exact` out.",
        )
    result = sensitivity_of(response, guarantee.unit)
    verdict = "kept: no unit costs more" if result.kept else "BROKEN: a unit costs more than it is charged for"
    rows = [
        ("promised", f"{result.currency} = {result.charged:.4g}"),
        ("found", f"{result.currency} = {_at_most(result.found)}, {result.found / result.charged:.3f} times that"),
        ("at most", f"{result.currency} = {_at_most(result.at_most)}, for any unit"),
        ("segments", str(result.segments)),
    ]
    for name, text in rows:
        output.text(f"{name:<11} {text}")
    output.text(verdict)
    output.document({**asdict(result), "kept": result.kept, "method": method, "guarantee": guarantee.to_dict()})
    if not result.kept:
        raise typer.Exit(1)


def _replay(
    output: Output,
    method: str,
    guarantee: Guarantee,
    keys: int,
    ticks: int,
    pairs: int,
    window: int,
    given: Mapping[str, str],
) -> None:
    from hubbub.checks.replay import replay_method

    with output.progress(f"replaying {method}", pairs) as bar:
        finding = replay_method(
            method,
            guarantee,
            keys=keys,
            ticks=ticks,
            pairs=pairs,
            window=window,
            options=given,
            progress=lambda steps: bar.advance(bar.task_ids[0], steps),
        )
    rows = [
        ("promised", f"{finding.currency} = {_at_most(float(guarantee.budget))}"),
        ("found", f"{finding.currency} = {_at_most(float(finding.largest))} at most"),
        ("pairs", f"{finding.pairs:,} of neighbours, with {finding.restarts:,} restarts"),
        ("draws", f"{finding.draws:,} weighed"),
    ]
    for name, text in rows:
        output.text(f"{name:<11} {text}")
    output.text(finding.verdict)
    output.document(finding.to_dict())
    if not finding.accepted:
        raise typer.Exit(1)


def _at_least(value: float) -> str:
    from hubbub.privacy.rounding import at_least

    return at_least(Fraction(value))


def _at_most(value: float) -> str:
    from hubbub.privacy.rounding import at_most

    return at_most(Fraction(value))
