"""`hubbub release`: a whole series of counts at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import Json, MethodOptions, Output
from hubbub.cli.promise import Delta, Epsilon, Horizon, MaxItems, MaxTicks, Rho, UnitName
from hubbub.cli.series_options import Dates, Gaps
from hubbub.files import check_output

if TYPE_CHECKING:
    from hubbub.series import ReleasedSeries


def command(
    counts: Annotated[
        Path,
        typer.Argument(
            help="Confidential counts, CSV or Parquet: one row per tick and one column per key (and perhaps one of "
            "dates or ticks), or rows of tick, key, count."
        ),
    ],
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    unit: UnitName = "user",
    max_ticks: MaxTicks = None,
    max_items: MaxItems = 1,
    horizon: Horizon = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="How to estimate: adaptive, fast, lpa, navigation, pegasus, sample, … Left out: what suits the unit.",
        ),
    ] = None,
    option: MethodOptions = None,
    model: Annotated[Path | None, typer.Option("--model", help="A model written by hubbub fit.")] = None,
    gaps: Gaps = "refuse",
    dates: Dates = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write the released series: .csv, .json, .parquet or .arrow.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Where to write a plot, as one HTML file.")] = None,
    as_json: Json = False,
) -> None:
    """Release a whole series of counts with a privacy guarantee."""
    from hubbub.mechanism.option import split
    from hubbub.series import release_series
    from hubbub.series.plots import check_page
    from hubbub.series.released_files import check_kind

    output = Output(as_json)
    if out is not None:
        check_kind(out)
        check_output(out, [counts, model])
    if plot is not None:
        check_page(plot)
        check_output(plot, [counts, model])
    with output.steps("releasing") as progress:
        series = release_series(
            counts,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            unit=unit,
            max_ticks=max_ticks,
            max_items=max_items,
            horizon=horizon,
            method=method,
            options=dict(map(split, option or [])),
            model=model,
            gaps=gaps,
            dates=dates,
            progress=progress,
        )
    if out is not None:
        series.write(out)
    if plot is not None:
        series.plot(plot)
    _say(output, series, out, plot)


def _say(output: Output, series: ReleasedSeries, out: Path | None, plot: Path | None) -> None:
    """What was promised and released, and where it lies."""
    output.note(series.bound)
    output.text(str(series.guarantee))
    output.text(series.sentence)
    output.text("")
    output.shown(series.shown)
    for written in (out, plot):
        if written is not None:
            output.text(f"Wrote {written}.")
    if out is None and plot is None:
        output.text("Nothing was written: --out released.csv keeps all ticks, --plot released.html draws them.")
    output.document(
        {
            "method": series.method,
            "guarantee": str(series.guarantee),
            "bound": series.bound,
            "keys": list(series.keys),
            "ticks": len(series),
            "measured": series.measured,
            "warning": series.warning or None,
            "releases": [release.to_dict() for release in series] if out is None else None,
            "written": None if out is None else str(out),
        }
    )
