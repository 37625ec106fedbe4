"""Times as they are written in files."""

from __future__ import annotations

import polars as pl

from hubbub.collect.layout import TIME

_FEW = 1000
"""Below, looking for those that are the same costs more than reading them all."""

_ZONED = r"(?:[zZ]|[+-]\d{2}:?\d{2})$"


def read_times(texts: pl.Series, zone: str) -> pl.Series:
    """ISO 8601, or seconds since 1970; None where neither.

    A time that says its offset is taken by it. One that does not is a wall clock's in `zone`: in the hour that comes
    twice in autumn the first is meant, and a time in the hour that is left out in spring is none.

    >>> read_times(pl.Series(["2026-03-29T02:30:00", "2026-03-29T03:30:00", "0.5"]), "Europe/Berlin").to_list()
    [None, datetime.datetime(2026, 3, 29, 1, 30, tzinfo=zoneinfo.ZoneInfo(key='UTC')), datetime.datetime(1970, 1, 1, ...
    """
    if not len(texts):
        return pl.Series(texts.name, [], dtype=TIME)
    texts = texts.cast(pl.String)
    if len(texts) < _FEW:
        return _read(texts, zone).alias(texts.name)
    different = texts.unique()  # many events share a second: each text is read once
    return texts.replace_strict(different, _read(different, zone), return_dtype=TIME).alias(texts.name)


def _read(texts: pl.Series, zone: str) -> pl.Series:
    """Each text by itself; one query, since the call costs more than a few hundred texts."""
    text = pl.col("text")
    zoned = text.str.contains(_ZONED)
    offset = pl.coalesce(
        text.str.replace("[zZ]$", "+00:00").str.to_datetime(form, strict=False, time_unit="us")
        for form in ("%Y-%m-%dT%H:%M:%S%.f%:z", "%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%dT%H:%M:%S%:z")
    )
    wall = pl.coalesce(
        text.str.to_datetime(form, strict=False, time_unit="us")
        for form in ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S")
    )
    local = pl.when(~zoned).then(wall).dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    number = text.cast(pl.Float64, strict=False)
    # Outside the years 1 to 9999 a number is no time, and would overflow.
    stamp = pl.when(number.is_between(-62_135_596_800, 253_402_300_799)).then(number * 1e6).round().cast(pl.Int64)
    read = pl.coalesce(
        pl.when(zoned).then(offset.dt.convert_time_zone("UTC")),
        local.dt.convert_time_zone("UTC"),
        stamp.cast(pl.Datetime("us")).dt.replace_time_zone("UTC"),
    ).cast(TIME)
    frame = pl.DataFrame({"text": texts}).select_seq(text.str.strip_chars().str.replace("^(.{10}) ", "${1}T"))
    return frame.select_seq(read.alias(texts.name)).to_series()
