"""`hubbub serve`: the dashboard and the API over a store, without a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hubbub.cli.output import Json, Output

if TYPE_CHECKING:
    from hubbub.lab.playground import Playground


def command(
    store: Annotated[str, typer.Argument(help="The store: a path, sqlite:///path or postgresql://….")],
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 means every network.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)] = 8080,
    public: Annotated[bool, typer.Option("--public", help="Let anyone read, without a token.")] = False,
    title: Annotated[str, typer.Option(help="The site's name, at the top of every page.")] = "Hubbub",
    lab: Annotated[bool, typer.Option("--lab", help="Add the Lab, where series are compared with the truth.")] = False,
    lab_anywhere: Annotated[
        bool, typer.Option("--lab-anywhere", help="Like --lab, but other machines may reach it: confidential data.")
    ] = False,
    json: Json = False,
) -> None:
    """Serve the dashboard and the API of a store that a monitor elsewhere fills.

    It only reads: events are sent to the monitor. Stops on Ctrl-C or SIGTERM.
    """
    from hubbub.errors import InvalidParameter
    from hubbub.monitor.list_facts import AboutLists
    from hubbub.server import ServerSettings, Serving, create_app
    from hubbub.store import Store

    if len(title) > 80:
        raise InvalidParameter("`--title` must be at most 80 characters long.", "It stands in the bar of every page.")
    output = Output(json)
    settings = ServerSettings(title=title, host=host, port=port, public=public)
    with Store.open(store, create=False) as opened:
        playground = _playground() if lab or lab_anywhere else None
        app = create_app(opened, settings=settings, items=AboutLists(), lab=playground, lab_anywhere=lab_anywhere)
        serving = Serving(app)
        output.note(f"Serving on {serving.address} ({'open to all' if public else 'with a token'}). Ctrl-C stops it.")
        output.document({"address": serving.address, "public": public})
        serving.run()


def _playground() -> Playground:
    from hubbub.lab.playground import Playground

    return Playground()
