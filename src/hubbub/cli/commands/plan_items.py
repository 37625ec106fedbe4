"""`hubbub plan-items`: what a list of items will hold, before a log is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.output import Json, Output


def command(
    public: Annotated[
        Path | None,
        typer.Option("--public", help="A PUBLIC log to try on, .csv, .jsonl or .parquet; it is not protected here."),
    ] = None,
    published: Annotated[
        Path | None, typer.Option("--published", help="An earlier list that `hubbub items` wrote, instead.")
    ] = None,
    users: Annotated[
        int | None,
        typer.Option("--users", help="With --published: how many users the next log will have, a public number."),
    ] = None,
    user: Annotated[str, typer.Option("--user", help="The column of --public that says who.")] = "user",
    item: Annotated[str, typer.Option("--item", help="The column of --public with the items.")] = "item",
    epsilon: Annotated[
        list[str] | None, typer.Option("--epsilon", help="A budget to try, 1 if left out; may be given several times.")
    ] = None,
    delta: Annotated[
        list[str] | None, typer.Option("--delta", help="A delta to try, 1e-6 if left out; may be given several times.")
    ] = None,
    max_items: Annotated[
        list[int] | None,
        typer.Option("--max-items", help="A bound to try; left out, 1 to 50. May be given several times."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", help="A method to try, adaptive if left out; may be given several times."),
    ] = None,
    top: Annotated[int, typer.Option("--top", help="How many of the most frequent items coverage is about.")] = 100,
    runs: Annotated[int, typer.Option("--runs", help="Lists that are drawn for each line.")] = 3,
    as_json: Json = False,
) -> None:
    """Say beforehand what max-items, epsilon and delta do to a list of items; never from the confidential log."""
    from hubbub.itemlogs.planning import MAX_ITEMS, METHODS, plan_items

    output = Output(as_json)
    with output.steps("planning") as progress:
        planned = plan_items(
            public,
            published=published,
            users=users,
            user=user,
            item=item,
            epsilon=epsilon or (1,),
            delta=delta or ("1e-6",),
            max_items=max_items or MAX_ITEMS,
            methods=method or METHODS,
            top=top,
            runs=runs,
            progress=progress,
        )
    if planned.note:
        output.note(planned.note)
    output.shown(planned.shown)
    output.document(planned.to_dict())
