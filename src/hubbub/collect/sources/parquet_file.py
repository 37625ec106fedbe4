"""Events in a Parquet file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from hubbub.collect.batch import Batch
from hubbub.collect.source import Source
from hubbub.collect.sources.times import read_times
from hubbub.errors import InvalidInput

_ROWS = 500_000


class ParquetFile(Source):
    """Reads `path` in slices. A column of times without a zone is taken as the wall clock of `zone`."""

    def __init__(self, path: str | Path, names: Mapping[str, str] | None = None, zone: str = "UTC") -> None:
        self._zone, self._at = zone, 0
        self._names = {"time": "time", "person": "person", "path": "path"} | dict(names or {})
        try:
            self._frame = pl.scan_parquet(path)
            schema = self._frame.collect_schema()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InvalidInput(f"The Parquet file cannot be read: {error}.", "Check its path and type.") from None
        missing = [name for name in self._names.values() if name not in schema]
        if missing:
            raise InvalidInput(f"The file has no column `{missing[0]}`.", "Say which hold time, person and path.")
        extra = [name for name in ("agent", "method", "status") if name in schema and name not in self._names]
        self._names |= dict(zip(extra, extra, strict=True))

    def open(self, positions: Mapping[str, str]) -> bool:
        self._at = int(positions.get("row", "0"))
        return True

    def poll(self, timeout: float = 1.0) -> Batch | None:
        del timeout
        columns = [pl.col(name).alias(column) for column, name in self._names.items()]
        part = self._frame.slice(self._at, _ROWS).select(columns).collect()
        if not part.height:
            return None
        self._at += part.height
        kind = part.schema["time"]
        if not isinstance(kind, pl.Datetime):
            part = part.with_columns(read_times(part["time"], self._zone).alias("time"))
        elif kind.time_zone is None:
            local = part["time"].dt.replace_time_zone(self._zone, ambiguous="earliest", non_existent="null")
            part = part.with_columns(local.alias("time"))
        return Batch.of(part, positions={"row": str(self._at)})
