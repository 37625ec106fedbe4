"""A whole series as it was released."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from hubbub.files import check_output
from hubbub.privacy import Guarantee
from hubbub.released import Domain, Release, Tick, Value
from hubbub.released.shown import ROWS, Shown, more
from hubbub.released.table import pandas_of, table_of
from hubbub.series.released_files import write_released
from hubbub.series.silence import warning

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = ("value", "standard error", "95 % interval")
_MOST_CURVES = 30


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasedSeries(Sequence[Release]):
    """One release a tick, in order, with the promise that they keep together.

    `series[3]` is a release, `series["flu"]` the values of one key, tick by tick. `bound` says what whoever counted
    must have enforced: without it the guarantee does not hold.
    """

    releases: tuple[Release, ...]
    guarantee: Guarantee
    method: str
    bound: str
    read_from: Path | None = None
    """The file of the counts, if they came from one: nothing is written over it."""

    @property
    def keys(self) -> Domain:
        return self.releases[0].keys

    @property
    def measured(self) -> int:
        """How many ticks were measured; the others were predicted."""
        return sum(not release.is_predicted for release in self.releases)

    @property
    def sentence(self) -> str:
        """How it was released, in words."""
        if self.measured == len(self):
            return f"Method {self.method}: all {self.measured:,} ticks were measured."
        return f"Method {self.method}: {self.measured:,} of {len(self):,} ticks were measured, the others predicted."

    @property
    def warning(self) -> str:
        """That it says almost nothing, and what would help; empty where it says something."""
        return warning(self.releases, self.guarantee.unit)

    @overload
    def __getitem__(self, at: int) -> Release: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Release, ...]: ...
    @overload
    def __getitem__(self, at: str) -> list[Value]: ...
    def __getitem__(self, at: int | slice | str) -> Release | tuple[Release, ...] | list[Value]:
        if isinstance(at, str):
            position = self.keys.position(at)
            return [release.at(position) for release in self.releases]
        return self.releases[at]

    def __iter__(self) -> Iterator[Release]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    def to_polars(self) -> pl.DataFrame:
        """One row per tick and key, in the columns of docs/formats.md."""
        return table_of(self.releases)

    def to_pandas(self) -> Any:
        """The same as a DataFrame of pandas."""
        return pandas_of(self.to_polars())

    def write(self, path: str | Path) -> None:
        """To a file: .csv, .json, .parquet or .arrow (docs/formats.md). `hb.detect` reads it again."""
        check_output(Path(path), [self.read_from])
        write_released(Path(path), self.releases)

    def plot(self, path: str | Path) -> None:
        """A curve with its intervals for each of the largest keys, as one HTML file."""
        from hubbub.series.plots import bands

        check_output(Path(path), [self.read_from])
        columns = [np.array([getattr(r, name) for r in self.releases]) for name in ("values", "lower", "upper")]
        order = (-columns[0].mean(axis=0)).argsort()[:_MOST_CURVES]
        curves = {self.keys.names[i]: tuple(column[:, i].tolist() for column in columns) for i in order}
        ticks = [r.tick.index if r.tick.start is None else r.tick.start.isoformat() for r in self.releases]
        bands(Path(path), f"released by {self.method}", ticks, curves)

    @property
    def shown(self) -> Shown:
        """One key: its last ticks. Several: the largest of them in the last tick."""
        last = self.releases[-1]
        if len(self.keys) == 1:
            rows = [[when(r.tick), *_cells(r.at(0)), _predicted(r)] for r in self.releases[-ROWS:]]
            title = f"{self.keys.names[0]}, the last of {len(self):,} ticks"
            return Shown(title, ["tick", *_COLUMNS, ""], rows, self._said)
        order = (-last.values).argsort()[:ROWS].tolist()
        title = f"tick {when(last.tick)}, the last of {len(self):,} ({len(self.keys):,} keys)"
        rows = [[self.keys.names[i], *_cells(last.at(i)), _predicted(last)] for i in order]
        return Shown(title, ["key", *_COLUMNS, ""], rows, [*more(len(self.keys), "keys"), *self._said])

    @property
    def _said(self) -> list[str]:
        return [self.warning] if self.warning else []

    def __str__(self) -> str:
        return str(self.shown)

    def __repr__(self) -> str:
        ticks, short = f"{len(self):,} tick{'' if len(self) == 1 else 's'}", self.guarantee.short
        return f"<ReleasedSeries: {ticks}, {self.keys!r}, {self.method}, {short}>"

    def _repr_html_(self) -> str:
        shown = self.shown
        return Shown(shown.title, shown.columns, shown.rows, [*shown.below, self.sentence, str(self.guarantee)]).html


def when(tick: Tick) -> str:
    """A tick's time as people write it; its number where it has none."""
    start = tick.start
    if start is None:
        return str(tick.index)
    return f"{start:%Y-%m-%d}" if start.hour == start.minute == start.second == 0 else f"{start:%Y-%m-%d %H:%M:%S}"


def _predicted(release: Release) -> str:
    return "predicted" if release.is_predicted else ""


def _cells(value: Value) -> list[str]:
    upper = f"{value.upper:,.0f}" if math.isfinite(value.upper) else "…"
    error = f"{value.standard_error:,.3g}" if math.isfinite(value.standard_error) else "unknown"
    return [f"{value.value:,.0f}", error, f"{value.lower:,.0f} to {upper}"]
