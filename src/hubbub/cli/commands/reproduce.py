"""`hubbub reproduce`: a paper's experiment, its figures beside ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidInput

if TYPE_CHECKING:
    from hubbub.lab.experiment_result import ExperimentResult

app = typer.Typer(help="Run a paper's experiment and print its figures beside ours.", no_args_is_help=True)

Quick = Annotated[bool, typer.Option("--quick", help="Fewer repetitions: an answer within a minute or so.")]
Out = Annotated[
    Path | None, typer.Option("--out", help="A folder for tables (CSV) and plots (HTML).", show_default=False)
]
Seed = Annotated[int, typer.Option("--seed", help="Of what is made up, and of the noise.")]


@app.callback()
def reproduce() -> None:
    """Run a paper's experiment and print its figures beside ours."""


@app.command("ads")
def ads(quick: Quick = False, out: Out = None, seed: Seed = 2012, as_json: Json = False) -> None:
    """Results for who does not tell the context (Goetz 2012, chapter 4): precision and coverage, figures 4.3 to 4.6."""
    from hubbub.lab.ads import ads_result

    _run("ads", ads_result, quick, out, seed, as_json)


@app.command("discovery")
def discovery(quick: Quick = False, out: Out = None, seed: Seed = 1995, as_json: Json = False) -> None:
    """Keys that nobody listed: which part of a web server's page views lists of frequent pages find, and an oracle."""
    from hubbub.lab.discovery import discovery_result

    _run("discovery", discovery_result, quick, out, seed, as_json)


@app.command("events")
def events(quick: Quick = False, out: Out = None, seed: Seed = 2017, as_json: Json = False) -> None:
    """Events instead of people: does any method beat plain noise? PeGaSus (Chen et al. 2017), adaptive and others."""
    from hubbub.lab.event_tables import event_tables

    _run("events", event_tables, quick, out, seed, as_json)


@app.command("fast")
def fast(
    quick: Quick = False,
    out: Out = None,
    seed: Seed = 2014,
    series: Annotated[
        str,
        typer.Option(
            "--set",
            help="Which series: `paper` (all methods), or adaptive beside the simplest on `tuning` or `held-out`.",
        ),
    ] = "paper",
    as_json: Json = False,
) -> None:
    """One long series (Fan 2014, chapter 3): FAST, DFT, the simplest methods and adaptive, and FAST's parameters."""
    from functools import partial

    from hubbub.lab.reproduce_series import fast_tables
    from hubbub.lab.reproduce_sets import set_tables

    experiment = fast_tables if series == "paper" else partial(set_tables, series)
    _run("fast", experiment, quick, out, seed, as_json, {"set": series})


@app.command("gather")
def gather(quick: Quick = False, out: Out = None, seed: Seed = 2012, as_json: Json = False) -> None:
    """Rates that no server saw (Goetz 2012, chapter 5): precision and coverage, and what gathering takes: 5.2, 5.3."""
    from hubbub.lab.gather import gather_result

    _run("gather", gather_result, quick, out, seed, as_json)


@app.command("maskit")
def maskit(quick: Quick = False, out: Out = None, seed: Seed = 2012, as_json: Json = False) -> None:
    """A person's contexts without the sensitive ones (Goetz 2012, chapter 3): what is shown, and what is given away."""
    from hubbub.lab.maskit import maskit_result

    _run("maskit", maskit_result, quick, out, seed, as_json)


@app.command("outbreaks")
def outbreaks(quick: Quick = False, out: Out = None, seed: Seed = 2014, as_json: Json = False) -> None:
    """Outbreaks in private counts (Fan 2014, chapter 4): EARS C1 to C3 and pooled days, raw against private."""
    from hubbub.lab.outbreak_tables import outbreak_tables

    _run("outbreaks", outbreak_tables, quick, out, seed, as_json)


@app.command("shapes")
def shapes(
    quick: Quick = False,
    out: Out = None,
    seed: Seed = 17,
    sites: Annotated[
        str, typer.Option("--set", help="Which made-up sites: those it was tuned on (`tuning`), or `held-out` ones.")
    ] = "held-out",
    as_json: Json = False,
) -> None:
    """When something happens to a page: error, coverage, ticks to notice and false alarms, every shape and size."""
    from functools import partial

    from hubbub.lab.shape_sites import named
    from hubbub.lab.shape_tables import shape_tables

    _run("shapes", partial(shape_tables, named(sites)), quick, out, seed, as_json, {"set": sites})


@app.command("traffic")
def traffic(quick: Quick = False, out: Out = None, seed: Seed = 101, as_json: Json = False) -> None:
    """A heat map of a city's roads (Fan 2014, sections 5.4 to 5.6): Kalman, quadtree and roads, figures 5.8 to 5.12."""
    from hubbub.lab.traffic_tables import traffic_tables

    _run("traffic", traffic_tables, quick, out, seed, as_json)


@app.command("wu19")
def wu19(quick: Quick = False, out: Out = None, seed: Seed = 2019, as_json: Json = False) -> None:
    """Range queries over a stream (Wu et al. 2019): RTP, RTP_MM, HQ_RTP, HQ_RTPMM and auto, figures 6 to 12."""
    from hubbub.lab.wu19_tables import wu19_tables

    _run("wu19", wu19_tables, quick, out, seed, as_json)


@app.command("www14")
def www14(quick: Quick = False, out: Out = None, seed: Seed = 2014, as_json: Json = False) -> None:
    """Monitoring web browsing behaviour (Fan et al. 2014): LPA, U-KF, M-KF and navigation on msnbc."""
    from hubbub.lab.www14_tables import www14_tables

    _run("www14", www14_tables, quick, out, seed, as_json)


@app.command("zealous")
def zealous(quick: Quick = False, out: Out = None, seed: Seed = 2012, as_json: Json = False) -> None:
    """Frequent items of a search log (Goetz 2012, chapter 6): ZEALOUS, weights, k-query anonymity; and separation."""
    from hubbub.lab.zealous_report import zealous_result

    _run("zealous", zealous_result, quick, out, seed, as_json)


def _run(
    name: str,
    experiment: Callable[[bool, int, Callable[[int], Any], Callable[[], Any]], ExperimentResult],
    quick: bool,
    out: Path | None,
    seed: int,
    as_json: bool,
    facts: dict[str, str] | None = None,
) -> None:
    """Every experiment takes the same, returns the same, and is told and written in the same way."""
    output = Output(as_json)
    if out is not None and out.exists() and not out.is_dir():  # said before the minutes that an experiment takes
        raise InvalidInput(f"{out} cannot be written: it is no folder.", "Choose another folder.")
    with output.progress(name, 1) as bar:
        task = bar.task_ids[0]
        result = experiment(quick, seed, lambda total: bar.update(task, total=total), lambda: bar.advance(task))
    for table in result.tables:
        output.table(table.title, table.columns, table.rows)
        output.text("")
    output.text(result.words)
    written = [] if out is None else result.write(out, name)
    for path in written:
        output.text(f"wrote {path}")
    told = {"experiment": name, **(facts or {}), "seed": seed, "quick": quick, "rows": result.rows, **result.more}
    output.document({**told, "written": [str(path) for path in written]})
