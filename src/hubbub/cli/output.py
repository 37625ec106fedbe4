"""How every command speaks: tables for people, one JSON document for programs, all else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from hubbub.errors import HubbubError
from hubbub.masking import masked

if TYPE_CHECKING:  # Rich takes as long to load as NumPy: `hubbub --version` and `--json` do without most of it
    from rich.console import Console
    from rich.progress import Progress

    from hubbub.released.shown import Shown

MethodOptions = Annotated[
    list[str] | None,
    typer.Option("--option", help="An option of the method, name=value (docs/methods.md); may be given several times."),
]
"""What is set about a method, for every command that runs one."""

Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document on standard output and nothing else.", show_default=False),
]
"""The annotation of every command's `--json` flag."""


class Output:
    """What a command says. Under `--json` only `document` reaches standard output."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._out = _console(sys.stdout)
        self._err = _console(sys.stderr)

    def note(self, text: str) -> None:
        """Progress, warnings, hints: standard error, always."""
        self._err.print(text, markup=False)

    def text(self, text: str) -> None:
        """The answer, for people."""
        if not self.as_json:
            self._out.print(text, markup=False)

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """The answer as a table, for people; numbers (all columns after the first) are set flush right."""
        if self.as_json:
            return
        from rich.table import Table

        table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
        for i, column in enumerate(columns):
            table.add_column(column, justify="left" if i == 0 else "right")
        for row in rows:
            table.add_row(*(str(cell) for cell in row))
        self._out.print(table)

    def shown(self, shown: Shown) -> None:
        """The answer as the table that it is shown as everywhere."""
        self.table(shown.title, shown.columns, shown.rows)
        for text in shown.below:
            self.text(text)

    def document(self, facts: dict[str, Any]) -> None:
        """The answer, for programs."""
        if self.as_json:
            sys.stdout.write(json.dumps(facts, allow_nan=False, ensure_ascii=False, indent=2) + "\n")
            sys.stdout.flush()  # a command that goes on running has answered all the same

    @contextmanager
    def progress(self, what: str, total: int) -> Iterator[Progress]:
        """A bar on standard error while something long runs; `progress.advance(progress.task_ids[0])` moves it."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._err, transient=True, disable=not self._err.is_terminal) as bar:
            bar.add_task(what, total=total)
            yield bar

    @contextmanager
    def steps(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """The bar for a function of the library that tells how many steps are done, and of how many."""
        with self.progress(what, 1) as bar:
            yield lambda done, total: bar.update(bar.task_ids[0], completed=done, total=total)

    @contextmanager
    def status(self, what: str) -> Iterator[Callable[[str], None]]:
        """One line on standard error that says what is going on, for work whose length nobody knows beforehand."""
        if not self._err.is_terminal:
            yield lambda _: None
            return
        with self._err.status(what) as line:
            yield line.update


def report(error: HubbubError, as_json: bool) -> int:
    """Say what went wrong in the one style that all commands share; the exit code."""
    message, hint = masked(error.message), masked(error.hint)  # a terminal's text ends up in tickets and logs
    if as_json:
        body = {"error": {"code": error.code, "message": message, "hint": hint}}
        sys.stdout.write(json.dumps(body, ensure_ascii=False, indent=2) + "\n")
    else:
        console = _console(sys.stderr)
        console.print(f"[bold red]error[/] {_plain(message)}")
        if hint:
            console.print(f"[bold]hint[/]  {_plain(hint)}")
    return error.exit_code


def _console(file: TextIO) -> Console:
    from rich.console import Console

    return Console(file=file, highlight=False, soft_wrap=True)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
