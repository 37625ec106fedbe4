"""Events in a Parquet file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from hubbub.collect.batch import Batch
from hubbub.collect.layout import PATHS, Layout
from hubbub.collect.machine import machine_name
from hubbub.collect.source import Source
from hubbub.collect.sources.csv_lines import columns_of
from hubbub.collect.sources.line_file import unchanged
from hubbub.collect.sources.times import read_times
from hubbub.errors import InvalidInput

_ROWS = 500_000


class ParquetFile(Source):
    """Reads `path` once, in slices. A column of times without a zone is taken as the wall clock of `zone`.

    Each row is read by itself. A position is the number of rows read, with the file's size and time of change: if they
    are another's when the file is opened again, it is not the file that was read.
    """

    def __init__(
        self, path: str | Path, names: Mapping[str, str] | None = None, zone: str = "UTC", layout: Layout = PATHS
    ) -> None:
        self._path, self._zone, self._at, self._layout = Path(path), zone, 0, layout
        try:
            self._facts = unchanged(self._path)
            self._frame = pl.scan_parquet(path, glob=False)
            schema = self._frame.collect_schema()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InvalidInput(f"The Parquet file cannot be read: {error}.", "Check its path and type.") from None
        self._names = columns_of(layout, list(schema), names or {})

    @property
    def identity(self) -> str:
        return f"file:{machine_name()}:{self._path.absolute()}"

    def open(self, positions: Mapping[str, str]) -> bool:
        row, _, facts = positions.get("row", "").partition(":")
        proved = facts == self._facts and row.isascii() and row.isdigit()
        self._at = int(row) if proved else 0
        return proved

    def frontier(self) -> None:
        """A file that is read once is over when `poll` says so: there is nothing to cut before."""
        return

    def poll(self, until: Mapping[str, str] | None = None) -> Batch | None:
        del until
        columns = [pl.col(name).alias(column) for column, name in self._names.items()]
        try:
            part = self._frame.slice(self._at, _ROWS).select(columns).collect()
        except (OSError, pl.exceptions.PolarsError):
            # The error itself may quote what the file holds.
            raise InvalidInput(
                f"The Parquet file cannot be read beyond row {self._at}: it is damaged or was changed.",
                "Write it anew, and start again.",
            ) from None
        if not part.height:
            return None
        self._at += part.height
        kind = part.schema["time"]
        if not isinstance(kind, pl.Datetime):
            part = part.with_columns(read_times(part["time"], self._zone).alias("time"))
        elif kind.time_zone is None:
            local = part["time"].dt.replace_time_zone(self._zone, ambiguous="earliest", non_existent="null")
            part = part.with_columns(local.alias("time"))
        return Batch.of(part, layout=self._layout, positions={"row": f"{self._at}:{self._facts}"}, reached=True)
