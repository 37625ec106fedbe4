"""Released series to files and back. Four kinds, by their ending, that all hold the same (docs/formats.md)."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

from hubbub.errors import InvalidInput
from hubbub.files import write_file
from hubbub.released import Release
from hubbub.released.table import csv_of, releases_of, table_of

KINDS = (".csv", ".json", ".parquet", ".arrow")
_HINT = "Give a file that `hubbub release --out` or a server's releases wrote: .csv, .json, .parquet or .arrow."


def check_kind(path: Path) -> None:
    """Refuses an ending that nothing can be written under, before anything is spent."""
    if path.suffix.lower() not in KINDS:
        raise InvalidInput(f"{path.name} is none of {', '.join(KINDS)}.", "Name the kind of file by its ending.")


def write_released(path: str | Path, releases: Sequence[Release]) -> None:
    """Released values as a table (one row per tick and key), or as JSON: a document whose `releases` are a list."""
    path = Path(path)
    check_kind(path)
    write_file(path, as_bytes(releases, path.suffix.lower()))


def as_bytes(releases: Sequence[Release], kind: str) -> bytes:
    """What `write_released` writes."""
    if kind == ".json":
        return json.dumps({"releases": [release.to_dict() for release in releases]}, ensure_ascii=False).encode()
    table = table_of(releases)
    if kind == ".csv":
        return csv_of(table).encode()
    content = io.BytesIO()
    if kind == ".parquet":
        table.write_parquet(content)
    else:
        table.write_ipc_stream(content)
    return content.getvalue()


def read_released(path: str | Path) -> list[Release]:
    """Every tick's release, in order, as it was when it was written."""
    import polars as pl

    path = Path(path)
    kind = path.suffix.lower()
    if kind not in KINDS or not path.is_file():
        raise InvalidInput(f"{path.name} is no released file that can be found.", _HINT)
    try:
        content = path.read_bytes()
        if kind == ".json":
            return _from_json(content, path.name)
        if kind == ".csv":
            table = pl.read_csv(content, infer_schema=False)
        elif kind == ".parquet":
            table = pl.read_parquet(content)
        else:
            table = pl.read_ipc_stream(content)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError):
        raise InvalidInput(f"{path.name} does not hold releases: it cannot be read as {kind[1:]}.", _HINT) from None
    return releases_of(table, path.name)


def _from_json(content: bytes, called: str) -> list[Release]:
    try:
        releases = [Release.from_dict(facts) for facts in json.loads(content)["releases"]]
        ticks = [release.tick.index for release in releases]
        if not releases or len({release.keys for release in releases}) > 1 or ticks != sorted(set(ticks)):
            raise ValueError
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        raise InvalidInput(
            f"{called} does not hold releases: no document with `releases`, one for each tick, in order.", _HINT
        ) from None
    return releases
