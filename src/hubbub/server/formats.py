"""Releases as JSON, CSV or Arrow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from hubbub.released import Keys, Release
from hubbub.server.errors import NotAcceptable

JSON = "application/json"
CSV = "text/csv"
ARROW = "application/vnd.apache.arrow.stream"

_BY_NAME = {"json": JSON, "csv": CSV, "arrow": ARROW}


def choose(accept: str | None, name: str | None, offers: Sequence[str] = ("json", "csv", "arrow")) -> str:
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


def to_dicts(releases: Sequence[Release], positions: Sequence[int] | None) -> list[dict[str, Any]]:
    """One object a tick, as `Release.to_dict`, with the variance of the noise in its measurements."""
    found = []
    for release in releases:
        facts = (release if positions is None else part_of(release, positions)).to_dict()
        length = release.tick.length
        facts["length_seconds"] = None if length is None else length.total_seconds()
        facts["noise_variance"] = release.noise_variance
        found.append(facts)
    return found


def part_of(release: Release, positions: Sequence[int]) -> Release:
    """The same release with some of its keys."""
    at, keys = list(positions), Keys([release.keys.names[i] for i in positions])
    columns = (release.values[at], release.standard_errors[at], release.lower[at], release.upper[at])
    measured = None if release.measurements is None else release.measurements[at]
    return Release(release.tick, keys, *columns, measured, release.noise_variance, release.cost)


def to_table(keys: Keys, releases: Sequence[Release], positions: Sequence[int] | None) -> pl.DataFrame:
    """One line a tick and key. An interval without end is infinite here, which CSV and Arrow can say."""
    at = np.arange(len(keys)) if positions is None else np.array(positions)
    names = [keys.names[i] for i in at]
    many = len(names)

    def column(field: str) -> Any:
        parts = [getattr(release, field)[at] for release in releases]
        return np.concatenate(parts) if parts else np.empty(0)

    measured: list[int | None] = []
    for release in releases:
        counts = release.measurements
        measured += [None] * many if counts is None else [int(count) for count in counts[at]]
    return pl.DataFrame(
        {
            "tick": pl.Series(np.repeat([r.tick.index for r in releases], many), dtype=pl.Int64),
            "start": pl.Series([r.tick.start for r in releases for _ in range(many)], dtype=pl.Datetime("us", "UTC")),
            "key": pl.Series(names * len(releases), dtype=pl.String),
            "value": pl.Series(column("values"), dtype=pl.Float64),
            "standard_error": pl.Series(column("standard_errors"), dtype=pl.Float64),
            "lower": pl.Series(column("lower"), dtype=pl.Float64),
            "upper": pl.Series(column("upper"), dtype=pl.Float64),
            "measurement": pl.Series(measured, dtype=pl.Int64),
            "predicted": pl.Series([r.is_predicted for r in releases for _ in range(many)], dtype=pl.Boolean),
        }
    )


def to_csv(table: pl.DataFrame) -> bytes:
    text = table.with_columns(pl.col("start").dt.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00"))
    return text.write_csv().encode()


def range_to_csv(answer: dict[str, Any]) -> bytes:
    """One line a key of a range's answer that has `each`."""
    numbers = ("value", "standard_error", "lower", "upper")
    columns: dict[str, list[Any]] = {"key": [one["key"] for one in answer["each"]]}
    columns |= {name: [one[name] for one in answer["each"]] for name in numbers}
    table = pl.DataFrame(columns, schema={"key": pl.String, **dict.fromkeys(numbers, pl.Float64)})
    where = [pl.lit(answer[name]).alias(name) for name in ("from", "to", "ticks", "missing")]
    return table.with_columns(where).write_csv().encode()


def to_arrow(table: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.write_ipc_stream(buffer)
    return buffer.getvalue()
