"""`hubbub reproduce fast`, `outbreaks` and `events`: the experiments on single series."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import Json, Output

if TYPE_CHECKING:
    from hubbub.lab.reproduce_series import Found

Quick = Annotated[bool, typer.Option("--quick", help="Fewer repetitions: an answer within a minute or so.")]
Out = Annotated[
    Path | None, typer.Option("--out", help="A folder for the table (CSV) and plots (HTML).", show_default=False)
]
Seed = Annotated[int, typer.Option("--seed", help="Of the noise.")]


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
    from hubbub.lab.reproduce_series import fast_tables, write_fast
    from hubbub.lab.reproduce_sets import set_tables

    output = Output(as_json)
    with output.progress("fast", 1) as bar:

        def total(steps: int) -> None:
            bar.update(bar.task_ids[0], total=steps)

        def done() -> None:
            bar.advance(bar.task_ids[0])

        paper = series == "paper"
        found = fast_tables(quick, seed, total, done) if paper else set_tables(series, quick, seed, total, done)
    _say(output, "fast", found, [] if out is None else write_fast(out, found.rows), seed, quick, {"set": series})


def outbreaks(quick: Quick = False, out: Out = None, seed: Seed = 2014, as_json: Json = False) -> None:
    """Outbreaks in private counts (Fan 2014, chapter 4): EARS C1 to C3 and pooled days, raw against private."""
    from hubbub.lab.outbreak_tables import STEPS, outbreak_tables, write_outbreaks

    output = Output(as_json)
    with output.progress("outbreaks", STEPS) as bar:
        found = outbreak_tables(quick, seed, lambda: bar.advance(bar.task_ids[0]))
    _say(output, "outbreaks", found, [] if out is None else write_outbreaks(out, found.rows, seed), seed, quick)


def events(quick: Quick = False, out: Out = None, seed: Seed = 2017, as_json: Json = False) -> None:
    """Events instead of people: does any method beat plain noise? PeGaSus (Chen et al. 2017), adaptive and others."""
    from hubbub.lab.event_tables import event_tables
    from hubbub.lab.reproduce_series import write_rows

    output = Output(as_json)
    with output.progress("events", 1) as bar:
        found = event_tables(
            quick, seed, lambda total: bar.update(bar.task_ids[0], total=total), lambda: bar.advance(bar.task_ids[0])
        )
    _say(output, "events", found, [] if out is None else [write_rows(out, "events.csv", found.rows)], seed, quick)


def _say(
    output: Output,
    name: str,
    found: Found,
    written: list[Path],
    seed: int,
    quick: bool,
    more: dict[str, str] | None = None,
) -> None:
    for table in found.tables:
        output.table(table.title, table.columns, table.rows)
        output.text("")
    output.text(found.words)
    for path in written:
        output.text(f"wrote {path}")
    facts = {"experiment": name, **(more or {}), "seed": seed, "quick": quick, "rows": found.rows}
    output.document({**facts, "written": [str(path) for path in written]})
