"""`hubbub plan`: what accuracy a budget will buy, before anything is released."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.output import Json, MethodOptions, Output
from hubbub.cli.promise import Delta, Horizon, MaxItems, MaxTicks, Rho, UnitName
from hubbub.cli.series_options import Dates, Gaps
from hubbub.files import check_output


def command(
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", help="Only this budget; left out, a range of them.")
    ] = None,
    delta: Delta = None,
    rho: Rho = None,
    unit: UnitName = "user",
    ticks: Annotated[
        int | None,
        typer.Option("--ticks", help="How long the stream will run; the length of --series if that is given."),
    ] = None,
    max_ticks: MaxTicks = None,
    max_items: MaxItems = 1,
    horizon: Horizon = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="Without a budget: try a range of them that are pure, approximate or zcdp."),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option("--level", help="About how many are counted per tick, for a simulated series; left out, 500."),
    ] = None,
    series: Annotated[
        Path | None,
        typer.Option("--series", help="A PUBLIC series to try on, CSV or Parquet; it is not protected here."),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", help="Which column (or key) of --series; left out, the first.")
    ] = None,
    error: Annotated[
        float | None, typer.Option("--error", help="A wished average relative error: the budget that buys it.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", help="A method to compare; may be given several times.")
    ] = None,
    option: MethodOptions = None,
    runs: Annotated[int, typer.Option("--runs", help="Simulated releases of each method and budget.")] = 5,
    gaps: Gaps = "refuse",
    dates: Dates = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Where to write a plot, as one HTML file.")] = None,
    as_json: Json = False,
) -> None:
    """Say beforehand how wrong each method will be, on a public or a simulated series."""
    from hubbub.mechanism.option import split
    from hubbub.planning import plan
    from hubbub.series.plots import check_page

    output = Output(as_json)
    if plot is not None:
        check_page(plot)
        check_output(plot, [series])
    with output.steps("planning") as progress:
        planned = plan(
            series,
            key=key,
            level=level,
            ticks=ticks,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            unit=unit,
            max_ticks=max_ticks,
            max_items=max_items,
            horizon=horizon,
            kind=kind,
            error=error,
            methods=method,
            options=dict(map(split, option or [])),
            runs=runs,
            gaps=gaps,
            dates=dates,
            progress=progress,
        )
    if planned.note:
        output.note(planned.note)
    output.shown(planned.shown)
    if planned.wished is not None:
        output.text("")
        output.shown(planned.wished)
    if plot is not None:
        planned.plot(plot)
        output.text(f"Wrote {plot}.")
    output.document(planned.to_dict())
