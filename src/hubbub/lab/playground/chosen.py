"""The series that was chosen: a sample, or a column of somebody's table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hubbub.errors import InvalidInput
from hubbub.lab.playground import samples
from hubbub.lab.playground.asked import MOST_TICKS, SeriesAsked
from hubbub.lab.playground.names import named
from hubbub.released import Keys
from hubbub.series import read_series
from hubbub.series.count_series import CountSeries

KEY = "count"


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """One count per tick, which nobody but the lab and the tab that sent it may see; and the table's columns."""

    series: CountSeries
    columns: tuple[str, ...]

    @classmethod
    def of(cls, asked: SeriesAsked) -> Chosen:
        if asked.table is not None:
            return cls._from_table(asked.table, asked.column, asked.gaps)
        if asked.sample is None:
            raise InvalidInput("No series was chosen.", "Pick a sample, or drop a CSV file.")
        return cls(sample_series(asked.sample), (KEY,))

    @classmethod
    def _from_table(cls, table: str, column: str | None, gaps: str) -> Chosen:
        whole = read_series(named(table.encode()), "The table", gaps=gaps)
        if len(whole) > MOST_TICKS:
            raise InvalidInput(
                f"The table spans {len(whole):,} ticks; here a series has at most {MOST_TICKS:,}.",
                "Take a part of it, or use `hubbub release` on the command line.",
            )
        if column is not None and column not in whole.keys:
            raise InvalidInput("The table has no such column.", "Choose one of its columns.")
        return cls(column_of(whole, column or whole.keys.names[0]), tuple(whole.keys.names))

    @property
    def key(self) -> str:
        return self.series.keys.names[0]

    def to_dict(self) -> dict[str, Any]:
        """For the tab that sent it, and for nobody else. A gap is null."""
        one = self.series
        values = [int(n) if there else None for n, there in zip(one.values[:, 0], one.present, strict=True)]
        times = None if one.start is None else [_time(one, index) for index in range(len(one))]
        seconds = None if one.length is None else one.length.total_seconds()
        facts = {
            "key": self.key,
            "seconds": seconds,
            "columns": list(self.columns),
            "ticks": len(one),
            "gaps": one.gaps,
        }
        return facts | {"values": values, "times": times}


def column_of(series: CountSeries, key: str) -> CountSeries:
    """One key of a table, as a series of its own."""
    at = series.keys.position(key)
    return CountSeries(
        Keys([key]), series.values[:, [at]], series.present, series.start, series.length, series.months
    )  # fmt: skip


def sample_series(name: str) -> CountSeries:
    """The sample of that name, with its calendar.

    >>> sample_series("calm")
    <240 ticks, 1 key, confidential>
    """
    sample = samples.load(name)
    values = sample.make()[:, None]
    there = np.full(len(values), True)
    return CountSeries(Keys([KEY]), values, there, sample.start, sample.length, sample.months)


def _time(series: CountSeries, index: int) -> str:
    start = series.tick(index).start
    assert start is not None
    return start.strftime("%Y-%m-%d %H:%M:%S")
