"""How every command speaks: tables for people, one JSON document for programs, all else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from hubbub.errors import HubbubError

Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document on standard output and nothing else.", show_default=False),
]
"""The annotation of every command's `--json` flag."""


class Output:
    """What a command says. Under `--json` only `document` reaches standard output."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._out = Console(file=sys.stdout, highlight=False, soft_wrap=True)
        self._err = Console(file=sys.stderr, highlight=False, soft_wrap=True)

    def note(self, text: str) -> None:
        """Progress, warnings, hints: standard error, always."""
        self._err.print(text)

    def text(self, text: str) -> None:
        """The answer, for people."""
        if not self.as_json:
            self._out.print(text, markup=False)

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """The answer as a table, for people; numbers (all columns after the first) are set flush right."""
        if self.as_json:
            return
        table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
        for i, column in enumerate(columns):
            table.add_column(column, justify="left" if i == 0 else "right")
        for row in rows:
            table.add_row(*(str(cell) for cell in row))
        self._out.print(table)

    def document(self, facts: dict[str, Any]) -> None:
        """The answer, for programs."""
        if self.as_json:
            sys.stdout.write(json.dumps(facts, allow_nan=False, ensure_ascii=False, indent=2) + "\n")
            sys.stdout.flush()  # a command that goes on running has answered all the same

    @contextmanager
    def progress(self, what: str, total: int) -> Iterator[Progress]:
        """A bar on standard error while something long runs; `progress.advance(progress.task_ids[0])` moves it."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._err, transient=True, disable=not self._err.is_terminal) as bar:
            bar.add_task(what, total=total)
            yield bar


def report(error: HubbubError, as_json: bool) -> int:
    """Say what went wrong in the one style that all commands share; the exit code."""
    if as_json:
        body = {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
        sys.stdout.write(json.dumps(body, ensure_ascii=False, indent=2) + "\n")
    else:
        console = Console(file=sys.stderr, highlight=False, soft_wrap=True)
        console.print(f"[bold red]error[/] {_plain(error.message)}")
        if error.hint:
            console.print(f"[bold]hint[/]  {_plain(error.hint)}")
    return error.exit_code


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
