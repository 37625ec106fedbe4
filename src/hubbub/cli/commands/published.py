"""`hubbub published`: a list again, from the store that keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.commands.items import say
from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidParameter

if TYPE_CHECKING:
    from hubbub.itemlogs import Published


def command(
    store: Annotated[str, typer.Argument(help="The store: a path, sqlite:///path or postgresql://…", metavar="STORE")],
    stream: Annotated[str, typer.Argument(help="The name of the lists.", metavar="STREAM")],
    number: Annotated[int, typer.Option("--list", help="Which one, from 0 on; -1 is the newest.")] = -1,
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write the list: .csv (and .card.json), .json or .parquet.")
    ] = None,
    patterns: Annotated[
        bool, typer.Option("--patterns", help="Offer patterns for keys that many of its items share, e.g. /article/*.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Read a published list of items again; it was paid for when it was drawn."""
    from hubbub.itemlogs.published_files import check_place
    from hubbub.monitor import read_lists
    from hubbub.store import Store

    output = Output(as_json)
    if out is not None:
        check_place(out)
    with Store.open(store, read_only=True) as opened:
        lists = {one.facts["list"]: one for one in read_lists(opened, stream)}
    wanted = max(lists, default=-1) if number == -1 else number
    if wanted not in lists:
        known = ", ".join(map(str, lists)) or "none"
        raise InvalidParameter(f"The store holds no list {wanted} of {stream!r}.", f"Published lists: {known}.")
    published = lists[wanted]
    if out is not None:
        published.write(out)
    if patterns:
        _offer(output, published)
    else:
        say(output, published, out)


def _offer(output: Output, published: Published) -> None:
    """Made from published names alone; a person decides which are used."""
    offered = published.patterns()
    rows = [[one.pattern, f"{len(one.names):,}", ", ".join(one.names[:3])] for one in offered]
    output.table("Patterns that items of the list share", ["pattern", "items", "such as"], rows)
    output.text("")
    output.text(
        "Take those that mean one thing to your readers into the keys of a stream, as names = [...] under [keys]; "
        "where the keys of a stream are found by these lists, as patterns = [...]."
        if offered
        else "No three items of the list share one."
    )
    output.document({"patterns": [{"pattern": one.pattern, "names": list(one.names)} for one in offered]})
