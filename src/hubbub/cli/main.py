"""`hubbub`: finds the commands, runs one, and turns what it refused into words and an exit code.

Exit codes: 0 done, 1 refused or failed, 2 wrong use, 130 interrupted.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from hubbub.cli import commands
from hubbub.cli.output import report
from hubbub.errors import HubbubError, WrongUse
from hubbub.extras import missing
from hubbub.version import __version__

SLOGAN = "Hubbub: hear the crowd, never the person."
_USAGE = "`hubbub --help` lists the commands, `hubbub COMMAND --help` their options."


def build(only: str = "") -> typer.Typer:
    """The command line, from the modules that lie in `commands/`; `only` one of them loads no other's rooms."""
    app = typer.Typer(help=SLOGAN, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

    @app.callback(invoke_without_command=True)
    def hubbub(
        version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    ) -> None:
        if version:
            typer.echo(__version__)
            raise typer.Exit

    names = {
        module.name.rstrip("_").replace("_", "-"): module.name for module in pkgutil.iter_modules(commands.__path__)
    }
    # A word that is no command gets the whole list, so that the refusal can name the nearest.
    wanted = [only] if only in names else [] if only == "--version" else names
    for name in wanted:
        module = importlib.import_module(f"{commands.__name__}.{names[name]}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(module.command)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = build(given[0])(given, standalone_mode=False)
    except HubbubError as error:
        return report(error, as_json="--json" in given)
    except typer.Abort:
        return 130
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    except typer.TyperException as error:  # an unknown option, a missing argument: Typer's own words, our style
        return report(WrongUse(error.format_message(), _USAGE), as_json="--json" in given)
    except ModuleNotFoundError as error:
        told = missing(error)
        if told is None:
            raise
        return report(told, as_json="--json" in given)
    return code if isinstance(code, int) else 0
