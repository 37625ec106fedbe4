"""`hubbub demo`: a simulated news site, live, with a dashboard."""

from __future__ import annotations

import signal
import tempfile
import threading
from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.output import Json, Output
from hubbub.cli.promise import Delta, Rho


def command(
    port: Annotated[int, typer.Option(help="The port of the dashboard; 0 takes a free one.")] = 8080,
    epsilon: Annotated[
        str | None,
        typer.Option(help="How strongly each visit is protected; small is strong. 1 unless a rho is given."),
    ] = None,
    delta: Delta = None,
    rho: Rho = None,
    method: Annotated[str, typer.Option(help="The mechanism that releases the counts.")] = "navigation",
    visitors: Annotated[int, typer.Option(help="How many simulated visitors are on the site.", min=10)] = 10_000,
    seed: Annotated[int, typer.Option(help="Another number is another day on the site.")] = 1,
    seconds: Annotated[float, typer.Option(help="Stop by itself after so long; 0 means: at Ctrl-C.", min=0)] = 0.0,
    as_json: Json = False,
) -> None:
    """Show a simulated news site, live: events, bound, noise, ledger, dashboard, all on this machine."""
    from hubbub.lab.demo import HISTORY, TICK, Demo

    out = Output(as_json)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with tempfile.TemporaryDirectory(prefix="hubbub-demo-") as folder:
        budget = {"epsilon": "1" if epsilon is None and rho is None else epsilon, "delta": delta, "rho": rho}
        demo = Demo(Path(folder), port=port, seed=seed, visitors=visitors, budget=budget, method=method)
        with out.progress("playing the last two minutes", total=HISTORY // TICK) as bar:
            demo.warm_up(lambda: bar.advance(bar.task_ids[0]))
        demo.start()
        out.text(f"The dashboard: {demo.address}")
        out.text(f"{demo.guarantee}")
        out.text(f"Try methods on a series of your own: {demo.address}/lab")
        out.text(f"Curator's token, for {demo.address}/curator: {demo.curator_token}")
        out.text("Simulated visitors only. Ctrl-C stops it; nothing is kept.")
        out.document({"address": demo.address, "stream": "daily-example", "curator_token": demo.curator_token})
        try:
            stop.wait(seconds or None)
        finally:
            demo.stop()
