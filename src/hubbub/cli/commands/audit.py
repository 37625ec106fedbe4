"""`hubbub audit`: try to break a mechanism's promise by running it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidParameter


class UnitName(StrEnum):
    event = "event"
    session = "session"
    user = "user"
    window = "window"


def command(
    method: Annotated[str, typer.Option(help="The mechanism to audit, by name, e.g. lpa.")] = "lpa",
    epsilon: Annotated[str, typer.Option(help="The epsilon it promises, e.g. 1 or 1/20.")] = "1",
    rho: Annotated[str | None, typer.Option(help="Promise zCDP with this rho (Gaussian noise) instead.")] = None,
    delta: Annotated[
        str | None, typer.Option(help="Promise epsilon with this delta (Gaussian noise) instead of a pure epsilon.")
    ] = None,
    unit: Annotated[UnitName, typer.Option(help="What is protected.")] = UnitName.session,
    max_ticks: Annotated[
        int, typer.Option(help="In how many ticks one unit counts. An audit sees most with 1 or 2.")
    ] = 1,
    ticks: Annotated[int, typer.Option(help="Length of the streams that are run.")] = 3,
    keys: Annotated[int, typer.Option(help="How many keys the streams have.")] = 2,
    runs: Annotated[int, typer.Option(help="Runs on each of the two neighbouring streams.")] = 20_000,
    confidence: Annotated[float, typer.Option(help="How sure the bound is.")] = 0.999,
    json: Json = False,
) -> None:
    """Run a mechanism on two neighbouring streams and bound its epsilon from below.

    Exit code 1 if the bound exceeds what is promised: then the promise is broken. Accepted means that this audit found
    nothing; the proof of the guarantee lies in docs/proofs.
    """
    from hubbub.exact import whole
    from hubbub.privacy import Event, Guarantee, Session, Unit, User, Window
    from hubbub.privacy.audit import audit, neighbours
    from hubbub.release import make_releaser
    from hubbub.released import Keys

    output = Output(json)
    protected: Unit
    if unit is UnitName.event:
        protected = Event()
    elif unit is UnitName.session:
        protected = Session(max_ticks=max_ticks)
    elif unit is UnitName.user:
        protected = User(max_ticks=max_ticks, horizon=ticks)
    else:
        protected = Window(max_ticks)
    if rho is not None and delta is not None:
        raise InvalidParameter("Give `--rho` or `--delta`, not both.", "zCDP has no delta.")
    if rho is not None:
        guarantee = Guarantee.zcdp(protected, rho)
    elif delta is not None:
        guarantee = Guarantee.approximate(protected, epsilon, delta)
    else:
        guarantee = Guarantee.pure(protected, epsilon)
    domain = Keys([f"key {i}" for i in range(whole(keys, "keys"))])
    pair = neighbours(protected, domain, ticks)
    make_releaser(method, domain, guarantee)  # a wrong name is refused before the bar appears
    with output.progress(f"auditing {method}", runs) as bar:
        finding = audit(
            lambda: make_releaser(method, domain, guarantee),
            pair.with_unit,
            pair.without,
            runs=runs,
            confidence=confidence,
            progress=lambda steps: bar.advance(bar.task_ids[0], steps),
        )
    rows = [
        ("promised", f"{finding.currency} = {finding.stated:.4g}"),
        ("found", f"{finding.currency} >= {finding.bound:.4g}"),
        ("event", finding.event),
        ("its chance", f">= {finding.likelier:.4g} on one stream, <= {finding.rarer:.4g} on the other"),
        ("runs", f"{finding.runs:,} on each stream"),
    ]
    for name, text in rows:
        output.text(f"{name:<11} {text}")
    output.text(finding.verdict)
    output.document(finding.to_dict())
    if not finding.accepted:
        raise typer.Exit(1)
