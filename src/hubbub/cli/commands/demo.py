"""`hubbub demo`: a simulated news site or city, live, with a dashboard."""

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
    city: Annotated[bool, typer.Option("--city", help="A city's traffic on a map, in place of the news site.")] = False,
    port: Annotated[int, typer.Option(help="The port of the dashboard; 0 takes a free one.")] = 8080,
    epsilon: Annotated[
        str | None,
        typer.Option(help="How strongly each visit or trip is protected; small is strong. 1 unless a rho is given."),
    ] = None,
    delta: Delta = None,
    rho: Rho = None,
    method: Annotated[
        str | None, typer.Option(help="The mechanism that releases the counts: navigation, or roads for the city.")
    ] = None,
    visitors: Annotated[
        int | None,
        typer.Option(
            help="How many simulated visitors are on the site (10,000), or vehicles on the road (30,000).", min=10
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another number is another day on the site, or another city.")] = 1,
    seconds: Annotated[float, typer.Option(help="Stop by itself after so long; 0 means: at Ctrl-C.", min=0)] = 0.0,
    as_json: Json = False,
) -> None:
    """Show a simulated news site or city, live: events, bound, noise, ledger, dashboard, all on this machine."""
    from hubbub.lab.demo import Demo
    from hubbub.lab.demo_worlds import CityWorld, NewsWorld, World

    out = Output(as_json)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with tempfile.TemporaryDirectory(prefix="hubbub-demo-") as folder:
        budget = {"epsilon": "1" if epsilon is None and rho is None else epsilon, "delta": delta, "rho": rho}
        world: World = CityWorld(seed, visitors or 30_000) if city else NewsWorld(seed, visitors or 10_000)
        demo = Demo(Path(folder), world, port=port, budget=budget, method=method)
        demo.open()
        try:
            out.text(f"The dashboard: {demo.address}")
            out.text(f"{demo.guarantee}")
            out.text(f"Try methods on a series of your own: {demo.address}/lab")
            out.text(f"Curator's token, for {demo.address}/curator: {demo.curator_token}")
            out.text(f"Simulated {'vehicles' if city else 'visitors'} only. Ctrl-C stops it; nothing is kept.")
            with out.progress("playing the last two minutes", total=world.history // world.tick) as bar:
                demo.warm_up(lambda: bar.advance(bar.task_ids[0]), stop)
            demo.start()
            out.document({"address": demo.address, "stream": world.stream, "curator_token": demo.curator_token})
            stop.wait(seconds or None)
        finally:
            demo.stop()
