"""`hubbub release`: a whole series of counts at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidInput, InvalidParameter

_BOUND = (
    "The counts are taken as they are. That each {noun} counts in at most {ticks} ticks must have been enforced "
    "by whoever counted, and the list of keys must be public: this command can see to neither, and without them the "
    "guarantee does not hold."
)


def command(
    counts: Annotated[
        Path,
        typer.Argument(
            help="Confidential counts, CSV or Parquet: one row a tick and one column a key (a first column tick or "
            "time is skipped), or rows of tick, key, count."
        ),
    ],
    epsilon: Annotated[str, typer.Option("--epsilon", help="The privacy budget of one unit over the whole series.")],
    unit: Annotated[str, typer.Option("--unit", help="What is protected: event, session, user or window.")] = "session",
    max_ticks: Annotated[
        int | None,
        typer.Option("--max-ticks", help="In how many ticks one unit counts at most (a window's width)."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="How to estimate: adaptive, fast, lpa, navigation, sample, … Left out: adaptive for a user, "
            "navigation otherwise.",
        ),
    ] = None,
    model: Annotated[Path | None, typer.Option("--model", help="A model written by hubbub fit.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write the released series: .csv, .json or .parquet.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Where to write a plot, as one HTML file.")] = None,
    as_json: Json = False,
) -> None:
    """Release a whole series of counts with a privacy guarantee."""
    from hubbub.confidential import Counts
    from hubbub.lab.series import read_counts, write_releases
    from hubbub.models import NavigationModel
    from hubbub.privacy import Guarantee
    from hubbub.release import make_releaser, usual_method
    from hubbub.released import Tick

    output = Output(as_json)
    if model is not None and method not in (None, "navigation", "mkf"):
        raise InvalidParameter(f"The method {method!r} takes no model.", "Use --method navigation.")
    site = None if model is None else NavigationModel.load(model)
    keys, series = read_counts(counts, None if site is None else site.keys)
    protected = _unit(unit, max_ticks, len(series))
    guarantee = Guarantee.pure(protected, epsilon)
    method = method or ("navigation" if site is not None else usual_method(guarantee))
    settings: dict[str, Any] = {} if site is None else {"model": site}
    for path, kinds in ((out, (".csv", ".json", ".parquet")), (plot, (".html",))):
        if path is not None and path.suffix not in kinds:
            raise InvalidInput(f"{path.name} is none of {', '.join(kinds)}.", "Name the kind of file by its ending.")
    releaser = make_releaser(method, keys, guarantee, **settings)
    releases = []
    with output.progress("releasing", len(series)) as bar:
        for index, row in enumerate(series):
            releases.append(releaser.release(Counts.of(keys, Tick(index), row)))
            bar.advance(bar.task_ids[0])
    if out is not None:
        write_releases(out, releases)
    if plot is not None:
        _plot(plot, releases, method)
    bound = _BOUND.format(noun=protected.noun, ticks=protected.max_ticks)
    output.note(bound)
    output.text(guarantee.sentence)
    output.text("")
    last = releases[-1]
    order = (-last.values).argsort()[:20]
    output.table(
        f"tick {last.tick}, the last of {len(releases):,} ({len(keys):,} keys)",
        ["key", "value", "standard error", "95 % interval"],
        [
            [keys.names[i], f"{last.values[i]:,.0f}", f"{last.standard_errors[i]:,.3g}", _interval(last, int(i))]
            for i in order
        ],
    )
    for written in (out, plot):
        if written is not None:
            output.text(f"Wrote {written}.")
    if as_json:
        output.document(
            {
                "method": method,
                "guarantee": guarantee.sentence,
                "bound": bound,
                "keys": list(keys),
                "ticks": len(releases),
                "releases": [release.to_dict() for release in releases] if out is None else None,
                "written": None if out is None else str(out),
            }
        )


def _interval(release: Any, i: int) -> str:
    return f"{release.lower[i]:,.0f} to {release.upper[i]:,.0f}"


def _unit(name: str, max_ticks: int | None, length: int) -> Any:
    from hubbub.privacy import Event, Session, User, Window

    if name == "event":
        return Event()
    if name == "user":
        return User(max_ticks=max_ticks, horizon=length)
    if name not in ("session", "window"):
        raise InvalidParameter(f"There is no unit {name!r}.", "Known units: event, session, user, window.")
    if max_ticks is None:
        raise InvalidParameter(
            f"The unit {name!r} needs --max-ticks: in how many ticks can one {name} count at most?",
            "Give the bound that was enforced when counting, e.g. --max-ticks 20.",
        )
    return Session(max_ticks) if name == "session" else Window(max_ticks)


def _plot(path: Path, releases: list[Any], method: str) -> None:
    import numpy as np

    from hubbub.lab.plots import bands

    columns = [np.array([getattr(r, name) for r in releases]) for name in ("values", "lower", "upper")]
    keys = releases[0].keys
    order = (-columns[0].mean(axis=0)).argsort()[:30]
    series = {keys.names[i]: tuple(column[:, i].tolist() for column in columns) for i in order}
    try:
        bands(path, f"released by {method}", [r.tick.index for r in releases], series)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.", "Choose another place.") from None
