"""`hubbub release`: a whole series of counts at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import HorizonReached, InvalidInput, InvalidParameter

_BOUND = (
    "The counts are taken as they are. That {bound} must have been enforced by whoever counted, and the list of keys "
    "must be public: this command can see to neither, and without them the guarantee does not hold."
)
_SHOWN = 20


def command(
    counts: Annotated[
        Path,
        typer.Argument(
            help="Confidential counts, CSV or Parquet: one row a tick and one column a key (and perhaps one of dates "
            "or ticks), or rows of tick, key, count."
        ),
    ],
    epsilon: Annotated[str, typer.Option("--epsilon", help="The privacy budget of one unit over the whole series.")],
    unit: Annotated[str, typer.Option("--unit", help="What is protected: event, session, user or window.")] = "session",
    max_ticks: Annotated[
        int | None,
        typer.Option("--max-ticks", help="In how many ticks one unit counts at most (a window's width)."),
    ] = None,
    max_items: Annotated[
        int, typer.Option("--max-items", help="Under how many keys one unit counts at most in a tick.")
    ] = 1,
    horizon: Annotated[
        int | None,
        typer.Option("--horizon", help="For a user: over how many ticks the budget must last; left out, this series."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="How to estimate: adaptive, fast, lpa, navigation, pegasus, sample, … Left out: what suits the unit.",
        ),
    ] = None,
    model: Annotated[Path | None, typer.Option("--model", help="A model written by hubbub fit.")] = None,
    gaps: Annotated[
        str,
        typer.Option(
            "--gaps", help="What a missing row or an empty cell means: refuse, zero, or predict (not counted)."
        ),
    ] = "refuse",
    dates: Annotated[
        str | None,
        typer.Option("--dates", help="How 02/01/2026 is meant, where no date tells: day-first, month-first."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write the released series: .csv, .json or .parquet.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Where to write a plot, as one HTML file.")] = None,
    as_json: Json = False,
) -> None:
    """Release a whole series of counts with a privacy guarantee."""
    from hubbub.cli.units import unit_of
    from hubbub.lab.count_reading import read_series
    from hubbub.lab.series import write_releases
    from hubbub.models import NavigationModel
    from hubbub.privacy import Guarantee
    from hubbub.release import make_releaser, usual_method

    output = Output(as_json)
    if model is not None and method not in (None, "navigation", "mkf"):
        raise InvalidParameter(f"The method {method!r} takes no model.", "Use --method navigation.")
    for path, kinds in ((out, (".csv", ".json", ".parquet")), (plot, (".html",))):
        if path is not None and path.suffix not in kinds:
            raise InvalidInput(f"{path.name} is none of {', '.join(kinds)}.", "Name the kind of file by its ending.")
    site = None if model is None else NavigationModel.load(model)
    series = read_series(counts, keys=None if site is None else site.keys, gaps=gaps, dates=dates)
    keys = series.keys
    protected = unit_of(unit, max_ticks, horizon or len(series), max_items)
    _check_horizon(unit, horizon, len(series))
    guarantee = Guarantee.pure(protected, epsilon)
    method = method or usual_method(guarantee, len(keys), modelled=site is not None)
    settings: dict[str, Any] = {} if site is None else {"model": site}
    releaser = make_releaser(method, keys, guarantee, **settings)
    releases = []
    with output.progress(f"releasing with {method}", len(series)) as bar:
        for release in series.released_by(releaser):
            releases.append(release)
            bar.advance(bar.task_ids[0])
    if out is not None:
        write_releases(out, releases)
    if plot is not None:
        _plot(plot, releases, method)
    bound = _BOUND.format(bound=_bound(protected))
    output.note(bound)
    output.text(guarantee.sentence)
    measured = sum(not release.is_predicted for release in releases)
    all_or_some = (
        f"all {measured:,} ticks were measured"
        if measured == len(releases)
        else f"{measured:,} of {len(releases):,} ticks were measured, the others predicted"
    )
    output.text(f"Method {method}: {all_or_some}.")
    output.text("")
    _show(output, releases)
    for written in (out, plot):
        if written is not None:
            output.text(f"Wrote {written}.")
    if out is None and plot is None:
        output.text("Nothing was written: --out released.csv keeps all ticks, --plot released.html draws them.")
    output.document(
        {
            "method": method,
            "guarantee": guarantee.sentence,
            "bound": bound,
            "keys": list(keys),
            "ticks": len(releases),
            "measured": measured,
            "releases": [release.to_dict() for release in releases] if out is None else None,
            "written": None if out is None else str(out),
        }
    )


def _bound(unit: Any) -> str:
    """What the guarantee rests on, in words: how often one unit counts at most."""
    keys = "one key" if unit.max_items == 1 else f"{unit.max_items:,} keys"
    if unit.max_ticks == 1:
        return f"each {unit.noun} counts once, under {keys} at most"
    if unit.max_ticks == unit.horizon:
        return f"each {unit.noun} counts under at most {keys} a tick"
    return f"each {unit.noun} counts in at most {unit.max_ticks:,} ticks, under at most {keys} in each"


def _check_horizon(unit: str, horizon: int | None, ticks: int) -> None:
    if horizon is None:
        return
    if unit != "user":
        raise InvalidParameter(f"--horizon is for --unit user; the unit {unit!r} has none.", "Leave it out.")
    if ticks > horizon:
        raise HorizonReached(
            f"The series has {ticks:,} ticks, the horizon only {horizon:,}: nothing is promised beyond it.",
            "Nothing was spent. Give the horizon that the budget must last for, or release the rest as a new series "
            "with a budget of its own: what both publish about a person adds up.",
        )


def _show(output: Output, releases: list[Any]) -> None:
    """One series: its last ticks. Many: the largest keys of the last tick."""
    last = releases[-1]
    columns = ["value", "standard error", "95 % interval"]
    if len(last.keys) == 1:
        rows = [[_when(r), *_cells(r, 0), "predicted" if r.is_predicted else ""] for r in releases[-_SHOWN:]]
        output.table(f"{last.keys.names[0]}, the last of {len(releases):,} ticks", ["tick", *columns, ""], rows)
        return
    order = (-last.values).argsort()[:_SHOWN]
    output.table(
        f"tick {_when(last)}, the last of {len(releases):,} ({len(last.keys):,} keys)",
        ["key", *columns],
        [[last.keys.names[i], *_cells(last, int(i))] for i in order],
    )


def _when(release: Any) -> str:
    start = release.tick.start
    if start is None:
        return str(release.tick.index)
    return f"{start:%Y-%m-%d}" if start.hour == start.minute == start.second == 0 else f"{start:%Y-%m-%d %H:%M:%S}"


def _cells(release: Any, i: int) -> list[str]:
    import math

    upper = f"{release.upper[i]:,.0f}" if math.isfinite(release.upper[i]) else "…"
    error = f"{release.standard_errors[i]:,.3g}" if math.isfinite(release.standard_errors[i]) else "unknown"
    return [f"{release.values[i]:,.0f}", error, f"{release.lower[i]:,.0f} to {upper}"]


def _plot(path: Path, releases: list[Any], method: str) -> None:
    import numpy as np

    from hubbub.lab.plots import bands

    columns = [np.array([getattr(r, name) for r in releases]) for name in ("values", "lower", "upper")]
    keys = releases[0].keys
    order = (-columns[0].mean(axis=0)).argsort()[:30]
    series = {keys.names[i]: tuple(column[:, i].tolist() for column in columns) for i in order}
    ticks = [r.tick.index if r.tick.start is None else r.tick.start.isoformat() for r in releases]
    try:
        bands(path, f"released by {method}", ticks, series)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.", "Choose another place.") from None
