"""Releases back from the files that `write_releases` wrote."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.errors import InvalidInput
from hubbub.released import Keys, Release, Tick

_COLUMNS = ("tick", "key", "value", "standard_error", "lower", "upper", "measurement", "noise_variance")
_HINT = "Give a file that `hubbub release --out` wrote, .csv or .parquet."


def read_releases(path: Path) -> list[Release]:
    """Every tick's release, in order; what it cost is not in the file."""
    import polars as pl

    if path.suffix not in (".csv", ".parquet") or not path.is_file():
        raise InvalidInput(f"{path.name} is no .csv or .parquet file that can be found.", _HINT)
    try:
        if path.suffix == ".csv":
            frame = pl.read_csv(path, schema_overrides={"key": pl.String, "start": pl.String}, infer_schema_length=None)
        else:
            frame = pl.read_parquet(path)
        frame = frame.with_columns(
            pl.col("tick").cast(pl.Int64),
            pl.col("key").cast(pl.String),
            pl.col("measurement").cast(pl.Int64),
            *(pl.col(name).cast(pl.Float64) for name in (*_COLUMNS[2:6], "noise_variance")),
        )
    except (pl.exceptions.PolarsError, OSError):
        raise InvalidInput(f"{path.name} does not hold releases.", _HINT) from None
    names = frame["key"].unique(maintain_order=True).to_list()
    ticks = frame["tick"].unique(maintain_order=True).to_list()
    whole = frame.select(pl.struct("tick", "key").n_unique()).item() == len(frame) == len(names) * len(ticks)
    if not ticks or not whole or None in names or ticks != sorted(ticks):
        raise InvalidInput(f"{path.name} does not hold one row for each tick and key, in order.", _HINT)
    keys, starts = Keys(names), _starts(frame, len(names))
    columns = {name: frame[name].to_numpy().reshape(len(ticks), len(names)) for name in _COLUMNS[2:6]}
    length = min((two - one for one, two in pairwise(starts)), default=None)
    measured = frame["measurement"].to_list()
    releases = []
    for row, index in enumerate(ticks):
        some = measured[row * len(names) : (row + 1) * len(names)]
        seen = None if None in some else np.array(some, dtype=np.int64)
        noise = None if seen is None else float(frame["noise_variance"][row * len(names)] or 0.0)
        value, error, lower, upper = (columns[name][row].copy() for name in _COLUMNS[2:6])
        tick = Tick(index) if length is None else Tick(index, starts[row], length)
        releases.append(Release(tick, keys, value, error, lower, upper, seen, noise))
    return releases


def _starts(frame: Any, keys: int) -> list[datetime]:
    """When each tick began, if the file says so."""
    if "start" not in frame.columns:
        return []
    found = []
    for cell in frame["start"].to_list()[::keys]:
        try:
            moment = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell))
        except ValueError:
            return []
        found.append(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    return found
