"""`hubbub select`: relevant results for who does not tell the context: plan a cut, choose, serve, ask."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.files import check_output

if TYPE_CHECKING:
    from hubbub.personal import Catalogue, ContextHierarchy

app = typer.Typer(help="Relevant results for who does not tell the context.", no_args_is_help=True)

Log = Annotated[Path, typer.Argument(help="CSV of what was shown and clicked: context, result, shown, clicked.")]
Tree = Annotated[
    Path, typer.Option("--hierarchy", help="The hierarchy of contexts, as `hubbub select hierarchy` writes it.")
]
Bids = Annotated[
    Path | None, typer.Option("--bids", help="CSV of bids: result, bid, and node where it is for a part. Otherwise 1.")
]
Support = Annotated[float, typer.Option(help="How often a result must have been shown for a rate of its own.")]
Floor = Annotated[float, typer.Option(help="The CTR below which nothing is shown.")]
Cost = Annotated[float, typer.Option(help="What each result that is sent must bring at least.")]
Ban = Annotated[list[str] | None, typer.Option("--ban", help="A result that is left out; may be given several times.")]


@app.callback()
def select() -> None:
    """Relevant results for who does not tell the context."""


@app.command("hierarchy")
def hierarchy(
    parts: Annotated[
        list[str],
        typer.Argument(
            help="grid:8x8, decimals:south,west,north,east,digits or categories:FILE.csv (columns name, parent); "
            "several with names: place=grid:8x8 query=categories:queries.csv."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Where to write the hierarchy (JSON).")],
    order: Annotated[
        str, typer.Option(help="Which attribute becomes finer at each step from the top down: query,place,place.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Make the hierarchy of contexts that clients and server share. It is public."""
    from hubbub.personal.reading import combined, save_hierarchy

    output = Output(as_json)
    check_output(out)
    made = combined(parts, [name for name in order.split(",") if name])
    save_hierarchy(made, out)
    output.text(f"{made.contexts:,} contexts: {out}")
    output.document({"contexts": made.contexts, "digest": made.digest, "out": str(out)})


@app.command("plan")
def plan(
    tree: Annotated[Path, typer.Argument(help="The hierarchy, as `hubbub select hierarchy` writes it.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write the plan (JSON). It belongs to one person.")],
    sensitive: Annotated[
        list[str],
        typer.Option(
            "--sensitive",
            help="A context, or a node above it; place=clinic for one of several attributes; a+b: either.",
        ),
    ],
    leaves: Annotated[
        int | None, typer.Option(help="At least so many contexts for each sensitive one in what is sent.")
    ] = None,
    rise: Annotated[str | None, typer.Option(help="How much belief may rise: 0.1 is ten points of a hundred.")] = None,
    prior: Annotated[
        Path | None,
        typer.Option(
            "--prior",
            help="CSV of how often contexts occur: context, weight (or a log: shown). --rise is then for who knows it; "
            "1 is added to every context.",
        ),
    ] = None,
    finest: Annotated[int | None, typer.Option(help="Never tell more than so many levels below the top.")] = None,
    as_json: Json = False,
) -> None:
    """Plan what a person's client tells instead of the context."""
    from hubbub.personal import Combined, Cut, Prior, Sensitive
    from hubbub.personal.reading import load_hierarchy, read_weights

    output = Output(as_json)
    check_output(out, [tree, prior])
    if prior is not None and rise is None:
        raise InvalidParameter(
            "--prior says what somebody believes beforehand, and only --rise bounds what becomes of that.",
            "Add --rise 0.1, say.",
        )
    contexts = load_hierarchy(tree)
    attributes = set(contexts.attributes) if isinstance(contexts, Combined) else set()
    things = [Sensitive(*(_named(word, attributes) for word in _either(contexts, text))) for text in sensitive]
    belief = None if prior is None else Prior(contexts, read_weights(prior, contexts))
    cut = Cut.plan(contexts, things, leaves=leaves, rise=rise, prior=belief, finest=finest)
    cut.save(out)
    output.text(cut.words)
    coarser = [contexts.named(name) for name in sorted(cut.stops)]
    output.table("Told instead of what lies below", ["node", "contexts"], [[n.name, f"{n.leaves:,}"] for n in coarser])
    output.text("Not covered: " + " ".join(cut.not_covered))
    output.text(f"Keep this file for one person, and use no other for the same person: {out}")
    output.document(
        {
            "promise": cut.words,
            "not_covered": list(cut.not_covered),
            "coarser": [{"node": node.name, "contexts": node.leaves} for node in coarser],
            "digest": cut.to_dict()["digest"],
            "out": str(out),
        }
    )


@app.command("choose")
def choose(
    log: Log,
    tree: Tree,
    node: Annotated[str, typer.Option(help="The generalised context; default: the top, nothing is known.")] = "",
    k: Annotated[int, typer.Option("--k", help="How many results at most.", min=1, max=62)] = 10,
    bids: Bids = None,
    min_support: Support = 20,
    floor: Floor = 0.0,
    cost: Cost = 0.0,
    ban: Ban = None,
    as_json: Json = False,
) -> None:
    """Choose the results to send for a generalised context, and tell how good the choice is."""
    from hubbub.personal.reading import load_hierarchy

    output = Output(as_json)
    contexts = load_hierarchy(tree)
    held = _catalogue(contexts, log, bids, min_support, floor, cost, ban, 1)
    name = node or contexts.root.name
    choice, _ = held.choose(name, k)
    rows = [[result, f"{gain:.4g}"] for result, gain in zip(choice.results, choice.gains, strict=True)]
    output.table("", ["result", "adds"], rows)
    output.text(
        f"Expected {choice.value:.4g}; no choice of at most {k} brings more than {choice.bound:.4g} "
        f"(this one at least {choice.quality:.0%} of the best), all results together {choice.everything:.4g}"
        + (" before cost." if cost else ".")
    )
    output.document(
        {
            "node": name,
            "results": list(choice.results),
            "gains": list(choice.gains),
            "value": choice.value,
            "bound": choice.bound,
            "everything": choice.everything,
        }
    )


@app.command("serve")
def serve(
    log: Log,
    tree: Tree,
    bids: Bids = None,
    min_support: Support = 20,
    floor: Floor = 0.0,
    cost: Cost = 0.0,
    ban: Ban = None,
    min_leaves: Annotated[int, typer.Option(help="Refuse requests that leave fewer contexts open.", min=1)] = 1,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)] = 8082,
    as_json: Json = False,
) -> None:
    """Answer clients over HTTP: POST /v1/select. Nodes that were asked last stay in memory; Ctrl-C stops it."""
    from hubbub.personal.reading import load_hierarchy
    from hubbub.server import ServerSettings, Serving, create_select_app

    output = Output(as_json)
    held = _catalogue(load_hierarchy(tree), log, bids, min_support, floor, cost, ban, min_leaves)
    serving = Serving(create_select_app(held, settings=ServerSettings(title="Hubbub", host=host, port=port)))
    output.text(f"{serving.address}/v1/select")
    output.document({"address": f"{serving.address}/v1/select", **held.about()})
    serving.run()


@app.command("ask")
def ask(
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN", help="Your plan, as `hubbub select plan` writes it.")],
    context: Annotated[
        list[str], typer.Option("--context", help="Where you are; place=3,2 for each of several attributes.")
    ],
    server: Annotated[str, typer.Option(help="The address of a server, ending in /v1/select.")],
    pin: Annotated[Path | None, typer.Option(help="Remembers which plan you use, and refuses another one.")] = None,
    k: Annotated[int, typer.Option("--k", help="How many results at most.", min=1, max=62)] = 10,
    as_json: Json = False,
) -> None:
    """Ask a server as a client does: what is told, and what is shown."""
    from hubbub.personal import Client, ClientRefusal

    output = Output(as_json)
    several = len(context) > 1 or ("=" in context[0])
    true = dict(word.partition("=")[::2] for word in context) if several else context[0]
    try:
        shown = Client(_bytes(plan_file), pin=pin).ask(true, server, k)
    except ClientRefusal as error:
        raise InvalidInput(str(error), "See `hubbub select ask --help`.") from None
    if pin is None:
        output.note("No --pin: nothing would notice another plan, and two plans may tell together what neither does.")
    output.text(f"shown: {shown.result or 'nothing is worth showing'}")
    output.text(f"told:  {shown.sent}")
    output.document({"shown": shown.result, "told": shown.sent})


def _either(contexts: ContextHierarchy, text: str) -> list[str]:
    """`a+b` means either, but where a node is called so (C++)."""
    from hubbub.errors import UnknownKey

    for name in (text, text.partition("=")[2]):
        parts = getattr(contexts, "attributes", {"": contexts}).values()
        for tree in (contexts, *parts):
            try:
                tree.named(name)
                return [text]
            except UnknownKey:
                continue
    return text.split("+")


def _named(word: str, attributes: set[str]) -> str | dict[str, str]:
    name, equals, value = word.partition("=")
    return {name: value} if equals and name in attributes else word


def _catalogue(
    contexts: ContextHierarchy,
    log: Path,
    bids: Path | None,
    min_support: float,
    floor: float,
    cost: float,
    ban: list[str] | None,
    min_leaves: int,
) -> Catalogue:
    from hubbub.personal import Catalogue, ClickRates, LearnedTable
    from hubbub.personal.reading import read_bids, read_log

    rates = ClickRates.fit(contexts, read_log(log, contexts), min_support=min_support)
    offered = {} if bids is None else read_bids(bids, contexts)
    top = contexts.root.name
    unknown = set(offered) - set(rates.results)
    if unknown:
        raise InvalidParameter(
            f"{len(unknown)} results have a bid and were never shown.",
            "Leave them out of the bids, or show them first.",
        )
    # One bid for all contexts is a number, which needs no table of bids.
    simple = {name: found[top] if set(found) == {top} else found for name, found in offered.items()}
    held = Catalogue(LearnedTable(rates), bids=simple, floor=floor, cost=cost, most=62, min_leaves=min_leaves)
    held.ban(ban or [])
    return held


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Give the file of a plan.") from None
