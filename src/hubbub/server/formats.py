"""Releases as JSON, CSV, Parquet, Arrow or GeoJSON."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from hubbub.released import Keys, Release
from hubbub.released.table import csv_of, table_of
from hubbub.server.errors import NotAcceptable

JSON = "application/json"
CSV = "text/csv"
PARQUET = "application/vnd.apache.parquet"
ARROW = "application/vnd.apache.arrow.stream"
GEOJSON = "application/geo+json"

_BY_NAME = {"json": JSON, "csv": CSV, "parquet": PARQUET, "arrow": ARROW, "geojson": GEOJSON}
ENDINGS = {kind: name for name, kind in _BY_NAME.items()}
"""How a file of each media type is called."""


def choose(accept: str | None, name: str | None, offers: Sequence[str] = tuple(_BY_NAME)) -> str:
    """The media type to answer with: `format` from the address if given, otherwise by the `Accept` header.

    >>> choose("text/html, text/csv;q=0.9, */*;q=0.1", None)
    'text/csv'
    """
    if name is not None:
        if name not in offers:
            raise NotAcceptable("There is no such format.", f"Use format={' or format='.join(offers)}.")
        return _BY_NAME[name]
    kinds = [_BY_NAME[offer] for offer in offers]
    wanted = sorted((_parse(part) for part in (accept or "*/*").split(",")), key=lambda pair: -pair[1])
    for kind, weight in wanted:
        if weight <= 0:
            continue
        for offered in kinds:
            if kind in ("*/*", offered, offered.split("/")[0] + "/*"):
                return offered
    raise NotAcceptable("None of the formats in `Accept` is offered.", f"Offered: {', '.join(kinds)}.")


def _parse(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip() for piece in part.split(";"))
    weight = next((p[2:] for p in parameters if p.startswith("q=")), "1")
    try:
        return kind.lower(), float(weight)
    except ValueError:
        return kind.lower(), 0.0


def part_of(release: Release, names: Sequence[str]) -> Release | None:
    """The same release with some of its keys; None where it has none of them: what is counted may have changed."""
    present = [name for name in dict.fromkeys(names) if name in release.keys]
    if not present:
        return None
    at, keys = [release.keys.position(name) for name in present], Keys(present)
    columns = (release.values[at], release.standard_errors[at], release.lower[at], release.upper[at])
    measured = None if release.measurements is None else release.measurements[at]
    one = release.noise_variance
    variance = one[at] if isinstance(one, np.ndarray) else one
    return Release(release.tick, keys, *columns, measured, variance, release.cost, release.correlated)


def written(releases: Sequence[Release], kind: str) -> bytes:
    """Releases as a file of this media type: the table of docs/formats.md, for which `hubbub detect` is no stranger."""
    table = table_of(releases)
    if kind == CSV:
        return csv_of(table).encode()
    content = io.BytesIO()
    if kind == PARQUET:
        table.write_parquet(content)
    else:
        table.write_ipc_stream(content)
    return content.getvalue()


def range_to_csv(answer: dict[str, Any]) -> bytes:
    """One line per key of a range's answer that has `each`."""
    numbers = ("value", "standard_error", "lower", "upper")
    columns: dict[str, list[Any]] = {"key": [one["key"] for one in answer["each"]]}
    columns |= {name: [one[name] for one in answer["each"]] for name in numbers}
    table = pl.DataFrame(columns, schema={"key": pl.String, **dict.fromkeys(numbers, pl.Float64)})
    where = [pl.lit(answer[name]).alias(name) for name in ("from", "to", "ticks", "missing")]
    return table.with_columns(where).write_csv().encode()
