"""`hubbub monitor`: from an event stream to a public dashboard."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.output import Json, Output


def command(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The settings file; `hubbub init` writes a sample.")],
    check: Annotated[bool, typer.Option("--check", help="Check the settings and stop; nothing is started.")] = False,
    serve: Annotated[bool, typer.Option(help="Serve the API and the dashboard too.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing on each tick.")] = False,
    as_json: Json = False,
) -> None:
    """Run a live monitor: collect, bound, release, store and serve, until SIGTERM or Ctrl-C."""
    from hubbub.monitor.settings import MonitorSettings
    from hubbub.monitor.toml import read_toml

    out = Output(as_json)
    settings = read_toml(path, MonitorSettings)
    if check:
        out.text(f"{path} is in order. {settings.privacy.guarantee()}")
        out.document({"settings": settings.model_dump(mode="json"), "guarantee": str(settings.privacy.guarantee())})
        return

    from hubbub.monitor.running import Running

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with Running(settings, serve=serve, say=lambda line: None if quiet else out.note(line)) as running:
        out.text(str(settings.privacy.guarantee()))
        if running.address:
            out.text(f"The dashboard: {running.address}")
        while not stop.wait(0.2) and not running.finished:
            pass
    out.document({"stream": settings.stream.name, "last_tick": running.last_tick})
