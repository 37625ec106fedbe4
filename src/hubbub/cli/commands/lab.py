"""`hubbub lab`: the Playground on this machine, without a store."""

from __future__ import annotations

from typing import Annotated

import typer

from hubbub.cli.output import Json, Output


def command(
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)] = 8081,
    host: Annotated[
        str, typer.Option(help="The address to listen on; the Lab is meant for this machine.")
    ] = "127.0.0.1",
    lab_anywhere: Annotated[
        bool, typer.Option("--lab-anywhere", help="Let other machines reach the Lab, which holds confidential data.")
    ] = False,
    json: Json = False,
) -> None:
    """Try methods on a series of your own, or on samples, in the browser. Nothing is stored; Ctrl-C stops it."""
    from hubbub.lab.playground import Playground
    from hubbub.server import ServerSettings, Serving, create_lab_app

    output = Output(json)
    settings = ServerSettings(title="Hubbub Lab", host=host, port=port)
    serving = Serving(create_lab_app(Playground(), settings=settings, anywhere=lab_anywhere))
    output.text(f"The Playground: {serving.address}/lab")
    output.note("What you drop there stays in your browser's tab and in this process. Ctrl-C stops it.")
    output.document({"address": f"{serving.address}/lab"})
    serving.run()
