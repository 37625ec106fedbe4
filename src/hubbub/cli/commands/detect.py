"""`hubbub detect`: days in a released series that are far above what came before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.output import Json, Output


def command(
    released: Annotated[
        Path,
        typer.Argument(help="A released series, as hubbub release --out or a server wrote it (any kind of file)."),
    ],
    detector: Annotated[
        str,
        typer.Option("--detector", help="pooled (several days together), or EARS C1, C2 or C3 (one day, or three)."),
    ] = "pooled",
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Alarm above it; left out 3, for C3 2, for pooled learned."),
    ] = None,
    weekdays: Annotated[
        bool | None,
        typer.Option("--weekdays/--no-weekdays", help="Take weekdays out; left out, only where ticks are days."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell which ticks of a released series alarm, and why. It reads released values only and costs no budget."""
    from hubbub.series import detect

    output = Output(as_json)
    with output.steps("looking") as progress:
        alerts = detect(released, detector, threshold=threshold, weekdays=weekdays, progress=progress)
    if alerts:
        output.shown(alerts.shown)
    else:
        output.text(alerts.shown.title)
    if alerts.too_short:
        output.note(alerts.too_short)
    output.document(alerts.to_dict())
