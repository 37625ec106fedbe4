"""The reference page of all commands, made from the commands themselves.

python -m hubbub.cli.commands_page > docs/commands.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer.main

from hubbub.cli.main import build

_HEAD = """# Commands

Made by `python -m hubbub.cli.commands_page > docs/commands.md`; a test keeps it true.

Every command takes `--json` and then prints one JSON document on standard output and nothing else; progress and
warnings go to standard error. Exit codes: 0 done, 1 refused or failed, 2 wrong use, 130 interrupted.
"""


def commands_page() -> str:
    """The whole page."""
    root = typer.main.get_command(build())
    return "\n".join([_HEAD, *_pages("hubbub", root)]).rstrip() + "\n"


def _pages(path: str, command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for name in sorted(command.commands):
            yield from _pages(f"{path} {name}", command.commands[name])
        return
    yield f"## `{path}`\n"
    yield f"{(command.help or '').strip()}\n"
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    if rows:
        yield "| option | meaning | default |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _row(parameter: Any) -> str:
    positional = parameter.param_type_name == "argument"
    shown = (
        f"`{parameter.name.upper()}`"
        if positional
        else ", ".join(f"`{o}`" for o in (*parameter.opts, *parameter.secondary_opts))
    )
    default = parameter.default
    if parameter.required:
        value = "required"
    elif default is None or default is False or default == [] or callable(default):
        value = ""
    else:
        value = f"`{default}`"
    meaning = (getattr(parameter, "help", None) or "").replace("|", "\\|").replace("\n", " ")
    return f"| {shown} | {meaning} | {value} |"


if __name__ == "__main__":
    sys.stdout.write(commands_page())
