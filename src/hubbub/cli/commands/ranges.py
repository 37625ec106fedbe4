"""`hubbub ranges`: replay counts, ask for ranges."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.output import Json, MethodOptions, Output
from hubbub.cli.promise import Delta, Epsilon, Horizon, MaxItems, MaxTicks, Rho, UnitName
from hubbub.cli.series_options import Dates, Gaps
from hubbub.errors import HubbubError, InvalidInput
from hubbub.files import check_output

if TYPE_CHECKING:
    from hubbub.ranges import RangeStream
    from hubbub.released import Release
    from hubbub.series import CountSeries


@dataclass(frozen=True, slots=True)
class _Query:
    """One line of the file of queries, asked once tick `at` is released."""

    line: int
    first: int
    last: int
    key: str | None
    at: int


def command(
    counts: Annotated[
        Path, typer.Argument(help="Confidential counts, CSV or Parquet, as `hubbub release` reads them (with dates).")
    ],
    queries: Annotated[
        Path, typer.Argument(help="CSV of queries: columns `from`, `to`, and if wanted `key` and `at` (asked when).")
    ],
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    unit: UnitName = "user",
    max_ticks: MaxTicks = None,
    max_items: MaxItems = 1,
    horizon: Horizon = None,
    window: Annotated[int | None, typer.Option(help="Ticks that can be asked for; default: all of the file.")] = None,
    method: Annotated[
        str, typer.Option(help="auto, none, rtp, rtp-mm, hq-rtp, hq-rtp-mm, k-ary, two-level, multi-level, toeplitz.")
    ] = "auto",
    option: MethodOptions = None,
    truth: Annotated[
        bool, typer.Option("--truth", help="The counts are public: print true totals and errors beside the answers.")
    ] = False,
    gaps: Gaps = "refuse",
    dates: Dates = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the released ticks: .csv, .json, .parquet or .arrow.")
    ] = None,
    json: Json = False,
) -> None:
    """Replay a file of counts tick by tick and answer a file of range queries from what was released.

    Queries cost nothing. An answer's ± is its standard error, exactly as the tree in force gives it.
    """
    from hubbub.mechanism import read_options
    from hubbub.privacy import Guarantee
    from hubbub.ranges import RangeStream
    from hubbub.series import read_series, write_released
    from hubbub.series.released_files import check_kind
    from hubbub.series.releasing import protected_unit

    output = Output(json)
    if out is not None:
        check_kind(out)
        check_output(out, [counts, queries])
    series = read_series(counts, gaps=gaps, dates=dates)
    asked = _queries(queries)
    protected = protected_unit(unit, len(series), max_ticks=max_ticks, max_items=max_items, horizon=horizon)
    guarantee = Guarantee.parse(protected, epsilon=epsilon, delta=delta, rho=rho)
    options = {"window": window or len(series), "method": method, **read_options(RangeStream, option or [])}
    stream = RangeStream(series.keys, guarantee, **options)
    rows, released = _answers(stream, series, asked, queries)
    if truth:
        _add_truth(rows, series)
    if out is not None:
        write_released(out, released)
    _show(output, rows, truth)
    output.text(f"{len(series):,} ticks released with method {method}; the present tree: {stream.describe()['title']}.")
    if truth and rows:
        squares = sum(row["error"] ** 2 for row in rows) / len(rows)
        output.text(f"Mean squared error of {len(rows):,} answers: {squares:,.4g}.")
    output.text(guarantee.sentence)
    facts = {"guarantee": guarantee.to_dict(), "method": method, "ticks": len(series), "answers": rows}
    output.document({**facts, "stream": stream.describe()})


def _answers(
    stream: RangeStream, series: CountSeries, asked: list[_Query], queries: Path
) -> tuple[list[dict[str, Any]], list[Release]]:
    """Release tick by tick, and ask each question once its tick is there: the answers, and all releases."""
    names = list(series.keys)
    rows: list[dict[str, Any]] = []
    coming = series.released_by(stream)
    released: list[Release] = []
    for query in sorted(asked, key=lambda q: q.at):
        released += islice(coming, max(query.at + 1 - len(released), 0))
        for key in [query.key] if query.key else names:
            try:
                answer = stream.total(query.first, query.last, key, record=key == (query.key or names[0]))
            except HubbubError as error:
                raise InvalidInput(f"Line {query.line} of {queries}: {error.message}", error.hint) from None
            rows.append(answer.to_dict())
    released += coming
    return rows, released


def _add_truth(rows: list[dict[str, Any]], series: CountSeries) -> None:
    """The true total beside each answer, for counts that are public."""
    names = list(series.keys)
    for row in rows:
        row["truth"] = int(series.values[row["first"] : row["last"] + 1, names.index(row["key"])].sum())
        row["error"] = row["value"] - row["truth"]


def _show(output: Output, rows: list[dict[str, Any]], truth: bool) -> None:
    from hubbub.released import plus_minus

    columns = ["key", "from", "to", "total", "95 % interval", *(["truth", "error"] if truth else [])]
    shown = [
        [
            row["key"], row["first"], row["last"], plus_minus(row["value"], row["standard_error"]),
            f"{row['lower']:,.0f} to {row['upper']:,.0f}",
            *([f"{row['truth']:,}", f"{row['error']:,.0f}"] if truth else []),
        ]
        for row in rows
    ]  # fmt: skip
    output.table("", columns, shown)


def _rows(path: Path) -> tuple[list[str], list[list[str]]]:
    import csv

    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"Cannot read {path}: {type(error).__name__}.", "Give a CSV file in UTF-8.") from None
    if len(lines) < 2:
        raise InvalidInput(f"{path} holds no data.", "The first line names the columns, each further one is a row.")
    return [cell.strip() for cell in lines[0]], lines[1:]


def _queries(path: Path) -> list[_Query]:
    names, lines = _rows(path)
    columns = {name.lower(): i for i, name in enumerate(names)}
    if "from" not in columns or "to" not in columns:
        raise InvalidInput(f"{path} needs the columns `from` and `to`.", "Ticks are counted from 0.")
    queries = []
    for number, line in enumerate(lines, 2):
        try:
            first, last = int(line[columns["from"]]), int(line[columns["to"]])
            key = line[columns["key"]].strip() or None if "key" in columns else None
            when = line[columns["at"]].strip() if "at" in columns else ""
            queries.append(_Query(number, first, last, key, int(when) if when else last))
        except (ValueError, IndexError):
            raise InvalidInput(f"Row {number} of {path} is not a query.", "Give whole ticks, e.g. 10,19.") from None
    return queries
