"""Whole series of counts from files and tables: CSV or Parquet, wide or long, with dates or without."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential.counts import MAX_COUNT
from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.released import Keys
from hubbub.series.count_series import CountSeries
from hubbub.series.frames import CALLED, as_frame
from hubbub.series.headers import EMPTY, check_names
from hubbub.series.times import Grid, all_are_days, looks_like_time, on_a_grid, read_times

GAPS = ("refuse", "zero", "predict")
TIMES = ("tick", "time", "date", "timestamp", "datetime", "day", "week", "month", "year", "hour")
COUNTS = ("count", "counts")
_SHAPE = "Expected one row per tick with one column per key (and perhaps tick or date), or rows of tick, key, count."
_GAP_HINT = (
    "If nothing was counted there, that is a 0 (`gaps` zero, --gaps zero). If counting itself was down, for a reason "
    "that has nothing to do with who came, let it be predicted (`gaps` predict, --gaps predict)."
)


def read_series(
    source: Any,
    name: str | None = None,
    *,
    keys: Keys | None = None,
    gaps: str = "refuse",
    dates: str | None = None,
) -> CountSeries:
    """Confidential counts from a file, or from the content (bytes) of one called `name`; from a DataFrame of Polars or
    pandas, or a mapping of names to lists. Errors never hold a value.

    With `keys`, these and no others, in this order; without, the columns (or keys) of the file, which then must be a
    public list: a key that is listed because somebody visited it tells of that visit. `gaps` says what a missing
    row (of a tick, or of a tick and key) or an empty cell means: "refuse", "zero" or "predict". `dates` (day-first or
    month-first) settles dates that can be read in two ways. Rows may come in any order if they have times.

    >>> series = read_series(b"date,flu\\n30.01.2026,5\\n31.01.2026,6\\n02.02.2026,7\\n", "flu.csv", gaps="zero")
    >>> series.values.ravel().tolist(), str(series.tick(2))
    ([5, 6, 0, 7], '2 (2026-02-01T00:00:00+00:00, 86400 s)')
    >>> read_series({"flu": [5, 6, 7], "measles": [0, 0, 1]})
    <3 ticks, 2 keys, confidential>
    """
    import polars as pl

    if gaps not in GAPS:
        raise InvalidParameter(f"`gaps` must be one of {', '.join(GAPS)}; got {gaps!r}.", _GAP_HINT)
    public = () if keys is None else keys.names
    if isinstance(source, (str, Path, bytes)):
        frame, called = _frame(Path(source) if isinstance(source, str) else source, name, public)
    else:
        frame, called = as_frame(source), name or CALLED
        if not isinstance(source, Mapping):  # who writes a mapping has named its columns
            check_names(frame.columns, called, public)
    lowered = {column.lower(): column for column in frame.columns}
    time, unused = _time_column(frame, keys)
    frame = frame.drop(unused)
    # An empty line of a file says nothing; in one of a single column it is an empty cell.
    if frame.width > 1 and isinstance(source, (str, Path, bytes)):
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    if {"key", "count"} <= set(lowered) and time is not None:
        names, table, grid = _long(frame, time, lowered["key"], lowered["count"], keys, called, dates)
    else:
        names, table, grid = _wide(frame, time, keys, called, dates)
    return _series(names, table, grid, gaps, called)


def _frame(source: Path | bytes, name: str | None, public: Sequence[str]) -> tuple[Any, str]:
    """The table: of a CSV file all text, of a Parquet file as it is."""
    import polars as pl

    called = name or (source.name if isinstance(source, Path) else "the series")
    kind = Path(called).suffix.lower()
    if isinstance(source, bytes) and kind not in (".csv", ".parquet"):
        kind = ".parquet" if source.startswith(b"PAR1") else ".csv"  # content without a file's name
    if kind not in (".csv", ".parquet"):
        raise InvalidInput(f"{called} is neither .csv nor .parquet.", _SHAPE)
    if isinstance(source, Path):
        try:
            content = source.read_bytes()
        except FileNotFoundError:
            raise InvalidInput(f"There is no file {called!r}.", "Check the path.") from None
        except OSError as error:
            raise InvalidInput(f"{called} cannot be read: {error.strerror}.", "Check the path.") from None
    else:
        content = source
    try:
        if kind == ".parquet":
            table = pl.read_parquet(io.BytesIO(content))
            check_names(table.columns, called, public)
            return table, called
        text = content.decode("utf-8-sig").strip("\r\n")
        head = next(csv.reader([text[: text.find("\n")] if "\n" in text else text], delimiter=separator(text)), [])
        _check_header([cell.strip() for cell in head], text, called, public)
        frame = pl.read_csv(text.encode(), separator=separator(text), infer_schema=False)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, csv.Error, OSError):  # may quote a confidential cell
        raise InvalidInput(f"{called} cannot be read as {kind[1:]}.", _SHAPE) from None
    return _named(frame.rename({column: column.strip() for column in frame.columns}), called), called


def _named(frame: Any, called: str) -> Any:
    """Every column with a name: an index that was written without one says when; an empty column says nothing."""
    if "" not in frame.columns:
        return frame
    if frame[""].null_count() == frame.height:
        return frame.drop("")
    if frame.columns[0] == "" and not any(column.lower() in TIMES for column in frame.columns):
        return frame.rename({"": "time"})
    raise InvalidInput(f"{called} has a column without a name.", "Give every column its own name.")


def separator(text: str) -> str:
    """Comma, or what the first line has more of: semicolons and tabs come out of spreadsheets."""
    head = text.split("\n", 1)[0]
    return max((",", ";", "\t"), key=head.count)


def _check_header(head: list[str], text: str, called: str, public: Sequence[str]) -> None:
    if "\0" in text or not text:
        raise InvalidInput(f"{called} cannot be read as csv: it is {'not text' if text else 'empty'}.", _SHAPE)
    check_names(head, called, public)
    if len(set(head)) < len(head):
        raise InvalidInput(f"{called} has two columns of one name.", "Give every column its own name.")


def _time_column(frame: Any, keys: Keys | None) -> tuple[str | None, list[str]]:
    """The column that says when, if there is one; and numbers of ticks beside it, which then say nothing more."""
    named = [c for c in frame.columns if c.lower() in TIMES and (keys is None or c not in keys.names)]
    unused = [c for c in named if c.lower() == "tick"] if len(named) > 1 else []
    named = [c for c in named if c not in unused]
    if len(named) > 1:
        raise InvalidInput(
            f"The columns {named[0]!r} and {named[1]!r} both say when.", "Join them into one, e.g. 2026-W05 or 2026-01."
        )
    if named or not frame.width or not frame.height:
        return (named or [None])[0], unused
    first, cells = frame.columns[0], frame[frame.columns[0]]
    is_text = str(cells.dtype) == "String" and looks_like_time(str(cells[0]).strip())
    return (str(first) if is_text or cells.dtype.is_temporal() else None), []


def _grid(frame: Any, time: str, called: str, dates: str | None) -> tuple[Grid, NDArray[np.int64]]:
    """The grid of the different times, and each row's place on it."""
    import polars as pl

    column = frame[time]
    if column.null_count():
        raise InvalidInput(f"{called}: the column {time!r} has empty cells.", "Every row needs its time.")
    if column.dtype.is_temporal() and column.dtype != pl.Time and column.dtype != pl.Duration:
        text = column.cast(pl.Datetime("us")).dt.strftime("%Y-%m-%dT%H:%M:%S%.6f")
    elif column.dtype == pl.String or column.dtype.is_integer():
        text = column.cast(pl.String)
    else:
        raise InvalidInput(f"{called}: the column {time!r} holds neither whole numbers nor dates.", _SHAPE)
    different = text.unique(maintain_order=True)
    grid = on_a_grid(read_times(different.to_list(), time, dates), time)
    place = dict(zip(different, grid.places, strict=True))
    return grid, np.array([place[cell] for cell in text], dtype=np.int64)


def _wide(
    frame: Any, time: str | None, keys: Keys | None, called: str, dates: str | None
) -> tuple[Keys, NDArray[np.float64], Grid]:
    columns = [column for column in frame.columns if column != time]
    if not frame.height or not columns:
        raise InvalidInput(f"{called} holds no counts.", _SHAPE)
    names = keys or Keys(columns)
    for column in columns:
        names.position(column)
    missing = [column for column in names if column not in columns]
    if missing:
        raise InvalidInput(
            f"{called} has no column for {missing[0]!r} ({len(missing):,} keys missing).",
            "Give 0 where nothing was counted.",
        )
    table = np.stack([_numbers(frame[column], column, called) for column in names], axis=1)
    if keys is None:
        _refuse_dates(names, table, called)
    if time is None:
        return names, table, Grid(tuple(range(len(table))))
    grid, places = _grid(frame, time, called, dates)
    if len(set(places)) < len(places):
        raise InvalidInput(f"{called} gives a tick twice.", "Give one row per tick: add rows up first.")
    full = np.full((grid.ticks, len(names)), np.nan)
    full[places] = table
    return names, full, grid


def _refuse_dates(names: Keys, table: NDArray[np.float64], called: str) -> None:
    """A column of 20260131, 20260201 that nobody called a count may say when; as counts its days would be published."""
    for column, cells in zip(names, table.T, strict=True):
        if column.lower() not in COUNTS and all_are_days(cells[~np.isnan(cells)]):
            raise InvalidInput(
                f"{called}: the column {column!r} can be read in two ways, as counts or as dates (YYYYMMDD).",
                "If it says when, call it date. If it was counted, call it count, or list it in `keys`.",
            )


def _long(
    frame: Any, time: str, key: str, count: str, keys: Keys | None, called: str, dates: str | None
) -> tuple[Keys, NDArray[np.float64], Grid]:
    """Rows of tick, key, count; a pair that is not there is a gap, as an empty cell of a wide table is."""
    import polars as pl

    if not frame.height:
        raise InvalidInput(f"{called} holds no counts.", _SHAPE)
    kinds = frame[key].cast(pl.String)
    if kinds.null_count() or (kinds == "").any():
        raise InvalidInput(f"{called}: the column {key!r} has empty cells.", "Every row needs its key.")
    if frame.select(pl.struct(time, key).is_duplicated().any()).item():
        raise InvalidInput(f"{called} gives a key twice in one tick.", "Add them up first.")
    names = keys or Keys(sorted(set(kinds)))
    grid, places = _grid(frame, time, called, dates)
    full = np.full((grid.ticks, len(names)), np.nan)
    full[places, [names.position(kind) for kind in kinds]] = _numbers(frame[count], count, called)
    return names, full, grid


def _numbers(cells: Any, column: str, called: str) -> NDArray[np.float64]:
    """A column as floats, which hold every count exactly up to 2^52; NaN where a cell is empty."""
    import polars as pl

    if cells.dtype.is_decimal():
        cells = cells.cast(pl.String)
    near = np.zeros(len(cells), dtype=np.bool_)
    if cells.dtype == pl.String:
        plain = cells.str.strip_chars()
        empty = plain.is_null() | plain.str.to_lowercase().is_in(list(EMPTY))
        numbers = plain.cast(pl.Float64, strict=False)
        wrong = (numbers.is_null() & ~empty).arg_true()
        if len(wrong):
            raise InvalidInput(
                f"{called}: the column {column!r} does not hold numbers (line {wrong[0] + 2:,} is the first).",
                "Write counts as digits alone, without separators or units.",
            )
        near = _nearly_whole(plain, numbers)
    elif cells.dtype.is_numeric():
        numbers = cells.cast(pl.Float64)
    elif cells.dtype == pl.Null:
        return np.full(len(cells), np.nan)
    else:
        raise InvalidInput(f"{called}: the column {column!r} does not hold numbers.", _SHAPE)
    values: NDArray[np.float64] = numbers.fill_null(float("nan")).to_numpy()
    for wrong_ones, why, hint in (
        (values < 0, "negative numbers", "Counts of people cannot be below zero."),
        (values > MAX_COUNT, "numbers above 2^52", "Count in a coarser public unit."),
        (
            (values != np.floor(values)) | near,
            "fractions",
            "Count in a finer public unit (cents, not euros), so that all are whole.",
        ),
    ):
        if (wrong_ones & ~np.isnan(values)).any():
            line = int(np.argmax(wrong_ones & ~np.isnan(values))) + 2
            raise InvalidInput(f"{called}: the column {column!r} has {why} (line {line:,} is the first).", hint)
    return values


def _nearly_whole(texts: Any, numbers: Any) -> NDArray[np.bool_]:
    """Where a text is not the number that a float makes of it: 5.000000000000000001 is no 5."""
    near: NDArray[np.bool_] = np.zeros(len(texts), dtype=np.bool_)
    odd = ~texts.str.contains(r"^\+?[0-9]+(\.0*)?$") & numbers.is_finite()
    for at in odd.fill_null(value=False).arg_true():
        with suppress(InvalidOperation):  # what Decimal does not read, Polars has not read as a fraction either
            near[at] = Decimal(texts[at]) != Decimal(numbers[at])
    return near


def _series(names: Keys, table: NDArray[np.float64], grid: Grid, gaps: str, called: str) -> CountSeries:
    empty = np.isnan(table)
    missing = empty.all(axis=1)
    if empty.any() and gaps != "zero":
        if gaps == "refuse":
            first, many = grid.tick_name(int(np.argmax(empty.any(axis=1)))), int(empty.sum())
            raise InvalidInput(
                f"{called} has gaps: {many:,} of {empty.size:,} counts are not there, the first in {first}.", _GAP_HINT
            )
        if empty[~missing].any():
            raise InvalidInput(
                f"{called} has ticks with counts for some keys only: a tick is measured for all keys or for none.",
                "Give 0 where nothing was counted, or leave the whole row empty.",
            )
        if missing.all():
            raise InvalidInput(f"{called} holds no counts.", _SHAPE)
    present = np.full(len(table), True) if gaps == "zero" else np.asarray(~missing)
    return CountSeries(names, np.nan_to_num(table).astype(np.int64), present, grid.start, grid.length, grid.months)
