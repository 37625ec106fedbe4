"""Tables that a program holds already: Polars and pandas DataFrames, and mappings of lists."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from hubbub.errors import InvalidInput

CALLED = "the table"
_BOOLEANS = {bool, np.bool_}
_KINDS = "Give a path, the bytes of a file, a DataFrame of Polars or pandas, or a mapping of names to lists."


def as_frame(source: Any) -> Any:
    """The table as a Polars DataFrame, its cells as they are. Errors never hold a value."""
    import polars as pl

    if isinstance(source, pl.LazyFrame):
        return as_frame(source.collect())
    if isinstance(source, pl.DataFrame):
        return source
    columns = _pandas(source) if _is_pandas(source) else source
    if not isinstance(columns, Mapping):
        raise InvalidInput(f"A series cannot be read from {type(source).__name__}.", _KINDS)
    for name in columns:
        if not isinstance(name, str) or not name:
            raise InvalidInput(
                f"{CALLED} has a column whose name is no text (of type {type(name).__name__}).",
                "Every column is a key or says when: rename it, e.g. with str(name).",
            )
    _check_lengths(columns)
    return pl.DataFrame([_column(name, cells) for name, cells in columns.items()])


def _check_lengths(columns: Mapping[str, Any]) -> None:
    lengths = set()
    for name, cells in columns.items():
        listed = hasattr(cells, "__len__") and hasattr(cells, "__iter__") and getattr(cells, "ndim", 1) == 1
        if isinstance(cells, (str, bytes)) or not listed:
            raise InvalidInput(f"{CALLED}: {name!r} is no list.", "Give one list per key, with one count per tick.")
        lengths.add(len(cells))
    if len(lengths) > 1:
        raise InvalidInput(f"{CALLED} has columns of different lengths.", "Give one cell per tick, None where none is.")


def _column(name: str, cells: Any) -> Any:
    import polars as pl

    kinds = set() if isinstance(cells, np.ndarray) else {type(cell) for cell in cells}
    if kinds & _BOOLEANS and kinds - _BOOLEANS - {type(None)}:  # Polars would make numbers of them
        raise InvalidInput(
            f"{CALLED}: some cells of {name!r} are booleans, and no numbers.",
            "Give how many were counted; for one that is there or not, 0 or 1.",
        )
    try:
        return pl.Series(name, cells if isinstance(cells, np.ndarray) else [_cell(cell) for cell in cells])
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):  # may quote a confidential cell
        raise InvalidInput(
            f"{CALLED}: the cells of {name!r} are of several kinds, or of none that is known.",
            "Give whole numbers, or dates.",
        ) from None


def _is_pandas(source: Any) -> bool:
    """Whether it is a DataFrame of pandas, which is not needed here: told by its name and what is used of it."""
    kind = type(source)
    return kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == "DataFrame"


def _pandas(frame: Any) -> dict[Any, list[Any]]:
    """The columns; an index that was set says when, the numbers from 0 on that a table has by itself say nothing."""
    if not frame.columns.is_unique:
        raise InvalidInput(f"{CALLED} has two columns of one name.", "Give every column its own name.")
    columns: dict[Any, list[Any]] = {}
    if type(frame.index).__name__ != "RangeIndex":
        index = frame.index.to_frame(index=False)
        if index.shape[1] > 1:
            raise InvalidInput(f"{CALLED} has an index of several levels.", "Make columns of them: reset_index().")
        name = frame.index.name or "time"
        if name in frame.columns:
            raise InvalidInput(f"{CALLED} has an index and a column of one name, {name!r}.", "Rename one of them.")
        columns[name] = _cells(index.iloc[:, 0])
    return {**columns, **{name: _cells(frame[name]) for name in frame.columns}}


def _cells(column: Any) -> list[Any]:
    """Plain Python cells, None where there is none; a period (a week, a month) is its first moment."""
    if type(column.dtype).__name__ == "PeriodDtype":
        column = column.dt.to_timestamp()
    there = column.notna().tolist()
    return [_cell(cell) if is_there else None for cell, is_there in zip(column.tolist(), there, strict=True)]


def _cell(cell: Any) -> Any:
    """Moments with a time zone in UTC; those of pandas as plain ones. None where there is nothing: NaN is a gap."""
    if isinstance(cell, datetime):
        if cell != cell:  # pandas' "not a time"
            return None
        plain = cell.to_pydatetime() if hasattr(cell, "to_pydatetime") else cell
        return plain if plain.tzinfo is None else plain.astimezone(UTC).replace(tzinfo=None)
    if isinstance(cell, (float, np.floating)) and cell != cell:  # beside whole numbers it would be another kind of cell
        return None
    return cell
