"""`hubbub plan`: what accuracy an epsilon will buy, before anything is released."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidInput, InvalidParameter


def command(
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", help="Only this budget; left out, a range of them.")
    ] = None,
    unit: Annotated[str, typer.Option("--unit", help="What is protected: event, session, user or window.")] = "user",
    ticks: Annotated[
        int | None,
        typer.Option("--ticks", help="How long the stream will run; the length of --series if that is given."),
    ] = None,
    max_ticks: Annotated[
        int | None, typer.Option("--max-ticks", help="In how many ticks one unit counts at most (a window's width).")
    ] = None,
    level: Annotated[
        float, typer.Option("--level", help="About how many are counted a tick, for a simulated series.")
    ] = 500.0,
    series: Annotated[
        Path | None,
        typer.Option("--series", help="A PUBLIC series to try on, CSV or Parquet; it is not protected here."),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", help="Which column (or key) of --series; left out, the first.")
    ] = None,
    error: Annotated[
        float | None, typer.Option("--error", help="A wished average relative error: the epsilon that buys it.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", help="A method to compare; may be given several times.")
    ] = None,
    runs: Annotated[int, typer.Option("--runs", help="Simulated releases of each method and epsilon.")] = 5,
    gaps: Annotated[
        str, typer.Option("--gaps", help="What a missing row or an empty cell means: refuse, zero, or predict.")
    ] = "refuse",
    dates: Annotated[
        str | None,
        typer.Option("--dates", help="How 02/01/2026 is meant, where no date tells: day-first, month-first."),
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Where to write a plot, as one HTML file.")] = None,
    as_json: Json = False,
) -> None:
    """Say beforehand how wrong each method will be, on a public or a simulated series."""
    import numpy as np

    from hubbub.cli.units import unit_of
    from hubbub.exact import positive, whole
    from hubbub.lab import planning
    from hubbub.lab.count_reading import read_series
    from hubbub.privacy import Guarantee
    from hubbub.release import usual_method
    from hubbub.released import Tick

    output = Output(as_json)
    if plot is not None and plot.suffix != ".html":
        raise InvalidInput(f"{plot.name} does not end in .html.", "The plot is one HTML file.")
    if key is not None and series is None:
        raise InvalidParameter("--key chooses a column of --series.", "Give a public series, or leave --key out.")
    whole(runs, "runs", "5 give a first idea.")
    if error is not None and not error > 0:
        raise InvalidParameter(f"`error` must be above 0; got {error}.", "0.1 is ten per cent.")
    if series is not None:
        public = read_series(series, gaps=gaps, dates=dates)
        keys, tick = public.keys, public.tick
        column = 0 if key is None else keys.position(key)
        counted = public.values[:, column]
        source = f"the public series {keys.names[column]!r} of {series.name}"
        if len(keys) > 1 and key is None:
            output.note(
                f"{series.name} has {len(keys):,} keys: the plan is for the first, {keys.names[0]!r} (--key chooses)."
            )
        if ticks is not None:
            counted = counted[: whole(ticks, "ticks", "Leave it out to use the whole series.")]
        present = public.present[: len(counted)]
    else:
        counted = planning.simulated_series(
            level, whole(365 if ticks is None else ticks, "ticks", "365 days make a year."), seed=7
        )
        present = np.full(len(counted), True)
        tick = Tick
        source = f"a simulated series about {level:g}"
    protected = unit_of(unit, max_ticks, len(counted))
    chosen = method or list(planning.USUAL[type(protected)])
    if epsilon is None:
        epsilons = list(planning.EPSILONS)
    else:
        epsilons = [float(positive(epsilon, "epsilon"))]
        if error is not None:
            raise InvalidParameter(
                "Give an epsilon or a wished error, not both.", "One of them follows from the other."
            )
    with output.progress("planning", len(chosen) * len(epsilons)) as bar:
        found = planning.expectations(
            counted,
            protected,
            epsilons,
            chosen,
            runs,
            tick=tick,
            present=present,
            done=lambda: bar.advance(bar.task_ids[0]),
        )
    zeros = planning.error_of_zeros(counted[present])
    output.table(
        f"Average relative error on {source}, {len(counted):,} ticks, unit {unit}",
        ["method", "epsilon", "error", "lucky to unlucky", "about ±", "95 % intervals held"],
        [
            *(
                [
                    e.method,
                    f"{e.epsilon:g}",
                    f"{e.error:.3g}",
                    f"{e.lucky:.3g} to {e.unlucky:.3g}",
                    f"{e.absolute:,.3g}",
                    f"{100 * (e.coverage or 0):.0f} %",
                ]
                for e in found
            ),
            ["only zeros", "", f"{zeros:.3g}", "", f"{counted[present].mean():,.3g}", ""],
        ],
    )
    usual = {usual_method(Guarantee.pure(protected, str(value)), 1) for value in epsilons}
    output.text(f"If you name no method, a single series gets {' or '.join(sorted(usual))} here.")
    needed: dict[str, Any] = {}
    if error is not None:
        needed = {name: planning.epsilon_for(found, name, error) for name in chosen}
        output.text("")
        rows = [[name, "more than were tried" if value is None else f"{value:.2g}"] for name, value in needed.items()]
        output.table(f"Epsilon for an error of {error:g}", ["method", "epsilon"], rows)
    if plot is not None:
        _plot(plot, found)
        output.text(f"Wrote {plot}.")
    output.document(
        {
            "unit": unit,
            "ticks": len(counted),
            "runs": runs,
            "series": source,
            "zeros": zeros,
            "usual": sorted(usual),
            "expectations": [e.to_dict() for e in found],
            "epsilon_for_error": needed or None,
        }
    )


def _plot(path: Path, found: list[Any]) -> None:
    from hubbub.lab.plots import lines

    points: dict[str, list[tuple[Any, float, float]]] = {}
    for e in found:
        points.setdefault(e.method, []).append((e.epsilon, e.error, (e.unlucky - e.lucky) / 2))
    try:
        lines(path, "expected relative error", "epsilon", "error", points, log_x=True, log_y=True)
    except OSError as wrong:
        raise InvalidInput(f"{path} cannot be written: {wrong.strerror}.", "Choose another place.") from None
