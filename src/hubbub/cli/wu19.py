"""`hubbub reproduce wu19`: what it prints and writes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidInput
from hubbub.released import plus_minus


def wu19(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs and lengths: an answer within a minute.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for tables (CSV) and plots (HTML).", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the made-up streams, queries and noise.")] = 2019,
    as_json: Json = False,
) -> None:
    """Range queries over a stream (Wu et al. 2019): RTP, RTP_MM, HQ_RTP, HQ_RTPMM and auto, figures 6 to 12."""
    import numpy as np

    from hubbub.lab.wu19 import METHODS, Size, run_wu19, steps, streams

    output = Output(as_json)
    size = Size.quick() if quick else Size.full()
    made = streams(size, seed)
    with output.progress("wu19", steps(size, made)) as bar:
        rows = run_wu19(size, seed=seed, made=made, done=lambda: bar.advance(bar.task_ids[0]))
    chosen: dict[tuple[str, str], str] = {}
    for stream in dict.fromkeys(row["stream"] for row in rows):
        for epsilon in dict.fromkeys(row["epsilon"] for row in rows if row["stream"] == stream):
            found = [row for row in rows if row["stream"] == stream and row["epsilon"] == epsilon]
            table = []
            for pattern in dict.fromkeys(row["pattern"] for row in found):
                cells = {row["method"]: row for row in found if row["pattern"] == pattern}
                table.append([pattern, *(_cell(cells[method]) for method in METHODS)])
                chosen[stream, pattern] = cells["auto"]["strategy"]
            title = f"mean squared error, {stream}, epsilon {epsilon:g} (the paper's figures 6 to 11)"
            output.table(title, ["queries", *METHODS], table)
            output.text("")
    picked = [[pattern, stream, title] for (stream, pattern), title in chosen.items()]
    output.table("what auto chose in the end", ["queries", "stream", "strategy"], picked)
    output.text("")
    times = {m: [row["seconds_per_million"] for row in rows if row["method"] == m] for m in METHODS}
    base = float(np.median(times["rtp"]))
    medians = [(m, float(np.median(seconds))) for m, seconds in times.items()]
    speed = [[m, f"{seconds:.2f}", f"{seconds / base:.2f}"] for m, seconds in medians]
    output.table(
        "processor time (the paper's figure 12)", ["method", "seconds a million ticks and run", "against rtp"], speed
    )
    output.text(
        "Mean ± standard error over runs. The paper prints plots without numbers, so there is nothing to set beside "
        "these but its order: adaptive below fixed, and the closer together the longer the queries."
    )
    written = [] if out is None else _write(out, rows)
    for path in written:
        output.text(f"wrote {path}")
    output.document(
        {"experiment": "wu19", "seed": seed, "quick": quick, "rows": rows, "written": [str(path) for path in written]}
    )


def _cell(row: dict[str, Any]) -> str:
    spread = row["standard_error"]
    return f"{row['error']:,.4g}" if spread is None else plus_minus(row["error"], spread)


def _write(folder: Path, rows: list[dict[str, Any]]) -> list[Path]:
    from hubbub.lab.plots import lines
    from hubbub.lab.wu19 import METHODS

    try:
        folder.mkdir(parents=True, exist_ok=True)
        table = folder / "wu19.csv"
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        paths = [table]
        by_pattern = [row for row in rows if row["figure"] == "6-8"]
        for i, stream in enumerate(dict.fromkeys(row["stream"] for row in by_pattern), 1):
            path = folder / f"wu19_patterns_{i}.html"
            columns = {
                method: [
                    (row["pattern"], row["error"], row["standard_error"] or 0.0)
                    for row in by_pattern
                    if (row["stream"], row["method"]) == (stream, method)
                ]
                for method in METHODS
            }
            lines(path, f"{stream}, epsilon 1", "queries", "mean squared error", columns, log_y=True)
            paths.append(path)
        by_length = [row for row in rows if row["figure"] == "9-11"]
        for i, stream in enumerate(dict.fromkeys(row["stream"] for row in by_length), 9):
            for epsilon in dict.fromkeys(row["epsilon"] for row in by_length if row["stream"] == stream):
                path = folder / f"wu19_figure_{i}_epsilon_{epsilon:g}.html"
                series = {
                    method: [
                        (int(row["pattern"]), row["error"], row["standard_error"] or 0.0)
                        for row in by_length
                        if (row["stream"], row["epsilon"], row["method"]) == (stream, epsilon, method)
                    ]
                    for method in METHODS
                }
                words = "mean squared error"
                lines(path, f"{stream}, epsilon {epsilon:g}", "length", words, series, log_x=True, log_y=True)
                paths.append(path)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written: {error.strerror}.", "Choose another folder.") from None
    return paths
