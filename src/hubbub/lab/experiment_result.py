"""What every experiment of the papers returns: rows, tables, words and plots; and how they are written to a folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from hubbub.errors import InvalidInput
from hubbub.files import write_file
from hubbub.series.plots import bands, lines

Row = dict[str, Any]
Point = tuple[Any, float, float]
"""x, y, and the standard error of y."""


@dataclass(frozen=True, slots=True)
class Table:
    """A title, columns and rows of cells."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class Plot(Protocol):
    """A drawing with the name of its file."""

    @property
    def name(self) -> str: ...

    def write(self, path: Path) -> None: ...


@dataclass(frozen=True, slots=True)
class Lines:
    """One line per name, through points with their errors."""

    name: str
    title: str
    x: str
    y: str
    points: Mapping[str, Sequence[Point]]
    log_x: bool = False
    log_y: bool = False

    def write(self, path: Path) -> None:
        lines(path, self.title, self.x, self.y, self.points, log_x=self.log_x, log_y=self.log_y)


@dataclass(frozen=True, slots=True)
class Bands:
    """Series over time, each with its interval."""

    name: str
    title: str
    ticks: Sequence[Any]
    series: Mapping[str, tuple[Any, Any, Any]]

    def write(self, path: Path) -> None:
        bands(path, self.title, self.ticks, self.series)


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """What an experiment found: the rows as numbers, and as tables and plots with a closing word.

    `more` are further rows by name, of another kind than the first.
    """

    rows: Sequence[Row]
    tables: Sequence[Table]
    words: str
    plots: Sequence[Plot] = ()
    more: Mapping[str, Sequence[Row]] = field(default_factory=dict)

    def write(self, folder: Path, name: str) -> list[Path]:
        """All rows as CSV, all plots as HTML; the files."""
        sheets = {f"{name}.csv": self.rows, **{f"{name}_{part}.csv": rows for part, rows in self.more.items()}}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file, rows in sheets.items():
                _write_rows(folder / file, rows)
            drawn = [folder / f"{name}_{plot.name}.html" for plot in self.plots]
            for plot, path in zip(self.plots, drawn, strict=True):
                plot.write(path)
        except OSError as error:
            raise InvalidInput(f"{folder} cannot be written: {error.strerror}.", "Choose another folder.") from None
        return [*(folder / file for file in sheets), *drawn]


def points_of(rows: Sequence[Row], line: str, x: str, y: str, error: str) -> dict[str, list[Point]]:
    """Rows as lines: one for each value of the column `line`.

    >>> points_of([{"m": "lpa", "e": 1, "off": 0.5, "off_error": 0.1}], "m", "e", "off", "off_error")
    {'lpa': [(1, 0.5, 0.1)]}
    """
    points: dict[str, list[Point]] = {}
    for row in rows:
        points.setdefault(row[line], []).append((row[x], row[y], row.get(error) or 0.0))
    return points


def _write_rows(path: Path, rows: Sequence[Row]) -> None:
    fields = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=fields)
    writer.writeheader()
    writer.writerows(rows)
    write_file(path, text.getvalue().encode())
