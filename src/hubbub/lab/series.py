"""Whole series of counts from files, and released series to files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput
from hubbub.lab.count_reading import read_series
from hubbub.released import Keys, Release


def read_counts(path: Path, keys: Keys | None = None) -> tuple[Keys, NDArray[np.int64]]:
    """`read_series` where neither times nor gaps matter: the keys, and one row a tick in order."""
    series = read_series(path, keys=keys)
    return series.keys, series.values


def parse_counts(table: bytes, keys: Keys | None = None, called: str = "The table") -> tuple[Keys, NDArray[np.int64]]:
    """`read_counts` for CSV that is in memory already and must not touch a disk.

    >>> parse_counts(b"tick,front,news\\n0,812,240\\n1,790,251\\n")[1].tolist()
    [[812, 240], [790, 251]]
    """
    series = read_series(table, called, keys=keys)
    return series.keys, series.values


def write_releases(path: Path, releases: Sequence[Release]) -> None:
    """Released values to .csv or .parquet (one row a tick and key) or .json."""
    try:
        if path.suffix == ".json":
            path.write_text(json.dumps([release.to_dict() for release in releases]))
        elif path.suffix == ".csv":
            path.write_text(releases_as_csv(releases))
        else:
            _frame(releases).write_parquet(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.", "Choose another place.") from None


def releases_as_csv(releases: Sequence[Release]) -> str:
    """One row a tick and key, as `write_releases` writes it."""
    import polars as pl

    frame = _frame(releases)
    if "start" in frame.columns:
        frame = frame.with_columns(pl.col("start").dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    text: str = frame.write_csv(float_precision=3)
    return text


def _frame(releases: Sequence[Release]) -> Any:
    import polars as pl

    keys = releases[0].keys
    columns = ("values", "standard_errors", "lower", "upper")
    # A tick that was predicted has no measurement; detectors want those, people the values.
    nothing: list[None] = [None] * len(keys)
    measured = [nothing if r.measurements is None else r.measurements.tolist() for r in releases]
    starts = {} if releases[0].tick.start is None else {"start": [r.tick.start for r in releases for _ in keys]}
    return pl.DataFrame(
        {
            "tick": np.repeat([release.tick.index for release in releases], len(keys)),
            **starts,
            "key": list(keys) * len(releases),
            **{name.rstrip("s"): np.concatenate([getattr(r, name) for r in releases]) for name in columns},
            "measurement": pl.Series([cell for row in measured for cell in row], dtype=pl.Int64),
            "noise_variance": pl.Series([r.noise_variance for r in releases for _ in keys], dtype=pl.Float64),
        }
    )
