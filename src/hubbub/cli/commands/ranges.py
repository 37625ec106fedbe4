"""`hubbub ranges`: replay counts, ask for ranges."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import HubbubError, InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class UnitName(StrEnum):
    event = "event"
    session = "session"
    user = "user"
    window = "window"


@dataclass(frozen=True, slots=True)
class _Query:
    """One line of the file of queries, asked once tick `at` is released."""

    line: int
    first: int
    last: int
    key: str | None
    at: int


def command(
    counts: Annotated[Path, typer.Argument(help="CSV of counts: a line a tick, a column a key (`tick` is skipped).")],
    queries: Annotated[
        Path, typer.Argument(help="CSV of queries: columns `from`, `to`, and if wanted `key` and `at` (asked when).")
    ],
    epsilon: Annotated[str, typer.Option(help="The epsilon of the whole stream, e.g. 1 or 1/10.")] = "1",
    rho: Annotated[str | None, typer.Option(help="Promise zCDP with this rho (Gaussian noise) instead.")] = None,
    unit: Annotated[UnitName, typer.Option(help="What is protected.")] = UnitName.event,
    max_ticks: Annotated[int, typer.Option(help="In how many ticks one unit counts (not for events).")] = 20,
    window: Annotated[int | None, typer.Option(help="Ticks that can be asked for; default: all of the file.")] = None,
    method: Annotated[
        str, typer.Option(help="auto, none, rtp, rtp-mm, hq-rtp, hq-rtp-mm, k-ary, two-level, multi-level, toeplitz.")
    ] = "auto",
    truth: Annotated[
        bool, typer.Option("--truth", help="The counts are public: print true totals and errors beside the answers.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the released increments to this CSV.")] = None,
    json: Json = False,
) -> None:
    """Replay a CSV of counts tick by tick and answer a file of range queries from what was released.

    Queries cost nothing. An answer's ± is its standard error, exactly as the tree in force gives it.
    """
    import numpy as np

    from hubbub.confidential import Confidential
    from hubbub.privacy import Event, Guarantee, Session, Unit, User, Window
    from hubbub.ranges import RangeStream
    from hubbub.released import Keys, plus_minus

    output = Output(json)
    names, table = _counts(counts)
    asked = _queries(queries)
    protected: Unit = Event()
    if unit is UnitName.session:
        protected = Session(max_ticks=max_ticks)
    elif unit is UnitName.user:
        protected = User(max_ticks=min(max_ticks, len(table)), horizon=len(table))
    elif unit is UnitName.window:
        protected = Window(max_ticks)
    guarantee = Guarantee.pure(protected, epsilon) if rho is None else Guarantee.zcdp(protected, rho)
    stream = RangeStream(Keys(names), guarantee, window=window or len(table), method=method)
    sums = np.vstack([np.zeros((1, len(names)), dtype=np.int64), np.cumsum(table, axis=0)])
    rows: list[dict[str, Any]] = []
    released: list[NDArray[np.int64]] = []

    def go_to(tick: int) -> None:
        part = table[stream.next_tick : min(tick + 1, len(table))]
        if len(part):
            released.append(stream.release_many(Confidential(part)))

    for query in sorted(asked, key=lambda q: q.at):
        go_to(query.at)
        for key in [query.key] if query.key else names:
            try:
                answer = stream.total(query.first, query.last, key, record=key == (query.key or names[0]))
            except HubbubError as error:
                raise InvalidInput(f"Line {query.line} of {queries}: {error.message}", error.hint) from None
            row = answer.to_dict()
            if truth:
                i = names.index(key)
                row["truth"] = int(sums[query.last + 1, i] - sums[query.first, i])
                row["error"] = answer.value - row["truth"]
            rows.append(row)
    go_to(len(table) - 1)
    if out is not None:
        _write(out, names, np.vstack(released))
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
    output.text(f"{len(table):,} ticks released with method {method}; the present tree: {stream.describe()['title']}.")
    if truth and rows:
        squares = float(np.mean([row["error"] ** 2 for row in rows]))
        output.text(f"Mean squared error of {len(rows):,} answers: {squares:,.4g}.")
    output.text(guarantee.sentence)
    facts = {"guarantee": guarantee.to_dict(), "method": method, "ticks": len(table), "answers": rows}
    output.document({**facts, "stream": stream.describe()})


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


def _counts(path: Path) -> tuple[list[str], NDArray[np.int64]]:
    """Names of keys, and a row a tick. Errors name the line, never what stands in it."""
    import numpy as np

    names, lines = _rows(path)
    kept = [i for i, name in enumerate(names) if name.lower() != "tick"]
    table = np.empty((len(lines), len(kept)), dtype=np.int64)
    for number, line in enumerate(lines):
        try:
            table[number] = [int(line[i]) for i in kept]
        except (ValueError, IndexError, OverflowError):
            raise InvalidInput(
                f"Row {number + 2} of {path} does not hold one whole number for each of {len(kept)} keys.",
                "Give 0 where nothing was counted.",
            ) from None
    return [names[i] for i in kept], table


def _queries(path: Path) -> list[_Query]:
    names, lines = _rows(path)
    columns = {name.lower(): i for i, name in enumerate(names)}
    if "from" not in columns or "to" not in columns:
        raise InvalidInput(f"{path} needs the columns `from` and `to`.", "Ticks are counted from 0.")
    found = []
    for number, line in enumerate(lines, 2):
        try:
            first, last = int(line[columns["from"]]), int(line[columns["to"]])
            key = line[columns["key"]].strip() or None if "key" in columns else None
            when = line[columns["at"]].strip() if "at" in columns else ""
            found.append(_Query(number, first, last, key, int(when) if when else last))
        except (ValueError, IndexError):
            raise InvalidInput(f"Row {number} of {path} is not a query.", "Give whole ticks, e.g. 10,19.") from None
    return found


def _write(path: Path, names: list[str], released: NDArray[np.int64]) -> None:
    import csv

    try:
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["tick", *names])
            writer.writerows([tick, *row] for tick, row in enumerate(released.tolist()))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.", "Choose another file.") from None
