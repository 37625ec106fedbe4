"""Public sessions from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hubbub.errors import HubbubError, InvalidInput
from hubbub.models.sessions import Sessions
from hubbub.released import Keys

_COLUMNS = "Expected the columns `session` and `key` (rows in the order of visits), and `tick` if it is known."


def read_sessions(path: Path, keys: Keys | None = None) -> Sessions:
    """Sessions from CSV, JSON lines or Parquet: one row per visit, with `session`, `key` and perhaps `tick`.

    Without `keys`, they are the keys that occur, in the order of their names. With a column `tick`, a session begins
    at its first row's tick.
    """
    import polars as pl

    kind = path.suffix.lower()
    readers: dict[str, Any] = {
        ".csv": pl.read_csv, ".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson, ".ndjson": pl.read_ndjson,
    }  # fmt: skip
    if kind not in readers:
        raise InvalidInput(f"{path.name} is none of .csv, .jsonl, .ndjson, .parquet.", _COLUMNS)
    if not path.is_file():
        raise InvalidInput(f"There is no file {path.name!r}.", "Check the path.")
    try:
        frame = readers[kind](path)
    except HubbubError:
        raise
    except Exception as error:  # Polars has many errors of its own; all of them mean this
        raise InvalidInput(f"{path.name} cannot be read: {str(error).splitlines()[0]}", _COLUMNS) from None
    missing = {"session", "key"} - set(frame.columns)
    if missing:
        raise InvalidInput(f"{path.name} has no column `{sorted(missing)[0]}`.", _COLUMNS)
    if frame.select(pl.col("session", "key").is_null().any()).row(0) != (False, False):
        raise InvalidInput(f"{path.name} has a row without a session or a key.", "Leave such rows out.")
    # Visits of one session may be spread over the file: a stable sort by first appearance brings them together.
    frame = frame.with_columns(pl.col("key").cast(pl.String), _row=pl.int_range(pl.len()))
    frame = frame.with_columns(_first=pl.col("_row").min().over("session")).sort("_first", "_row")
    names = keys or Keys(sorted(frame["key"].unique().to_list()) or ["nothing"])
    places = {name: i for i, name in enumerate(names)}
    unknown = [name for name in frame["key"].unique().to_list() if name not in places]
    if unknown:
        raise InvalidInput(
            f"{path.name} visits {unknown[0]!r}, which is not among the given keys ({len(unknown):,} such).",
            "Give all keys, or none.",
        )
    visits = np.array([places[name] for name in frame["key"]], dtype=np.int32)
    groups = frame.group_by("_first", maintain_order=True).agg(
        pl.len().alias("visits"), *([pl.col("tick").first()] if "tick" in frame.columns else [])
    )
    bounds = np.concatenate([[0], np.cumsum(groups["visits"].to_numpy())]).astype(np.int64)
    starts = None
    if "tick" in frame.columns:
        if not frame["tick"].dtype.is_integer() or frame["tick"].null_count():
            raise InvalidInput(f"{path.name} has a `tick` that is not a whole number.", _COLUMNS)
        starts = groups["tick"].to_numpy().astype(np.int64)
    return Sessions(names, visits, bounds, starts)
