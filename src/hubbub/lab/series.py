"""Whole series of counts from files, and released series to files."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput
from hubbub.released import Keys, Release

_TIMES = ("tick", "time", "date", "timestamp")
_SHAPE = "Expected one row a tick with one column a key (and perhaps tick or time), or rows of tick, key, count."


def read_counts(path: Path, keys: Keys | None = None) -> tuple[Keys, NDArray[Any]]:
    """Confidential counts, one row a tick in order. Errors name a column, never a value.

    With `keys`, these and no others, in this order; without, the columns (or keys) of the file, which then must be a
    public list: a key that is listed because somebody visited it tells of that visit.
    """
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InvalidInput(f"{path.name} is neither .csv nor .parquet.", _SHAPE)
    if not path.is_file():
        raise InvalidInput(f"There is no file {path.name!r}.", "Check the path.")
    return _counts(path, kind, path.name, keys)


def parse_counts(table: bytes, keys: Keys | None = None, called: str = "The table") -> tuple[Keys, NDArray[Any]]:
    """`read_counts` for CSV that is in memory already and must not touch a disk.

    >>> parse_counts(b"tick,front,news\\n0,812,240\\n1,790,251\\n")[1].tolist()
    [[812, 240], [790, 251]]
    """
    return _counts(io.BytesIO(table), ".csv", called, keys)


def _counts(file: Path | io.BytesIO, kind: str, called: str, keys: Keys | None) -> tuple[Keys, NDArray[Any]]:
    import polars as pl

    try:
        frame = pl.read_csv(file, infer_schema_length=None) if kind == ".csv" else pl.read_parquet(file)
    except Exception:  # the reader's message may quote a confidential cell
        raise InvalidInput(f"{called} cannot be read as {kind[1:]}.", _SHAPE) from None
    if {"tick", "key", "count"} <= set(frame.columns):
        frame = _widened(frame, called, keys)
    frame = frame.drop([name for name in frame.columns if name.lower() in _TIMES])
    if not frame.height or not frame.width:
        raise InvalidInput(f"{called} holds no counts.", _SHAPE)
    for name in frame.columns:
        if not frame[name].dtype.is_numeric():
            raise InvalidInput(f"The column {name!r} of {called} does not hold numbers.", _SHAPE)
        if frame[name].null_count():
            raise InvalidInput(
                f"The column {name!r} of {called} has {frame[name].null_count():,} empty cells.",
                "Give 0 where nothing was counted.",
            )
    names = keys or Keys(frame.columns)
    for name in frame.columns:
        names.position(name)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InvalidInput(
            f"{called} has no column for {missing[0]!r} ({len(missing):,} keys missing).",
            "Give 0 where nothing was counted.",
        )
    return names, frame.select(names.names).to_numpy()


def _widened(frame: Any, called: str, keys: Keys | None) -> Any:
    """Rows of tick, key, count as one column a key; a pair that is not there counts as nothing."""
    import polars as pl

    if not frame["tick"].dtype.is_integer():
        raise InvalidInput(f"The column `tick` of {called} does not hold whole numbers.", _SHAPE)
    if frame.select(pl.struct("tick", "key").is_duplicated().any()).item():
        raise InvalidInput(f"{called} gives a key twice in one tick.", "Add them up first.")
    first, last = frame["tick"].min(), frame["tick"].max()
    if last - first >= 10_000_000:
        raise InvalidInput(f"{called} spans more than ten million ticks.", "Number ticks from 0 on.")
    wide = frame.with_columns(pl.col("key").cast(pl.String)).pivot(on="key", index="tick", values="count")
    ticks = pl.DataFrame({"tick": np.arange(first, last + 1)}).with_columns(pl.col("tick").cast(wide["tick"].dtype))
    wide = ticks.join(wide, on="tick", how="left").sort("tick")
    absent = [pl.lit(0).alias(name) for name in keys or () if name not in wide.columns]
    return wide.select("tick", *sorted(name for name in wide.columns if name != "tick"), *absent).fill_null(0)


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
    text: str = _frame(releases).write_csv(float_precision=3)
    return text


def _frame(releases: Sequence[Release]) -> Any:
    import polars as pl

    keys = releases[0].keys
    columns = ("values", "standard_errors", "lower", "upper")
    return pl.DataFrame(
        {
            "tick": np.repeat([release.tick.index for release in releases], len(keys)),
            "key": list(keys) * len(releases),
            **{name.rstrip("s"): np.concatenate([getattr(r, name) for r in releases]) for name in columns},
        }
    )
