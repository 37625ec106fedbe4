"""The tables and plots of `hubbub reproduce wu19`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hubbub.lab import wu19
from hubbub.lab.experiment_result import ExperimentResult, Lines, Plot, Row, Table, points_of
from hubbub.lab.wu19 import METHODS
from hubbub.released import plus_minus


def wu19_tables(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """Figures 6 to 12, what `auto` chose, and what the paper says beside what is found."""
    size = wu19.Size.quick() if quick else wu19.Size.full()
    made = wu19.streams(size, seed)
    total(wu19.steps(size, made))
    rows = wu19.run_wu19(size, seed=seed, made=made, done=done)
    times = wu19.run_times(made, seed=seed)
    tables = []
    for title, part in _titled(rows):
        cells = [
            [pattern, *(_cell(_at(part, pattern=pattern, method=method)) for method in METHODS)]
            for pattern in dict.fromkeys(row["pattern"] for row in part)
        ]
        tables.append(Table(title, ["queries", *METHODS], cells))
    chosen = [
        [row["pattern"], row["stream"], row["strategy"]]
        for row in rows
        if row["method"] == "auto" and row["epsilon"] == 1
    ]
    tables.append(Table("what auto chose in the end", ["queries", "stream", "strategy"], chosen))
    lengthy = [
        [stream, *(f"{_at(times, stream=stream, method=method)['seconds']:.3g}" for method in METHODS)]
        for stream in dict.fromkeys(row["stream"] for row in times)
    ]
    seconds = "figure 12: processor seconds per run, window 32,768, epsilon 1"
    tables.append(Table(seconds, ["stream", *METHODS], lengthy))
    stated = [list(row) for row in said(rows, times)]
    tables.append(Table("what the paper says, and what is found", ["the paper", "here"], stated))
    words = "Mean ± standard error over runs. The paper's plots have no numbers: its words are what can be compared."
    return ExperimentResult(rows, tables, words, _plots(rows, times), {"times": times})


def said(rows: Sequence[Row], times: Sequence[Row]) -> list[tuple[str, str]]:
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
        sentence = f"error x epsilon^2 at {least:g} is {middle:.2f} times that at 1 (most: {low:.2f} to {high:.2f})"
        statements.append(("epsilon changes the size of errors only", sentence))
    slower = [
        _at(times, stream=row["stream"], method=f"hq-{row['method']}")["seconds"] / row["seconds"]
        for row in times
        if row["method"] in ("rtp", "rtp-mm")
    ]
    statements.append(("adapting takes a little more time", f"hq/fixed time: {min(slower):.2f} to {max(slower):.2f}"))
    return statements


def _find(rows: Sequence[Row], wanted: Row) -> Row | None:
    keys = ("stream", "pattern", "method", "epsilon")
    return next((row for row in rows if all(row[key] == wanted[key] for key in keys)), None)


def _at(rows: Sequence[Row], **wanted: Any) -> Row:
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def _titled(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """One table a figure and epsilon, with its title."""
    tables: dict[tuple[Any, str, float, bool], list[Row]] = {}
    for row in rows:
        tables.setdefault((row["figure"], row["stream"], row["epsilon"], row["pattern"].isdigit()), []).append(row)
    titled = []
    for (figure, stream, epsilon, _), part in tables.items():
        name = "not in the paper" if figure is None else f"figure {figure}"
        titled.append((f"{name}: mean squared error, {stream}, epsilon {epsilon:g}, {part[0]['runs']} runs", part))
    return titled


def _cell(row: Row) -> str:
    spread = row["standard_error"]
    return f"{row['error']:,.4g}" if spread is None else plus_minus(row["error"], spread)


def _plots(rows: Sequence[Row], times: Sequence[Row]) -> list[Plot]:
    plots: dict[str, Plot] = {}
    for title, part in _titled(rows):
        first = part[0]
        by_length = first["pattern"].isdigit()
        kind = "dpbench" if first["figure"] is None else f"figure_{first['figure']}"
        name = f"{kind}_epsilon_{first['epsilon']:g}" if by_length else kind
        if name in plots:  # a second series that is not in the paper
            name = f"{name}_{sum(kind in other for other in plots) + 1}"
        shown = [{**row, "pattern": int(row["pattern"]) if by_length else row["pattern"]} for row in part]
        points = points_of(shown, "method", "pattern", "error", "standard_error")
        x = "length" if by_length else "queries"
        plots[name] = Lines(name, title, x, "mean squared error", points, log_x=by_length, log_y=True)
    points = points_of(times, "method", "stream", "seconds", "none")
    lasting = Lines("figure_12", "figure 12: time a run", "stream", "processor seconds", points, log_y=True)
    return [*plots.values(), lasting]
