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
    from hubbub.lab.wu19 import METHODS, Size, run_times, run_wu19, steps, streams

    output = Output(as_json)
    size = Size.quick() if quick else Size.full()
    made = streams(size, seed)
    with output.progress("wu19", steps(size, made)) as bar:
        rows = run_wu19(size, seed=seed, made=made, done=lambda: bar.advance(bar.task_ids[0]))
    times = run_times(made, seed=seed)
    for title, found in _tables(rows):
        table = [
            [pattern, *(_cell(_at(found, pattern=pattern, method=method)) for method in METHODS)]
            for pattern in dict.fromkeys(row["pattern"] for row in found)
        ]
        output.table(title, ["queries", *METHODS], table)
        output.text("")
    chosen = [
        [row["pattern"], row["stream"], row["strategy"]]
        for row in rows
        if row["method"] == "auto" and row["epsilon"] == 1
    ]
    output.table("what auto chose in the end", ["queries", "stream", "strategy"], chosen)
    output.text("")
    lengthy = [
        [stream, *(f"{_at(times, stream=stream, method=method)['seconds']:.3g}" for method in METHODS)]
        for stream in dict.fromkeys(row["stream"] for row in times)
    ]
    output.table("figure 12: processor seconds a run, window 32,768, epsilon 1", ["stream", *METHODS], lengthy)
    output.text("")
    output.table(
        "what the paper says, and what is found", ["the paper", "here"], [list(row) for row in said(rows, times)]
    )
    output.text(
        "Mean ± standard error over runs. The paper's plots have no numbers: its words are what can be compared."
    )
    written = [] if out is None else _write(out, rows, times)
    for path in written:
        output.text(f"wrote {path}")
    document = {"experiment": "wu19", "seed": seed, "quick": quick, "rows": rows, "times": times}
    output.document({**document, "written": [str(path) for path in written]})


def said(rows: list[dict[str, Any]], times: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The paper's statements in sections 4.2.1 to 4.2.3, each with the figures of this run."""
    # The longest stream: in one no longer than the window, a query of that length has a single place.
    stream = max((row for row in rows if row["figure"] is not None), key=lambda row: row["figure"])["stream"]
    by_length = [row for row in rows if row["pattern"].isdigit() and row["epsilon"] == 1 and row["stream"] == stream]
    ratios = []
    for pattern in dict.fromkeys(row["pattern"] for row in by_length):
        for base in ("rtp", "rtp-mm"):
            fixed, adaptive = (_at(by_length, pattern=pattern, method=m)["error"] for m in (base, f"hq-{base}"))
            ratios.append((int(pattern), base, adaptive / fixed))
    shortest, longest = min(ratios)[0], max(ratios)[0]
    words = {
        length: ", ".join(f"{base} {ratio:.2g}" for at, base, ratio in ratios if at == length)
        for length in (shortest, longest)
    }
    statements = [
        ("adaptive is better, most for short queries", f"hq/fixed error at length {shortest:,}: {words[shortest]}"),
        ("the two come together as queries grow", f"hq/fixed error at length {longest:,}: {words[longest]}"),
    ]
    least = min(row["epsilon"] for row in rows)
    pairs = [(row, _find(rows, {**row, "epsilon": 1.0})) for row in rows if row["epsilon"] == least < 1]
    if pairs:
        factors = sorted(low["error"] * least**2 / one["error"] for low, one in pairs if one)
        low, middle, high = (factors[int(share * (len(factors) - 1))] for share in (0.05, 0.5, 0.95))
        found = f"error x epsilon^2 at {least:g} is {middle:.2f} times that at 1 (most: {low:.2f} to {high:.2f})"
        statements.append(("epsilon changes the size of errors only", found))
    slower = [
        _at(times, stream=row["stream"], method=f"hq-{row['method']}")["seconds"] / row["seconds"]
        for row in times
        if row["method"] in ("rtp", "rtp-mm")
    ]
    statements.append(("adapting takes a little more time", f"hq/fixed time: {min(slower):.2f} to {max(slower):.2f}"))
    return statements


def _find(rows: list[dict[str, Any]], wanted: dict[str, Any]) -> dict[str, Any] | None:
    keys = ("stream", "pattern", "method", "epsilon")
    return next((row for row in rows if all(row[key] == wanted[key] for key in keys)), None)


def _at(rows: list[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def _tables(rows: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """One table a figure and epsilon, with its title."""
    tables: dict[tuple[Any, str, float, bool], list[dict[str, Any]]] = {}
    for row in rows:
        tables.setdefault((row["figure"], row["stream"], row["epsilon"], row["pattern"].isdigit()), []).append(row)
    titled = []
    for (figure, stream, epsilon, _), found in tables.items():
        name = "not in the paper" if figure is None else f"figure {figure}"
        titled.append((f"{name}: mean squared error, {stream}, epsilon {epsilon:g}, {found[0]['runs']} runs", found))
    return titled


def _cell(row: dict[str, Any]) -> str:
    spread = row["standard_error"]
    return f"{row['error']:,.4g}" if spread is None else plus_minus(row["error"], spread)


def _write(folder: Path, rows: list[dict[str, Any]], times: list[dict[str, Any]]) -> list[Path]:
    from hubbub.lab.plots import lines
    from hubbub.lab.wu19 import METHODS

    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / "wu19.csv", folder / "wu19_times.csv"]
        for path, table in zip(paths, (rows, times), strict=True):
            with path.open("w", newline="") as file:
                writer = csv.DictWriter(file, fieldnames=list(table[0]))
                writer.writeheader()
                writer.writerows(table)
        for title, found in _tables(rows):
            first = found[0]
            by_length = first["pattern"].isdigit()
            name = "dpbench" if first["figure"] is None else f"figure_{first['figure']}"
            ending = f"_epsilon_{first['epsilon']:g}" if by_length else ""
            path = folder / f"wu19_{name}{ending}.html"
            if path in paths:  # a second series that is not in the paper
                path = path.with_stem(f"{path.stem}_{sum(name in str(p) for p in paths) + 1}")
            series = {
                method: [
                    (int(row["pattern"]) if by_length else row["pattern"], row["error"], row["standard_error"] or 0.0)
                    for row in found
                    if row["method"] == method
                ]
                for method in METHODS
            }
            x = "length" if by_length else "queries"
            lines(path, title, x, "mean squared error", series, log_x=by_length, log_y=True)
            paths.append(path)
        seconds = {
            method: [(row["stream"], row["seconds"], 0.0) for row in times if row["method"] == method]
            for method in METHODS
        }
        paths.append(folder / "wu19_figure_12.html")
        lines(paths[-1], "figure 12: time a run", "stream", "processor seconds", seconds, log_y=True)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written: {error.strerror}.", "Choose another folder.") from None
    return paths
