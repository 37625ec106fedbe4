"""`hubbub fit`: a navigation model from public sessions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import Json, Output
from hubbub.files import check_output

if TYPE_CHECKING:
    from hubbub.models import NavigationModel, Sessions


def command(
    sessions: Annotated[
        Path,
        typer.Argument(
            help="Public sessions: CSV, JSON lines or Parquet with the columns session, key (and tick), rows in the "
            "order of visits; or msnbc's format (.seq, .seq.gz). The word msnbc takes the data set itself."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Where to write the model.")] = Path("site.model"),
    ticks: Annotated[
        int | None,
        typer.Option("--ticks", help="Over how many ticks the sessions spread, if the file does not say."),
    ] = None,
    scale: Annotated[float, typer.Option("--scale", help="Live traffic over the traffic of this sample.")] = 1.0,
    max_ticks: Annotated[
        int | None, typer.Option("--max-ticks", help="Cut sessions after this many ticks, as the live stream does.")
    ] = None,
    start: Annotated[
        str,
        typer.Option(
            "--start",
            help="What the live stream begins with: balanced, a site that runs already, or crowd, the sessions of the "
            "file's first tick, of which nobody was there before.",
        ),
    ] = "balanced",
    as_json: Json = False,
) -> None:
    """Learn how visitors move from public sessions: how they arrive, which links they follow, when they leave.

    The sessions must be public, or be given by people who agreed: a model is not protected by any noise.
    """
    from hubbub.models import NavigationModel

    output = Output(as_json)
    check_output(out, [sessions])
    visits = _read(sessions)
    model = NavigationModel.fit(visits, ticks=ticks, scale=scale, max_ticks=max_ticks, start=start)
    model.save(out)
    _say(output, out, visits, model)


def _read(sessions: Path) -> Sessions:
    from hubbub.lab.msnbc import msnbc, read_msnbc
    from hubbub.models.reading import read_sessions

    if str(sessions) == "msnbc":
        return msnbc()
    return read_msnbc(sessions) if sessions.name.endswith((".seq", ".seq.gz")) else read_sessions(sessions)


def _say(output: Output, out: Path, visits: Sessions, model: NavigationModel) -> None:
    """The busiest keys of the model, and where it lies."""
    level = model.balance()
    order = (-level).argsort()[:20]
    output.table(
        f"{len(visits):,} sessions, {len(model.keys):,} keys, {model.matrix.nnz:,} links",
        ["key", "arrivals per tick", "count in balance", "stay a tick"],
        [
            [model.keys.names[i], f"{model.arrivals[i]:,.4g}", f"{level[i]:,.4g}", f"{model.matrix[i, i]:.2f}"]
            for i in order
        ],
    )
    output.text(f"Wrote {out}. Use it: hubbub release COUNTS --model {out} …")
    output.document(
        {
            "written": str(out),
            "sessions": len(visits),
            "keys": list(model.keys),
            "links": int(model.matrix.nnz),
            "arrivals": [float(a) for a in model.arrivals],
            "balance": [float(v) for v in level],
        }
    )
