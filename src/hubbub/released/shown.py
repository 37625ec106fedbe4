"""Small tables for people: on a terminal, and in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

ROWS = 20
"""More rows than this are not looked at; that there are more is said instead."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A table with a title, and sentences `below` it. The first column stands flush left, the others flush right.

    >>> small = Shown("tick 0", ["key", "value"], [["front", "812 ± 28"], ["<b>", "9 ± 28"]], ["Tick 0 is the first."])
    >>> print(small)
    tick 0
    key       value
    front  812 ± 28
    <b>      9 ± 28
    Tick 0 is the first.
    >>> "<td>&lt;b&gt;</td>" in small.html
    True
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    below: Sequence[str] = ()

    def __str__(self) -> str:
        cells = [[str(cell) for cell in row] for row in (self.columns, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for first, *others in cells:
            right = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
            lines.append("  ".join([first.ljust(widths[0]), *right]).rstrip())
        return "\n".join([self.title, *lines, *self.below])

    @property
    def html(self) -> str:
        """For notebooks. Names may come from anywhere: everything is escaped."""
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in self.rows)
        said = "".join(f"<p>{escape(text)}</p>" for text in self.below)
        title = f"<caption>{escape(self.title)}</caption>"
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"


def more(total: int, noun: str) -> list[str]:
    """What is said below the first `ROWS` of `total`; nothing if those are all.

    >>> more(20, "keys"), more(1_024, "keys")
    ([], ['… and 1,004 more keys'])
    """
    return [f"… and {total - ROWS:,} more {noun}"] if total > ROWS else []
