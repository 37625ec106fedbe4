"""`hubbub init`: a commented settings file to start from."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidInput
from hubbub.files import write_file


def command(
    path: Annotated[
        Path | None, typer.Argument(help="Where to write it; site.toml, or city.toml for a city.", show_default=False)
    ] = None,
    city: Annotated[bool, typer.Option("--city", help="A map of a city, in place of a site's pages.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there already.")] = False,
    as_json: Json = False,
) -> None:
    """Write a commented sample of a monitor's settings file."""
    out = Output(as_json)
    path = path or Path("city.toml" if city else "site.toml")
    if path.exists() and not force:
        raise InvalidInput(f"There is already a file {path}.", "Give another name, or --force to overwrite it.")
    sample = (resources.files("hubbub.monitor") / ("sample_city.toml" if city else "sample.toml")).read_bytes()
    write_file(path, sample, mode=0o600)  # the address of a store may hold a password
    out.text(f"Wrote {path}. Edit it, then: hubbub monitor {path}")
    out.document({"written": str(path)})
