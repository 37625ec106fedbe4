"""The one table of released values: a row per tick and key. docs/formats.md lists its columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub.errors import InvalidInput, MissingExtra
from hubbub.released.cost import Cost
from hubbub.released.domain import Domain
from hubbub.released.grid import Grid
from hubbub.released.keys import Keys
from hubbub.released.release import Release
from hubbub.released.tick import Tick

if TYPE_CHECKING:
    import polars as pl

NUMBERS = {"value": "values", "standard_error": "standard_errors", "lower": "lower", "upper": "upper"}
"""Columns of the table that are arrays of a release."""

COLUMNS = (
    "tick", "start", "key", *NUMBERS, "measurement", "noise_variance", "correlated", "predicted", "length_seconds",
    "epsilon", "rho",
)  # fmt: skip
SLIPS = "delta"
"""One more column, where a tick may have slipped."""

_HINT = f"A released table has the columns {', '.join(COLUMNS)}: see docs/formats.md."


def table_of(releases: Sequence[Release]) -> pl.DataFrame:
    """Releases as one table, each tick with the keys that it had.

    An interval without end is infinite here; what a tick cost is an exact fraction, written as text.
    """
    import polars as pl

    sizes = [len(release.keys) for release in releases]
    rows = np.repeat(np.arange(len(releases)), sizes)  # of which release each row is

    def each(cells: Sequence[Any], kind: Any) -> pl.Series:
        """One cell per tick, repeated for every key."""
        return pl.Series(cells, dtype=kind).gather(rows)

    def joined(parts: Sequence[Any], kind: Any) -> pl.Series:
        return pl.Series(np.concatenate(parts) if parts else np.empty(0), dtype=kind)

    lengths = [None if r.tick.length is None else r.tick.length.total_seconds() for r in releases]
    predicted = each([r.is_predicted for r in releases], pl.Boolean)
    measured = [
        np.zeros(many, np.int64) if r.measurements is None else r.measurements
        for r, many in zip(releases, sizes, strict=True)
    ]
    columns = {
        "tick": each([r.tick.index for r in releases], pl.Int64),
        "start": each([r.tick.start for r in releases], pl.Datetime("us", "UTC")),
        "key": _keys(releases),
        **{name: joined([getattr(r, array) for r in releases], pl.Float64) for name, array in NUMBERS.items()},
        "measurement": joined(measured, pl.Int64).set(predicted, None),
        "noise_variance": joined([r.variances for r in releases], pl.Float64).set(predicted, None),
        "correlated": each([r.correlated for r in releases], pl.Boolean),
        "predicted": predicted,
        "length_seconds": each(lengths, pl.Float64),
        "epsilon": each([str(r.cost.epsilon) for r in releases], pl.String),
        "rho": each([str(r.cost.rho) for r in releases], pl.String),
    }
    table = pl.DataFrame({name: columns[name] for name in COLUMNS})
    if any(r.cost.slips for r in releases):
        table = table.with_columns(each([str(r.cost.delta) for r in releases], pl.String).alias(SLIPS))
    return table


def _keys(releases: Sequence[Release]) -> pl.Series:
    """The names, release by release; those of a domain are made once."""
    import polars as pl

    made: dict[Domain, pl.Series] = {}
    for release in releases:
        if release.keys not in made:
            made[release.keys] = _names(release.keys)
    return pl.concat([made[release.keys] for release in releases]) if releases else pl.Series([], dtype=pl.String)


def _names(keys: Domain) -> pl.Series:
    import polars as pl

    if not isinstance(keys, Grid):
        return pl.Series(list(keys), dtype=pl.String)
    at = pl.int_range(len(keys))  # written by Polars: a million cells never become strings of Python
    return pl.select(pl.format("{},{}", at % keys.columns, at // keys.columns)).to_series()


def pandas_of(table: pl.DataFrame) -> Any:
    """The table as a DataFrame of pandas, which nothing else here needs: whoever asks for it has it."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise MissingExtra("This needs the package `pandas`, which is not installed.", "pip install pandas") from None

    kinds = {"measurement": "Int64", "noise_variance": "float64", "length_seconds": "float64"}
    columns = {name: pd.Series(table[name].to_list(), dtype=kinds.get(name)) for name in table.columns}
    return pd.DataFrame({**columns, "start": pd.to_datetime(columns["start"], utc=True)})


def csv_of(table: pl.DataFrame) -> str:
    """The table as text, numbers in full; times as in the JSON."""
    starts = [None if start is None else start.isoformat() for start in table["start"].to_list()]
    return table.with_columns(start=_text(starts)).write_csv()


def releases_of(table: pl.DataFrame, called: str) -> list[Release]:
    """The inverse of `table_of`, for a table that may come from anywhere: from CSV all of it is text."""
    import polars as pl

    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise InvalidInput(f"{called} does not hold releases: there is no column {missing[0]!r}.", _HINT)
    floats = [*NUMBERS, "noise_variance", "length_seconds"]
    try:
        table = table.with_columns(
            pl.col("tick", "measurement").cast(pl.Int64),
            pl.col("key", *_costs(table)).cast(pl.String),
            pl.col(floats).cast(pl.Float64),
        )
        names = table["key"].unique(maintain_order=True).to_list()
        ticks = table["tick"].unique(maintain_order=True).to_list()
        whole = table.select(pl.struct("tick", "key").n_unique()).item() == len(table) == len(names) * len(ticks)
        if not ticks or not whole or None in names or None in ticks or ticks != sorted(ticks):
            raise InvalidInput(f"{called} does not hold one row for each tick and key, in order.", _HINT)
        keys, many = Keys(names), len(names)
        return [_release(part, keys) for part in table.iter_slices(many)]
    except InvalidInput:
        raise
    except (pl.exceptions.PolarsError, ValueError, KeyError, TypeError, ZeroDivisionError):
        raise InvalidInput(
            f"{called} does not hold releases: some cells are not what their column says.", _HINT
        ) from None


def _release(rows: pl.DataFrame, keys: Domain) -> Release:
    """One tick. What belongs to the tick is the same in each of its rows."""
    if rows["key"].to_list() != list(keys):
        raise ValueError
    tick, start, seconds, together = (_only(rows, name) for name in ("tick", "start", "length_seconds", "correlated"))
    if (rows["measurement"].is_null() != rows["noise_variance"].is_null()).any():
        raise ValueError  # a measurement has its noise, and nothing else has
    measured = None if rows["measurement"].null_count() == len(rows) else rows["measurement"].to_list()
    noises = None if measured is None else rows["noise_variance"].to_numpy().copy()
    value, error, lower, upper = (rows[name].to_numpy().copy() for name in NUMBERS)
    return Release(
        Tick(tick, _moment(start), None if seconds is None else timedelta(seconds=seconds)),
        keys,
        value,
        error,
        lower,
        upper,
        None if measured is None else np.array(measured, dtype=np.int64),
        noises if noises is None or (noises != noises[0]).any() else float(noises[0]),
        Cost.from_dict({name: _only(rows, name) for name in _costs(rows)}),
        {"true": True, "false": False}[str(together).lower()],
    )


def _costs(table: pl.DataFrame) -> list[str]:
    """The columns that tell what a tick cost."""
    return [name for name in ("epsilon", "rho", SLIPS) if name in table.columns]


def _only(rows: pl.DataFrame, name: str) -> Any:
    (cell,) = rows[name].unique().to_list()
    return cell


def _moment(cell: Any) -> datetime | None:
    if cell is None:
        return None
    moment = cell if isinstance(cell, datetime) else datetime.fromisoformat(cell)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _text(cells: Sequence[str | None]) -> pl.Series:
    import polars as pl

    return pl.Series(cells, dtype=pl.String)
