"""`hubbub mask`: learn a person's days, plan what is shown of them, run the plan, see what it gives away."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidInput, InvalidParameter, StoreUnavailable, TickOutOfOrder, WrongUse
from hubbub.files import check_output

if TYPE_CHECKING:
    from hubbub.contexts import ContextChain, Policy, Secret

app = typer.Typer(help="Streams of contexts that do not give the sensitive ones away.", no_args_is_help=True)

Sensitive = Annotated[
    list[str],
    typer.Option(
        "--sensitive",
        help="clinic, clinic+bar (any of them), clinic@16-24 (ticks), clinic@16-24~ (ever), clinic=0.05 (delta).",
    ),
]
Plot = Annotated[Path | None, typer.Option("--plot", help="Where to write a picture of the day, as one SVG file.")]
DeltaRise = Annotated[str, typer.Option("--delta", help="How much a belief may rise: 0.1 is ten points of a hundred.")]
METHODS = ("hybrid", "simulatable", "probabilistic", "remembering", "mask-sensitive")
_DIGITS = 9


@app.callback()
def mask() -> None:
    """Streams of contexts that do not give the sensitive ones away."""


@app.command("fit")
def fit(
    days: Annotated[Path, typer.Argument(help="CSV of days: columns day, tick, context; or one day a line.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write the chain (JSON).")],
    smoothing: Annotated[
        float, typer.Option(help="Weight of how a context is left at any time of the day; 0 is plain frequencies.")
    ] = 1.0,
    unseen: Annotated[
        float, typer.Option(help="Weight of moves that were never seen; 0 holds them for impossible.")
    ] = 1.0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Learn the chain of a person's days."""
    from hubbub.contexts import ContextChain
    from hubbub.contexts.reading import read_days

    output = Output(as_json)
    check_output(out, [days])
    _check_plot(plot, [days, out])
    seen = read_days(days)
    chain = ContextChain.fit(seen, smoothing=smoothing, unseen=unseen)
    chain.save(out)
    if plot is not None:
        chain.plot(plot)
    output.text(f"{len(seen)} days, {chain.ticks} ticks, {chain.size} contexts: {out}")
    output.document({"days": len(seen), "ticks": chain.ticks, "contexts": list(chain.contexts), "out": str(out)})


@app.command("plan")
def plan(
    chain: Annotated[Path, typer.Argument(help="A chain, as `hubbub mask fit` writes it.")],
    sensitive: Sensitive,
    out: Annotated[Path, typer.Option("--out", help="Where to write the policy: .json, or the compact form.")],
    delta: DeltaRise = "0.1",
    method: Annotated[
        str, typer.Option(help="hybrid, simulatable, probabilistic, remembering or mask-sensitive.")
    ] = "hybrid",
    levels: Annotated[int, typer.Option(help="Chances of suppression are multiples of 1 / levels.")] = 10,
    also: Annotated[
        list[Path] | None,
        typer.Option("--also", help="A chain that somebody may have in mind instead: the promise holds for it, too."),
    ] = None,
    before: Annotated[
        list[Path] | None,
        typer.Option("--before", help="An earlier policy: tells what it gave away to who knows this chain."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Plan what is shown, and write the table that a device carries.

    When days were added, fit again and plan again: with `--before` for each earlier policy, and `--also` for each
    earlier chain that the new plan shall hold for.
    """
    from hubbub.contexts import Compiled, ContextChain, ForSeveral, MaskSensitive, Secret, ceiling, hindsight

    output = Output(as_json)
    if also and method not in ("hybrid", "probabilistic"):
        raise InvalidParameter(
            "A plan for several chains tosses coins.", "Leave out `--method`, or give --method probabilistic."
        )
    check_output(out, [chain, *(also or []), *(before or [])])
    model = ContextChain.load(chain)
    secrets = [Secret.parse(text) for text in sensitive]
    others, earlier = [ContextChain.load(path) for path in also or []], [Compiled.load(path) for path in before or []]
    with output.status("planning"):
        if others:
            policy: Policy = ForSeveral.plan([*others, model], secrets, delta, levels=levels)
            model = policy.chain
        else:
            policy = _planned(method, model, secrets, delta, levels)
        past = [hindsight(table, model, secrets) for table in earlier]
    naive, most = MaskSensitive.plan(model, secrets, delta).utility, ceiling(model, secrets, delta)
    compiled = policy.compile()
    compiled.save(out)
    size = out.stat().st_size
    chosen = getattr(policy, "chosen", policy)
    output.text(policy.words)
    output.table(
        "",
        ["", "shown of a day"],
        [
            [chosen.name, f"{policy.utility / model.ticks:.1%}"],
            *([] if chosen.name == "mask-sensitive" else [["mask-sensitive", f"{naive / model.ticks:.1%}"]]),
            ["no policy that keeps the promise more than", f"{most / model.ticks:.1%}"],
        ],
    )
    if past:
        output.table(
            "Earlier policies, for somebody who knows this chain",
            ["policy", "belief rises by at most", "its promise"],
            [
                [path.name, f"{look.rise:.3f}", "holds" if look.keeps else f"may exceed {float(look.policy.delta):g}"]
                for path, look in zip(before or [], past, strict=True)
            ],
        )
    output.text(f"{size} bytes: {out}")
    output.document(
        {
            "before": [
                {"policy": str(path), "rise": look.rise, "keeps": look.keeps}
                for path, look in zip(before or [], past, strict=True)
            ],
            "method": policy.name if others else method,
            "chosen": chosen.name,
            "promise": policy.words,
            "bound": None if policy.promise is None else policy.promise.to_dict(),
            "delta": str(policy.delta),
            "shown": policy.utility / model.ticks,
            "shown_by_mask_sensitive": naive / model.ticks,
            "ceiling": most / model.ticks,
            "bytes": size,
            "out": str(out),
        }
    )


@app.command("run")
def run(
    policy: Annotated[Path, typer.Argument(help="A policy, as `hubbub mask plan` writes it.")],
    day: Annotated[Path, typer.Option("--day", help="Keeps the day's decisions; a new file for each day.")],
    as_json: Json = False,
) -> None:
    """Decide about contexts on standard input, one `tick,context` a line, as they come.

    Each answer is a line `tick,context`, with nothing after the comma if it is suppressed. It is on disk before it is
    printed: stopped and started again with the same file, the day goes on. A line that cannot be decided (a tick that
    is past or beyond the day, an unknown context, no `tick,context` at all) is suppressed with a word on standard
    error, and the day goes on.
    """
    from hubbub.contexts import Compiled, Day

    output = Output(as_json)
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # what is no UTF-8 is an unknown context
    with Day(Compiled.load(policy), day) as running:
        refused = 0
        for line in sys.stdin:
            words, _, context = line.strip().partition(",")
            tick = int(words) if words.strip().isdecimal() and len(words) <= _DIGITS else None
            try:
                if tick is None:
                    raise InvalidInput(
                        "A line on standard input is not `tick,context`.", "Write 0,home for the first tick."
                    )
                shown = running.offer(tick, context.strip())
            except (WrongUse, TickOutOfOrder) as error:
                refused, shown = refused + 1, None
                output.note(f"Suppressed: {error}")
            if not as_json:
                _print(f"{'' if tick is None else tick},{shown or ''}\n", day)
        output.document({"outputs": running.outputs, "refused": refused})


def _print(answer: str, day: Path) -> None:
    try:
        sys.stdout.write(answer)
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError, ValueError):  # what is left in the buffer would fail again at the end of the process
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise StoreUnavailable(
            f"An answer cannot be printed: {error.strerror}. It is kept in {day} and counts as shown.",
            "Start again with the same file when somebody reads the answers.",
        ) from None


@app.command("explain")
def explain(
    chain: Annotated[Path, typer.Argument(help="The chain of the policy.")],
    policy: Annotated[Path, typer.Argument(help="The policy.")],
    sensitive: Sensitive,
    shown: Annotated[
        Path | None, typer.Option("--shown", help="What was shown: lines `tick,context`, as `hubbub mask run` prints.")
    ] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """What somebody believes who knows the habits, the policy, and all that was shown."""
    from hubbub.contexts import Adversary, Compiled, ContextChain, Secret

    output = Output(as_json)
    _check_plot(plot, [chain, policy, shown])
    model = ContextChain.load(chain)
    made = Compiled.load(policy).policy(model, [Secret.parse(text) for text in sensitive])
    adversary = Adversary(made)
    outputs = _outputs(shown, model.ticks)
    beliefs = sorted(adversary.about(outputs), key=lambda belief: -belief.rise)
    if plot is not None:
        adversary.plot(plot, outputs)
    most = max(float(made.delta if secret.delta is None else secret.delta) for secret in made.secrets)
    beyond = [belief for belief in beliefs if belief.rise > most + 1e-9]
    bound = made.promise
    assert bound is not None  # a table does not tell that it is a mask alone
    title = f"The ten largest rises of belief ({most:g} is what the table was made for; ▲ is beyond it)"
    rows = [
        [", ".join(b.contexts), b.tick, f"{b.prior:.3f}", f"{b.posterior:.3f}", f"{b.rise:+.3f}{' ▲' * (b in beyond)}"]
        for b in beliefs
    ]
    output.table(title, ["secret", "tick", "before", "after", "rise"], rows[:10])
    if beyond:
        output.text(
            "Beyond what the table was made for: it was planned for other secrets, another chain or another delta, or "
            "hides what is sensitive and nothing else. About what was asked here it promises nothing."
        )
    else:
        output.text(f"If it was planned for just these secrets and this chain, the policy promises: {bound}")
    output.text(f"Against whom: {bound.adversary}")
    output.text("Not covered: " + " ".join(bound.not_covered))
    output.document(
        {
            "delta": str(made.delta),
            "promise": None if beyond else str(bound),
            "beyond": len(beyond),
            "adversary": bound.adversary,
            "not_covered": list(bound.not_covered),
            "beliefs": [
                {
                    "secret": list(b.contexts),
                    "tick": b.tick,
                    "before": float(b.prior),
                    "after": float(b.posterior),
                    "rise": float(b.rise),
                }
                for b in beliefs
            ],
        }
    )


def _check_plot(plot: Path | None, others: list[Path | None]) -> None:
    """Before anything is written."""
    from hubbub.contexts.picture import check_picture

    if plot is not None:
        check_output(check_picture(plot), others)


def _planned(method: str, chain: ContextChain, secrets: list[Secret], delta: str, levels: int) -> Policy:
    from hubbub.contexts import Hybrid, MaskSensitive, Probabilistic, Remembering, Simulatable

    if method == "hybrid":
        return Hybrid.plan(chain, secrets, delta, levels=levels)
    if method == "probabilistic":
        return Probabilistic.plan(chain, secrets, delta, levels=levels)
    if method == "remembering":
        return Remembering.plan(chain, secrets, delta, levels=levels)
    if method == "simulatable":
        return Simulatable.plan(chain, secrets, delta)
    if method == "mask-sensitive":
        return MaskSensitive.plan(chain, secrets, delta)
    raise InvalidParameter(f"`--method` is one of {', '.join(METHODS)}; got {method!r}.", "hybrid is usual.")


def _outputs(path: Path | None, ticks: int) -> list[str | None]:
    """What was shown, up to the last line; nothing if there is no file."""
    if path is None:
        return []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"{path} cannot be read.", "Give what `hubbub mask run` printed.") from None
    found: dict[int, str | None] = {}
    for line in lines:
        tick, comma, context = line.partition(",")
        told, number = context.strip() or None, int(tick) if tick.isdecimal() and len(tick) <= _DIGITS else None
        if comma and told is None and (not tick or (number is not None and (number >= ticks or number in found))):
            continue  # how `run` answers what cannot be decided
        if not comma or number is None or number >= ticks:
            raise InvalidInput(f"{path}: a line is not `tick,context` of a day of {ticks} ticks.", "Mend the line.")
        found[number] = told
    return [found.get(tick) for tick in range(max(found, default=-1) + 1)]
