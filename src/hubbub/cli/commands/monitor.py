"""`hubbub monitor`: from an event stream to a public dashboard."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import Json, Output

if TYPE_CHECKING:
    from hubbub.monitor.settings import MonitorSettings


def command(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The settings file; `hubbub init` writes a sample.")],
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Check the settings, also against the store, and stop; nothing is started or changed."
        ),
    ] = False,
    serve: Annotated[bool, typer.Option(help="Serve the API and the dashboard too.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing on each tick.")] = False,
    as_json: Json = False,
) -> None:
    """Run a live monitor: collect, bound, release, store and serve, until SIGTERM or Ctrl-C."""
    from hubbub.monitor.settings import MonitorSettings
    from hubbub.monitor.toml import read_toml, to_plain

    out = Output(as_json)
    settings = read_toml(path, MonitorSettings)
    if check:
        from hubbub.monitor.assembly import check as check_settings

        for remark in check_settings(settings):
            out.note(remark)
        out.text(f"{path} is in order. {_promise(settings)}")
        out.document({"settings": to_plain(settings), "guarantee": str(settings.guarantee)})
        return

    from hubbub.monitor.running import Running

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())

    def say(line: str) -> None:
        if not (quiet and line.startswith("tick ") and "  cost " in line):  # trouble is said all the same
            out.note(line)

    with Running(settings, serve=serve, say=say) as running:
        out.text(_promise(settings))
        if running.address:
            out.text(f"The dashboard: {running.address}")
        while not stop.wait(0.2) and not running.finished:
            pass
    out.document({"stream": settings.stream.name, "last_tick": running.last_tick})


def _promise(settings: MonitorSettings) -> str:
    """The promise of the grant, and how much of it is this stream's."""
    part = settings.part()
    drawn = "" if part.share == 1 else f" Of this grant, {part.grant.name}, the stream draws {part.share}."
    return f"{part.grant.guarantee}{drawn}"
