"""`hubbub items`: the frequent items of a log, fit to publish."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidParameter

if TYPE_CHECKING:
    from hubbub.itemlogs import Published
    from hubbub.monitor import Lists


def command(
    log: Annotated[
        Path,
        typer.Argument(help="The confidential log, .csv, .jsonl or .parquet: one row for each use of an item."),
    ],
    epsilon: Annotated[str, typer.Option("--epsilon", help="The privacy budget of one user, e.g. 1 or 1/10.")],
    delta: Annotated[
        str, typer.Option("--delta", help="The delta beside it, far below one in the number of users, e.g. 1e-9.")
    ],
    user: Annotated[str, typer.Option("--user", help="The column that says who: one name for each person.")] = "user",
    item: Annotated[str, typer.Option("--item", help="The column with the items.")] = "item",
    max_items: Annotated[
        int, typer.Option("--max-items", help="For how many different items one user counts at most.")
    ] = 10,
    method: Annotated[str, typer.Option("--method", help="adaptive (finds most), weighted, or zealous.")] = "adaptive",
    users: Annotated[
        int | None,
        typer.Option(
            "--users",
            help="For zealous: a public bound on how many users the log holds; the guarantee is then the probabilistic "
            "one.",
        ),
    ] = None,
    count_share: Annotated[
        str | None,
        typer.Option("--count-share", help="The part of the budget for counts, 1/5 if left out; 0 for items only."),
    ] = None,
    max_length: Annotated[int, typer.Option("--max-length", help="Longer items, in characters, are left out.")] = 200,
    store: Annotated[
        str | None,
        typer.Option("--store", help="Keep and count the lists here: a path, or postgresql://…; needs --stream."),
    ] = None,
    stream: Annotated[str | None, typer.Option("--stream", help="The name of the lists in the store.")] = None,
    lists: Annotated[
        int, typer.Option("--lists", help="With --store: for how many lists about the same users the budget is.")
    ] = 1,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write the list: .csv (and .card.json), .json or .parquet.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Publish the items that enough users share: queries, pages, words; nobody has to list them beforehand."""
    from hubbub.itemlogs import publish_items
    from hubbub.itemlogs.published_files import check_place

    output = Output(as_json)
    if out is not None:
        check_place(out, log, *_files_of(store))
    columns: dict[str, Any] = {"user": user, "item": item, "max_length": max_length}
    promise: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "max_items": max_items,
        "method": method,
        "count_share": count_share,
    }
    with output.status("reading") as progress:
        if store is None:
            _expect_unkept(stream, lists)
            published = publish_items(log, **columns, **promise, users=users, progress=progress)
        else:
            with _kept(store, stream, lists, users, promise) as kept:
                published = kept.publish(log, **columns, progress=progress)
    if out is not None:
        published.write(out)
    say(output, published, out)


def _files_of(store: str | None) -> list[str]:
    """What belongs to a store in a file, also one that is made on the way."""
    if store is None:
        return []
    from hubbub.store.address import parse

    url = parse(store)
    place = url.database if url.get_backend_name() == "sqlite" else None
    return [] if place is None else [place, f"{place}-wal", f"{place}-shm"]


def _expect_unkept(stream: str | None, lists: int) -> None:
    if stream is not None or lists != 1:
        raise InvalidParameter("--stream and --lists are about lists in a store.", "Name it: --store lists.db.")


def _kept(store: str, stream: str | None, lists: int, users: int | None, promise: Mapping[str, Any]) -> Lists:
    from hubbub.monitor import Lists

    if stream is None:
        raise InvalidParameter("In a store lists have a name.", "Give one: --stream searches.")
    if users is not None or promise["method"] == "zealous":
        raise InvalidParameter(
            "A store counts in zCDP what lists cost, and ZEALOUS publishes more without one.",
            "Leave out --store, or use --method adaptive.",
        )
    return Lists(store, stream, lists=lists, **promise)


def say(output: Output, published: Published, out: Path | None) -> None:
    """The promise, the list and what to know of it."""
    first, *others = published.card
    output.text(first)
    output.text("")
    output.shown(published.shown)
    output.text("")
    for text in others:
        output.text(text)
    output.text("Nothing was written: --out items.csv keeps the list." if out is None else f"Wrote {out}.")
    facts = published.to_dict()
    if out is not None:
        facts["items"] = None
    output.document({**facts, "published": len(published), "written": None if out is None else str(out)})
