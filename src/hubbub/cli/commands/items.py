"""`hubbub items`: the frequent items of a log, fit to publish."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import Json, Output

if TYPE_CHECKING:
    from hubbub.itemlogs import Published


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
            "one, which is stronger.",
        ),
    ] = None,
    count_share: Annotated[
        str | None,
        typer.Option("--count-share", help="The part of the budget for counts, 1/5 if left out; 0 for items only."),
    ] = None,
    max_length: Annotated[int, typer.Option("--max-length", help="Longer items, in characters, are left out.")] = 200,
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
        check_place(out, log)
    with output.status("reading") as progress:
        published = publish_items(
            log,
            user=user,
            item=item,
            epsilon=epsilon,
            delta=delta,
            max_items=max_items,
            method=method,
            users=users,
            count_share=count_share,
            max_length=max_length,
            progress=progress,
        )
    if out is not None:
        published.write(out)
    _say(output, published, out)


def _say(output: Output, published: Published, out: Path | None) -> None:
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
