"""`hubbub ledger`: what was spent, whether anybody changed it, and all of it as a file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from hubbub.cli.output import Json, Output

if TYPE_CHECKING:
    from hubbub.store import Store

app = typer.Typer(help="What each stream has spent: show it, verify it, export it.", no_args_is_help=True)

Where = Annotated[str, typer.Argument(help="The store: a path, sqlite:///path or postgresql://…", metavar="STORE")]
Which = Annotated[str, typer.Argument(help="The name of the stream.", metavar="STREAM")]
AnyStream = Annotated[str | None, typer.Argument(help="The name of the stream; all if left out.", metavar="[STREAM]")]


class Format(StrEnum):
    csv = "csv"
    jsonl = "jsonl"


@app.command()
def show(
    store: Where,
    stream: AnyStream = None,
    last: Annotated[int, typer.Option(help="How many of the newest lines to show.", min=1)] = 20,
    as_json: Json = False,
) -> None:
    """Show the budget of a stream and its newest debits; without a stream, all streams."""
    output = Output(as_json)
    with _open(store) as opened:
        if stream is None:
            _show_streams(opened, output)
        else:
            _show_stream(opened, stream, last, output)


@app.command()
def verify(
    store: Where,
    stream: AnyStream = None,
    head: Annotated[
        str | None,
        typer.Option(help="A head that was written down earlier: the ledger must still hold it. Needs a stream."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every line of a ledger, with its ranges' ledger. Ends with 1 and names lines changed, missing or put in."""
    from hubbub.errors import WrongUse

    if head is not None and stream is None:
        raise WrongUse("`--head` belongs to one stream.", "Name the stream: hubbub ledger verify STORE STREAM --head …")
    output = Output(as_json)
    with _open(store) as opened:
        names = [stream] if stream is not None else [found.name for found in opened.streams()]
        if stream is not None and head is None and (beside := opened.companion(stream)) is not None:
            names.append(beside.name)  # one promise, two ledgers
        found = [opened.verify(name, head=head) for name in names]
    for result in found:
        if result.ok:
            anchored = "" if result.anchor_tick is None else f", the given head stands at tick {result.anchor_tick}"
            output.text(f"{result.stream}: {result.debits:,} lines are as they were written{anchored}")
            output.text(f"{result.stream}: head {result.head}")
        for fault in result.faults:
            output.text(f"{result.stream}: BROKEN at {fault}")
    output.document({"ok": all(result.ok for result in found), "streams": [_verified(result) for result in found]})
    if not all(result.ok for result in found):
        raise typer.Exit(1)


@app.command()
def export(
    store: Where,
    stream: Which,
    format: Annotated[Format, typer.Option(help="csv, or jsonl: one JSON object a line.")] = Format.csv,
    output: Annotated[Path | None, typer.Option(help="The file to write; standard output if left out.")] = None,
    as_json: Json = False,
) -> None:
    """Write every line of a stream's ledger as CSV or JSON lines."""
    with _open(store) as opened:
        lines = (debit.to_dict() for debit in opened.debits(stream))
        if as_json and output is None:
            Output(True).document({"stream": stream, "debits": list(lines)})
            return
        with _target(output) as target:
            count = _write(lines, format, target)
    if output is not None:
        said = Output(as_json)
        said.text(f"{count:,} lines written to {output}")
        said.document({"stream": stream, "lines": count, "file": str(output), "format": format.value})


def _open(store: str) -> Store:
    from hubbub.store import Store

    return Store.open(store, read_only=True)


def _show_streams(store: Store, output: Output) -> None:
    rows, facts = [], []
    for stream in store.streams():
        whole = store.budget(stream)
        budget = whole if stream.companion_of is None else whole.parts.get(stream.name, whole)
        within = "" if stream.companion_of is None else f", within {stream.companion_of}"
        rows.append(
            (stream.name, stream.method, f"{len(stream.keys):,}", f"{budget.settled:,}", f"{budget.lost:,}",
             f"{float(budget.spent):.4g} of {float(budget.guarantee.budget):.4g} {budget.currency}{within}")
        )  # fmt: skip
        part = {} if stream.companion_of is None else {"companion_of": stream.companion_of}
        facts.append(
            {"stream": stream.name, **part, "method": stream.method, "keys": len(stream.keys), **budget.to_dict()}
        )
    output.table("", ("stream", "method", "keys", "settled", "lost", "spent by one unit at most"), rows)
    output.document({"streams": facts})


def _show_stream(store: Store, name: str, last: int, output: Output) -> None:
    budget = store.budget(name)
    debits = list(store.debits(name, last=last))
    rows = [
        (d.tick, d.state, d.purpose, d.epsilon, d.settled_epsilon or "", d.rho, d.settled_rho or "", d.hash.hex()[:12])
        for d in debits
    ]
    output.text(budget.guarantee.sentence)
    output.text(
        f"Spent {budget.spent} of {budget.guarantee.budget} {budget.currency}, {budget.left} left. "
        f"Ticks: {budget.settled:,} settled, {budget.lost:,} lost, {budget.reserved:,} open."
    )
    for part, own in budget.parts.items():
        output.text(f"Of that {part}: {own.spent} of {own.guarantee.budget}.")
    columns = ("tick", "state", "purpose", "epsilon reserved", "settled", "rho reserved", "settled", "hash")
    output.table("", columns, rows)
    output.document({"stream": name, "budget": budget.to_dict(), "debits": [debit.to_dict() for debit in debits]})


def _verified(result: Any) -> dict[str, Any]:
    return {
        "stream": result.stream,
        "ok": result.ok,
        "lines": result.debits,
        "settled": result.settled,
        "lost": result.lost,
        "reserved": result.reserved,
        "spent": str(result.spent),
        "head": result.head,
        "anchor_tick": result.anchor_tick,
        "faults": [{"tick": fault.tick, "what": fault.what} for fault in result.faults],
    }


@contextmanager
def _target(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    from hubbub.errors import InvalidInput

    try:
        file = path.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise InvalidInput(f"Cannot write {path}: {error.strerror}.", "Give a file in a folder that exists.") from None
    with file:
        yield file


def _write(lines: Iterable[dict[str, Any]], form: Format, target: TextIO) -> int:
    count = 0
    writer: csv.DictWriter[str] | None = None
    for line in lines:
        count += 1
        if form is Format.jsonl:
            target.write(json.dumps(line) + "\n")
            continue
        if writer is None:
            writer = csv.DictWriter(target, fieldnames=list(line), lineterminator="\n")
            writer.writeheader()
        writer.writerow(line)
    return count
