"""`hubbub ledger`: what was spent, whether anybody changed it, and all of it as a file."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from hubbub.cli.output import Json, Output
from hubbub.files import check_output, whole_file

if TYPE_CHECKING:
    from hubbub.store import Store
    from hubbub.store.debit import Debit
    from hubbub.store.verification import Verification

app = typer.Typer(help="What was granted and spent: show, verify, export, mend, forget.", no_args_is_help=True)

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
    """Check every line of a ledger, and those of its whole grant. Ends with 1 and names lines changed or missing.

    Lines that belong to no stream of the store are named too, whichever stream was asked for.
    """
    from hubbub.errors import WrongUse

    if head is not None and stream is None:
        raise WrongUse("`--head` belongs to one stream.", "Name the stream: hubbub ledger verify STORE STREAM --head …")
    output = Output(as_json)
    with _open(store) as opened:
        names, grants = opened.names() if stream is None else _of_one_promise(opened, stream, head)
        results = [_walk(opened, name, head) for name in names]
        doubts = {result.stream: opened.doubts(result.stream) if result.ok else () for result in results}
        granted = [_grant_facts(opened, name, bear=True) for name in grants]
        left_behind = opened.left_behind()
    for result in results:
        if result.ok:
            anchored = "" if result.anchor_tick is None else f", the given head stands at tick {result.anchor_tick}"
            output.text(f"{result.stream}: {result.debits:,} lines are as they were written{anchored}")
            output.text(f"{result.stream}: head {result.head}")
        for fault in result.faults:
            output.text(f"{result.stream}: BROKEN at {fault}")
        _say_doubts(output, result.stream, doubts[result.stream])
    streams = [{**_verified(result), "doubts": list(doubts[result.stream])} for result in results]
    for facts in granted:
        if "broken" in facts:
            output.text(f"Grant {facts['grant']}: BROKEN: {facts['broken']}")
        else:
            _say_grant(output, facts)
    for what in left_behind:
        output.text(f"The store: BROKEN: {what}")
    ok = all(result.ok for result in results) and not left_behind and not any("broken" in facts for facts in granted)
    output.document({"ok": ok, "streams": streams, "grants": granted, "left_behind": list(left_behind)})
    if not ok:
        raise typer.Exit(1)


@app.command()
def grants(
    store: Where,
    grant: Annotated[
        str | None, typer.Argument(help="The name of the grant; all if left out.", metavar="[GRANT]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what was granted, which streams draw of it, what is left, and what all grants say together."""
    output = Output(as_json)
    with _open(store) as opened:
        if grant is not None:
            facts = _grant_facts(opened, grant)
            _say_grant(output, facts)
            output.document(facts)
            return
        all_facts = [_grant_facts(opened, one.grant.name) for one in opened.grants()]
    from hubbub.privacy.rounding import at_most

    rows = [
        (one["grant"], f"{at_most(Fraction(one['spent']))} of {at_most(Fraction(one['total']))} {one['currency']}",
         one["free_share"], ", ".join(one["parts"]), one["population"] or "(nobody said)")
        for one in all_facts
    ]  # fmt: skip
    output.table("", ("grant", "spent by one unit at most", "share left", "streams", "population"), rows)
    for one in all_facts:
        if "slips" in one:
            output.text(f"{one['grant']}: {_slips(one['slips'])}")
        for sentence in one["together"]["sentences"]:
            output.text(f"{one['grant']}: {sentence}")
    output.document({"grants": all_facts})


@app.command()
def forget(
    store: Where,
    stream: Which,
    before: Annotated[int, typer.Option(help="The first tick whose numbers stay.", min=0)],
    as_json: Json = False,
) -> None:
    """Let go of the numbers of old releases. What was spent stays, and can be verified as before.

    Nothing can bring the numbers back. A live monitor does it by itself with `keep` under [store].
    """
    from hubbub.store import Store

    output = Output(as_json)
    with Store.open(store, create=False) as opened:
        gone = opened.forget(stream, before)
    output.text(f"Let go of the numbers of {gone:,} releases before tick {before:,}.")
    output.document({"stream": stream, "before": before, "forgotten": gone})


@app.command()
def export(
    store: Where,
    stream: Which,
    format: Annotated[Format, typer.Option(help="csv, or jsonl: one JSON object a line.")] = Format.csv,
    output: Annotated[Path | None, typer.Option(help="The file to write; standard output if left out.")] = None,
    as_json: Json = False,
) -> None:
    """Write every line of a stream's ledger as CSV or JSON lines."""
    from hubbub.store.address import shown

    if output is not None:
        check_output(output, [shown(store)])
    with _open(store) as opened:
        slips = bool(opened.stream(stream).guarantee.slips)  # a table has the same columns in each line
        lines = (debit.to_dict(slips) for debit in opened.debits(stream))
        if as_json and output is None:
            Output(True).document({"stream": stream, "debits": list(lines), "decisions": _decisions(opened, stream)})
            return
        with _target(output) as target:
            count = _write(lines, format, target)
    if output is not None:
        said = Output(as_json)
        said.text(f"{count:,} lines written to {output}")
        said.document({"stream": stream, "lines": count, "file": str(output), "format": format.value})


def _decisions(store: Store, stream: str) -> list[dict[str, Any]]:
    """The lines of the ledger that changed what is counted; they are counted in `place` with the debits."""
    return [decision.to_dict() for decision in store.decisions(stream)]


@app.command()
def mend(
    store: Where,
    stream: Which,
    upto: Annotated[
        int | None, typer.Option(help="The last tick that was published, where no mark of this machine tells.", min=0)
    ] = None,
    as_json: Json = False,
) -> None:
    """After a store was set back: book the ticks that it forgot as lost, at full cost, so that the stream goes on."""
    from hubbub.store import Store

    output = Output(as_json)
    booked: dict[str, int] = {}
    with Store.open(store, create=False) as opened:
        beside = opened.ranges_of(stream)
        for name in [stream] if beside is None else [stream, beside.name]:  # the same ticks, two ledgers
            booked[name] = opened.mend(name, upto)
    for name, count in booked.items():
        output.text(
            f"{name}: {count:,} ticks are booked as lost; they will be predicted, and are never drawn again"
            if count
            else f"{name}: nothing had to be booked"
        )
    output.document({"booked": booked})


_CHECKED = "Only the newest 1,000 lines of a ledger were checked; `hubbub ledger verify` checks all."


def _say_faults(output: Output, stream: str, faults: Iterable[str]) -> None:
    for fault in faults:
        output.text(f"{stream}: BROKEN at {fault}")


def _say_doubts(output: Output, stream: str, doubts: Iterable[str]) -> None:
    for doubt in doubts:
        output.text(f"{stream}: DOUBT: {doubt}")


def _open(store: str) -> Store:
    from hubbub.store import Store

    return Store.open(store, read_only=True)


def _of_one_promise(store: Store, stream: str, head: str | None) -> tuple[list[str], list[str]]:
    """The streams whose ledgers belong to the promise of one, and its grant; a head belongs to that one alone."""
    from hubbub.errors import LedgerBroken

    try:
        grant = store.stream(stream).part.grant.name
        return ([stream] if head is not None else sorted(store.grant(grant).shares)), [grant]
    except LedgerBroken:  # the walk says of which stream
        return [stream], []


def _walk(store: Store, stream: str, head: str | None = None) -> Verification:
    """One stream checked; where not even its row can be read, that is what is found, and others are gone on with."""
    from hubbub.errors import LedgerBroken, SchemaMismatch
    from hubbub.store.verification import Verification

    try:
        return store.verify(stream, head=head)
    except (LedgerBroken, SchemaMismatch) as error:
        return Verification.unreadable(stream, error.message)


def _grant_facts(store: Store, name: str, *, bear: bool = False) -> dict[str, Any]:
    """The promise of a grant, stream by stream, and what it comes to with all others; or (`bear`) why it cannot be."""
    from hubbub.errors import LedgerBroken, PrivacyRefusal

    try:
        return {**store.grant_budget(name).to_dict(), "together": store.total(name).to_dict()}
    except (LedgerBroken, PrivacyRefusal) as error:
        if not bear:
            raise
        return {"grant": name, "broken": error.message}


def _say_grant(output: Output, facts: dict[str, Any]) -> None:
    who = f" ({facts['population']})" if facts["population"] else ""
    output.text(f"Grant {facts['grant']}{who}: {facts['guarantee']}")
    output.text(f"Spent {facts['spent']} of {_promised(facts)}, {facts['left']} left.")
    for stream, part in facts["parts"].items():
        output.text(f"Of that {stream}: {part['spent']} of {part['total']} (share {part['share']}).")
    if facts["free_share"] != "0":
        output.text(f"A share of {facts['free_share']} was not drawn by any stream.")
    if "slips" in facts:
        output.text(_slips(facts["slips"]))
        for stream, part in facts["parts"].items():
            if "slips" in part:
                slips = part["slips"]
                output.text(f"Of that {stream}: {slips['spent']} of {slips['total']} (share {slips['share']}).")
        if facts["slips"]["free_share"] != "0":
            output.text(f"Of the slips a share of {facts['slips']['free_share']} was not drawn by any stream.")
    for sentence in facts["together"]["sentences"]:
        output.text(sentence)


def _slips(slips: dict[str, str]) -> str:
    return f"May have slipped {slips['spent']} of {slips['total']} delta, {slips['left']} left."


def _promised(facts: dict[str, Any]) -> str:
    return f"{facts['total']} {facts['currency']}"


def _show_streams(store: Store, output: Output) -> None:
    from hubbub.privacy.rounding import at_most

    rows, facts, told = [], [], []
    for stream in store.streams():
        spent, part = store.spending(stream), stream.part
        currency = "epsilon" if spent.guarantee.kind == "pure" else "rho"
        rows.append(
            (stream.name, stream.method, f"{len(stream.keys):,}", f"{spent.settled:,}", f"{spent.lost:,}",
             f"{at_most(spent.spent)} of {at_most(spent.guarantee.budget)} {currency}"
             + (f", slips {at_most(spent.slipped)} of {at_most(spent.guarantee.slips)}" if spent.slips else ""),
             part.grant.name if part.share == 1 else f"{part.share} of {part.grant.name}")
        )  # fmt: skip
        doubts, broken = store.doubts(stream), store.newest_faults(stream)
        told.append((stream.name, doubts, broken))
        facts.append(
            {"stream": stream.name, "method": stream.method, "keys": len(stream.keys), "grant": part.grant.name,
             "currency": currency, **spent.to_dict(), "doubts": list(doubts), "faults": list(broken)}
        )  # fmt: skip
    output.table("", ("stream", "method", "keys", "settled", "lost", "spent by one unit at most", "grant"), rows)
    granted = [_grant_facts(store, one.grant.name) for one in store.grants()]
    for one in granted:
        for sentence in one["together"]["sentences"]:
            output.text(f"{one['grant']}: {sentence}")
    for name, doubts, _ in told:
        _say_doubts(output, name, doubts)
    for name, _, broken in told:
        _say_faults(output, name, broken)
    output.text(_CHECKED)
    output.document({"streams": facts, "grants": granted})
    if any(broken for _, _, broken in told):
        raise typer.Exit(1)


def _show_stream(store: Store, name: str, last: int, output: Output) -> None:
    stream, spent = store.stream(name), store.spending(name)
    granted = _grant_facts(store, stream.part.grant.name)
    debits = list(store.debits(name, last=last))
    rows: list[tuple[Any, ...]] = [
        (
            d.tick,
            _state(d),
            d.purpose,
            d.epsilon,
            d.settled_epsilon or "",
            d.rho,
            d.settled_rho or "",
            d.hash.hex()[:12],
        )
        for d in debits
    ]
    _say_grant(output, granted)
    output.text(
        f"Ticks of {name}: {spent.settled:,} settled, {spent.lost:,} lost, {spent.reserved:,} open."
    )  # fmt: skip
    doubts = store.doubts(name)
    _say_doubts(output, name, doubts)
    columns: tuple[str, ...] = (
        "tick",
        "state",
        "purpose",
        "epsilon reserved",
        "settled",
        "rho reserved",
        "settled",
        "hash",
    )
    if spent.slips:
        from hubbub.privacy.rounding import at_most

        columns = (*columns[:-1], "delta", "hash")
        rows = [(*row[:-1], at_most(d.cost.delta), row[-1]) for row, d in zip(rows, debits, strict=True)]
    output.table("", columns, rows)
    broken = store.newest_faults(name)
    _say_faults(output, name, broken)
    output.text(_CHECKED)
    facts = {"stream": name, "budget": granted, "doubts": list(doubts), "faults": list(broken)}
    output.document(facts | {"debits": [debit.to_dict() for debit in debits]})
    if broken:
        raise typer.Exit(1)


def _state(debit: Debit) -> str:
    """A tick that was booked by `mend` is lost, though its outcome is written by the next start."""
    from hubbub.store.owner import MENDED

    return "lost" if debit.state == "reserved" and debit.purpose == MENDED else debit.state


def _verified(result: Any) -> dict[str, Any]:
    return {
        "stream": result.stream,
        "ok": result.ok,
        "lines": result.debits,
        "settled": result.settled,
        "lost": result.lost,
        "reserved": result.reserved,
        "spent": str(result.spent),
        **({"slipped": str(result.slipped)} if result.slipped else {}),
        "head": result.head,
        "anchor_tick": result.anchor_tick,
        "faults": [{"tick": fault.tick, "what": fault.what} for fault in result.faults],
    }


@contextmanager
def _target(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.detach()  # whoever opened the file closes it


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
